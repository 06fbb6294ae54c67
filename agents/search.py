"""Search by play-outs: the hidden cards are dealt anew, and the likeliest actions are played out on the same deals.

Sequential halving (Karnin, Koren and Somekh, "Almost optimal exploration in multi-armed bandits", 2013) spends the
budget: after each round of re-deals the worse half of the actions is dropped. Every re-deal keeps what the seat knows
and shuffles the stock, so that nobody plays towards cards that nobody can know.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from agents import registry
from agents.base import Agent, AgentError, Array, takes_time, view_keys
from agents.scripted import Style
from buraco_env import BatchEnv
from buraco_env.kernel.actions import ARGS, K_DISCARD, K_DRAW, KIND

if TYPE_CHECKING:
    from buraco_env.batch_env import Views
    from buraco_env.game import Game, View


ENOUGH = 4  # re-deals before another action than the style's is played
MOST_AT_ONCE = 4096  # play-outs of a batch, which takes memory
AT_ONCE = 8  # re-deals of a `player`'s first round, which takes hardly longer than with one


class Search:
    """Plays the action with the best mean over play-outs, or what its style plays where that is not plainly worse.

    `playouts`: the budget of a decision, spread over its actions; with `ms` above 0 the budget is so many
    milliseconds instead, and the choice depends on the machine. `style` plays on in all seats. `threads`: how many
    share the play-outs of a decision; with a budget in play-outs they change nothing but the time. `candidates`: how
    many actions are looked at, those that the style likes best; each is played out once or more, however small the
    budget. `player`: the spec of an agent, a network say, that plays on instead of the style and whose own choice is
    kept to; the play-outs of a round are then one batch for it, which takes a network tenths of a second.
    """

    def __init__(
        self,
        playouts: int = 256,
        ms: float = 0.0,
        style: str = "steady",
        candidates: int = 10,
        threads: int = 1,
        player: str = "",
    ) -> None:
        for name, value in (("playouts", playouts), ("candidates", candidates), ("threads", threads)):
            if value < 1:
                raise AgentError(f"search: {name}={value} is not allowed; allowed: 1 or more")
        if not 0 <= ms < 1e9:
            raise AgentError(f"search: ms={ms} is not allowed; allowed: 0 (a budget in play-outs) or more")
        if player and threads > 1:
            raise AgentError(f"search: threads={threads} is not allowed with player=; its play-outs are one batch")
        self.playouts, self.ms, self.candidates, self._weights = playouts, ms, candidates, Style(style).weights
        self.threads, self.seed = threads, 0
        self._player = registry.make(player) if player else None
        self.takes_time = self._player is not None and takes_time(self._player)
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None

    def reset(self, seed: int) -> None:
        """Start anew: with a budget in play-outs a choice depends on this seed and the view alone."""
        self.seed = seed
        if self._player:
            self._player.reset(seed)

    def act(self, views: Views) -> Array:
        """The best action found in each view: [n] int64."""
        keys = (view_keys(views.observation, self.seed) >> np.uint64(2)).astype(np.int64)
        own = self._player.act(views).tolist() if self._player else [None] * len(views)
        return np.array([self._decide(views[i], int(key), own[i]) for i, key in enumerate(keys)], np.int64)

    def _decide(self, view: View, key: int, own: int | None) -> int:
        actions = promising(view, self._weights(view.rules), self.candidates)
        if own is not None:
            actions = np.concatenate(([own], actions[actions != own][: self.candidates - 1]))
        if len(actions) == 1:
            return int(actions[0])
        return halve(actions, self._play_outs(view, key), self._budget(), self._at_first(len(actions)))

    def _budget(self) -> Budget:
        return Clock(self.ms / 1000, self._player is not None) if self.ms else Count(self.playouts)

    def _at_first(self, actions: int) -> int:
        """Re-deals of the first round: one, or of a player more, as far as half a budget in play-outs allows."""
        if self._player is None:
            return 1
        return AT_ONCE if self.ms else min(AT_ONCE, max(1, self.playouts // 2 // actions))

    def _play_outs(self, view: View, key: int) -> Callable[[Array, int, int], Array]:
        """Leads [stop - first, K] of actions on re-deals number `first` to `stop`."""
        player, seeds, weights = self._player, np.random.default_rng(key), self._weights(view.rules)
        drawn = np.zeros(0, np.int64)

        def leads(actions: Array, first: int, stop: int) -> Array:
            nonlocal drawn
            if stop > len(drawn):
                drawn = np.concatenate((drawn, seeds.integers(0, 2**62, 2 * stop)))
            if player:
                return play_on(player, view, actions, drawn[first:stop])
            return self._share(lambda some: view.compare(actions, some, weights), drawn[first:stop])

        return leads

    def _share(self, work: Callable[[Array], Array], seeds: Array) -> Array:
        """The rows that the work gives for all seeds, each thread at a part of them."""
        if self._pool is None or len(seeds) < self.threads:
            return work(seeds)
        first, *rest = np.array_split(seeds, self.threads)
        others = [self._pool.submit(work, part) for part in rest]
        return np.concatenate([work(first), *(other.result() for other in others)])


class Count:
    """A budget in play-outs."""

    def __init__(self, playouts: int) -> None:
        self.left = playouts

    def share(self, rounds: int, actions: int) -> int:
        """How many re-deals of so many actions a round may spend, one of `rounds` to come; 0 where none is left."""
        return max(1, self.left // rounds // actions) if self.left >= actions else 0

    def spent(self, redeals: int, actions: int) -> None:
        self.left -= redeals * actions


class Clock:
    """A budget in seconds, from now on. `batched`: a round takes about as long however few play-outs it has."""

    def __init__(self, seconds: float, batched: bool = False) -> None:
        self.begin = self.last = time.perf_counter()
        self.end, self.batched = self.begin + seconds, batched
        self.done, self.each, self.least = 0, 0.0, inf  # play-outs; seconds of one, and that a round takes at least

    def share(self, rounds: int, actions: int) -> int:
        """As `Count.share`, once something has been spent."""
        left = self.end - time.perf_counter()
        if left < (self.least if self.batched else actions * self.each):
            return 0
        if self.batched:
            rounds = min(rounds, int(left / self.least))  # none of them can be shorter
        fit = int(left / rounds / self.each)
        return max(1, (min(fit, MOST_AT_ONCE) if self.batched else fit) // actions)

    def spent(self, redeals: int, actions: int) -> None:
        now, play_outs = time.perf_counter(), redeals * actions
        self.done += play_outs
        if self.batched:
            took = now - self.last
            self.least, self.each = min(self.least, took), took / play_outs
        else:
            self.each = (now - self.begin) / self.done
        self.last = now


Budget = Count | Clock


def halve(actions: Array, leads: Callable[[Array, int, int], Array], budget: Budget, at_first: int = 1) -> int:
    """The action with the best mean lead by sequential halving within the budget, if it is better beyond doubt.

    `actions[0]` is what is played otherwise: it stays to the end, and another must be ahead of it by more than a
    standard error over ENOUGH re-deals or more. All actions are played out on `at_first` re-deals before any is
    dropped, whatever the budget: a clock learns from them what a play-out costs.
    """
    found = leads(actions, 0, at_first)
    budget.spent(at_first, len(actions))
    for to_come in range((len(actions) - 1).bit_length(), 0, -1):
        more = budget.share(to_come, len(actions))
        if more == 0:
            break
        found = np.concatenate((found, leads(actions, len(found), len(found) + more)))
        budget.spent(more, len(actions))
        if to_come > 1:
            best = np.argsort(-found.sum(0), kind="stable")[: (len(actions) + 1) // 2]
            keep = np.union1d(best, [0])
            actions, found = actions[keep], found[:, keep]
    ahead = found - found[:, :1]
    best = int(np.argmax(ahead.mean(0)))
    doubt = ahead[:, best].std() / len(ahead) ** 0.5
    return int(actions[best] if len(ahead) >= ENOUGH and ahead[:, best].mean() > doubt else actions[0])


def promising(view: View, weights: Array, most: int) -> Array:
    """At most so many legal actions, those the style likes best: its choice first, then in the order of their ids."""
    legal, values = np.array(view.legal_actions(), np.int64), 2 * view.values(weights[None])[0]
    kind = ARGS[legal, KIND]
    discards = kind == K_DISCARD
    if discards.any():
        values[discards] -= values[discards].max()  # the best of them ends the turn, which is worth nothing by itself
    values += (kind == K_DRAW) | (kind >= K_DISCARD)  # a pile or a meld has to be worth more than nothing
    order = np.argsort(-values, kind="stable")[:most]
    return np.concatenate((legal[order[:1]], np.sort(legal[order[1:]])))


def play_on(player: Agent, view: View, actions: Array, seeds: Array) -> Array:
    """`View.compare` with any agent in all seats: my team's lead at the end after each action, [M, K] int64.

    The unseen cards are dealt anew for each of `seeds` [M], the same for all `actions` [K].
    """
    games = []
    for seed in seeds:
        dealt = view.resample(int(seed))
        for action in actions:
            games.append(dealt.copy())
            games[-1].play(int(action))
    scores = np.array([game.scores() for game in games], np.int64)
    going_on = np.array([not game.over for game in games])
    if going_on.any():
        scores[going_on] = finish(player, [game for game in games if not game.over])
    leads: Array = scores[:, view.team] - scores[:, 1 - view.team]
    return leads.reshape(len(seeds), len(actions))


def finish(player: Agent, games: list[Game]) -> Array:
    """The final scores [n, 2] int64 of unfinished games of the same rules, an agent in all seats."""
    batch, scores = BatchEnv(len(games), games[0].rules, action_mask=False), np.zeros((len(games), 2), np.int64)
    batch.restore(np.array([game.record for game in games], batch.records.dtype))
    playing = np.ones(len(games), bool)
    while playing.any():
        actions = batch.sample().copy()  # deals that are done go on at random, and don't count
        actions[playing] = player.act(batch.views(playing))
        batch.step(actions)
        over = playing & (batch.end_reason != 0)
        scores[over] = batch.final_scores[over]
        playing &= ~over
    return scores
