"""The plain player that every learner has to beat first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agents.base import Array, best
from buraco_env import FEATURES, Rules
from buraco_env.cards import NUM_CARD_TYPES, is_wild
from buraco_env.kernel.actions import K_DISCARD, K_END_TURN, K_RUN, K_TAKE

if TYPE_CHECKING:
    from buraco_env.batch_env import Views

_KIND, _CARD, _POINTS = (FEATURES[name].slice.start for name in ("kind", "card", "points"))
_IS_WILD = np.array([is_wild(card) for card in range(NUM_CARD_TYPES)])
# classes of actions, far enough apart for any points to fit between them
_TAKE, _GAINFUL, _DRAW, _DISCARD, _DISCARD_WILD, _END_TURN, _USELESS = (level * 100_000 for level in range(3, -4, -1))


class Greedy:
    """Takes the pile whenever it may, melds whatever brings points, discards the cheapest card that is not wild."""

    def reset(self, seed: int) -> None:
        """Nothing to start: the same view, the same choice."""

    def act(self, views: Views) -> Array:
        """The id that ranks highest in each view, the lowest of equals: [n] int64."""
        cards = views.features[:, _CARD].astype(np.int64) - 1
        ranks = _ranks(views.features, _points_of(cards, views.rules, views.offsets), _IS_WILD[cards])
        return views.legal[best(ranks, views.offsets)].astype(np.int64)


def _ranks(features: Array, card_points: Array, wild: Array) -> Array:
    """How much greedy likes each action: [L] int64.

    A meld, lay-off or swap that brings nothing ranks below all else, or wilds would be laid and swapped out for ever.
    """
    kind = features[:, _KIND]
    gain = features[:, _POINTS].astype(np.int64) * 100 + features[:, _POINTS + 1]
    melds = np.where(gain > 0, _GAINFUL, _USELESS) + gain
    discards = np.where(wild, _DISCARD_WILD, _DISCARD) - card_points
    ranks = np.where(kind == K_DISCARD, discards, _DRAW)
    ranks = np.where((kind >= K_RUN) & (kind < K_DISCARD), melds, ranks)
    return np.where(kind == K_TAKE, _TAKE, np.where(kind == K_END_TURN, _END_TURN, ranks))


def _points_of(cards: Array, rules: list[Rules], offsets: Array) -> Array:
    """What the card of each action counts by the rules of its deal: [L] int64; anything for card -1."""
    games = {id(game): game for game in rules}
    points = np.array([[game.points(card) for card in range(NUM_CARD_TYPES)] for game in games.values()])
    if len(games) == 1:
        return points[0][cards]
    rows = {key: row for row, key in enumerate(games)}
    row_of = np.array([rows[id(game)] for game in rules])
    return points[np.repeat(row_of, np.diff(offsets)), cards]
