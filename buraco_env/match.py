"""A match: deals to a target, the start rotating by one seat a deal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from buraco_env.game import Game
from buraco_env.kernel import batch as kernel
from buraco_env.rules import Rules
from buraco_env.seeds import check_seed


class Ledger:
    """The account of a match: scores so far, deals played, who starts the next, whether it is over and who won.

    A team with `target` points at the end of a deal wins; if both have them the higher total does; equal totals are
    settled by `tie`: another deal, or the team that started the match wins.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.scores = (0, 0)
        self.deals = 0
        self.winner: int | None = None

    @property
    def starter(self) -> int:
        """The seat that starts the deal that is being played, or would come next."""
        return self.deals % self.rules.num_seats

    @property
    def over(self) -> bool:
        return self.winner is not None

    def add(self, scores: tuple[int, int]) -> None:
        """Enter the scores of a deal that ended."""
        self.scores = (self.scores[0] + scores[0], self.scores[1] + scores[1])
        self.deals += 1
        first, second = self.scores
        if max(first, second) < self.rules.target:
            return
        if first != second:
            self.winner = int(second > first)
        elif self.rules.tie == "starter":
            self.winner = 0  # seat 0 starts a match


def deal_seed(seed: int, number: int) -> int:
    """The seed of a match's deal of this number, from 0."""
    seeds = np.zeros(number + 1, np.int64)
    kernel.derive_seeds(seed, seeds)
    return int(seeds[number])


class Match:
    """Deals to a target. `rules` and overrides as for `Game`; the deals' seeds derive from the match's.

    `game` is the deal being played (the last one when the match is over), its observations hold the scores so far.
    """

    def __init__(self, rules: str | Path | Rules = "classic", seed: int | None = None, **overrides: Any) -> None:
        self.rules = Rules.load(rules, **overrides)
        self.seed = check_seed(seed)
        self._ledger = Ledger(self.rules)
        self.game = self._deal()

    def _deal(self) -> Game:
        ledger = self._ledger
        return Game(self.rules, deal_seed(self.seed, ledger.deals), ledger.starter, match_scores=ledger.scores)

    @property
    def scores(self) -> tuple[int, int]:
        """Both teams' totals of the deals that have ended."""
        return self._ledger.scores

    @property
    def deals(self) -> int:
        """How many deals have ended."""
        return self._ledger.deals

    @property
    def starter(self) -> int:
        """The seat that began the deal being played."""
        return self.game.starter

    @property
    def over(self) -> bool:
        return self._ledger.over

    @property
    def winner(self) -> int | None:
        """The team that won, or None while the match goes on."""
        return self._ledger.winner

    def play(self, action: int | str) -> None:
        """Do an action, as `Game.play`; when it ends a deal, its scores are entered and the next is dealt."""
        self.game.play(action)
        if self.game.over:
            self._ledger.add(self.game.scores())
            if not self.over:
                self.game = self._deal()

    def __repr__(self) -> str:
        return f"<Match {self.rules}, {self.scores[0]} to {self.scores[1]} after {self.deals} deals>"
