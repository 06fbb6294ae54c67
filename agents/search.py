"""Search by play-outs: the hidden cards are dealt anew, and every action is played out on the same deals.

Sequential halving (Karnin, Koren and Somekh, "Almost optimal exploration in multi-armed bandits", 2013) spends the
budget: after each round of re-deals the worse half of the actions is dropped. Every re-deal keeps what the seat knows
and shuffles the stock, so that nobody plays towards cards that nobody can know.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from agents.base import AgentError, Array, view_keys
from agents.scripted import Scripted, weights_of

if TYPE_CHECKING:
    from buraco_env.batch_env import Views
    from buraco_env.game import View


class Search:
    """Plays the action with the best mean over play-outs.

    `playouts`: the budget of a decision, spread over its actions; with `ms` above 0 the budget is so many
    milliseconds instead, and the choice depends on the machine. `style` plays on in all seats. `threads`: how many
    share the play-outs of a decision; with a budget in play-outs they change nothing but the time. Each action is
    played out twice or more, however small the budget.
    """

    def __init__(self, playouts: int = 256, ms: float = 0.0, style: str = "steady", threads: int = 1) -> None:
        for name, value in (("playouts", playouts), ("threads", threads)):
            if value < 1:
                raise AgentError(f"search: {name}={value} is not allowed; allowed: 1 or more")
        if not 0 <= ms < 1e9:
            raise AgentError(f"search: ms={ms} is not allowed; allowed: 0 (a budget in play-outs) or more")
        Scripted(style)  # is there such a style?
        self.playouts, self.ms, self.style = playouts, ms, style
        self.threads, self.seed = threads, 0
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None

    def reset(self, seed: int) -> None:
        """Start anew: with a budget in play-outs a choice depends on this seed and the view alone."""
        self.seed = seed

    def act(self, views: Views) -> Array:
        """The best action found in each view: [n] int64."""
        keys = (view_keys(views.observation, self.seed) >> np.uint64(2)).astype(np.int64)
        return np.array([self._decide(views[i], int(key)) for i, key in enumerate(keys)], np.int64)

    def _decide(self, view: View, key: int) -> int:
        actions = np.array(view.legal_actions(), np.int64)
        return int(actions[0]) if len(actions) == 1 else halve(actions, self._play_outs(view, key), self._spend())

    def _play_outs(self, view: View, key: int) -> Callable[[Array, int, int], Array]:
        """Leads [stop - first, K] of actions on re-deals number `first` to `stop`."""
        seeds, weights = np.random.default_rng(key), weights_of(self.style, view.rules)
        drawn = np.zeros(0, np.int64)

        def leads(actions: Array, first: int, stop: int) -> Array:
            nonlocal drawn
            if stop > len(drawn):
                drawn = np.concatenate((drawn, seeds.integers(0, 2**62, 2 * stop)))
            return self._share(lambda some: view.compare(actions, some, weights), drawn[first:stop])

        return leads

    def _share(self, work: Callable[[Array], Array], seeds: Array) -> Array:
        """The rows that the work gives for all seeds, each thread at a part of them."""
        if self._pool is None or len(seeds) < self.threads:
            return work(seeds)
        first, *rest = np.array_split(seeds, self.threads)
        others = [self._pool.submit(work, part) for part in rest]
        return np.concatenate([work(first), *(other.result() for other in others)])

    def _spend(self) -> Budget:
        return Clock(self.ms / 1000) if self.ms else Count(self.playouts)


class Count:
    """A budget in play-outs."""

    def __init__(self, playouts: int) -> None:
        self.left = playouts

    def share(self, rounds: int, actions: int) -> int:
        """How many re-deals of so many actions each a round may spend, one of `rounds` to come; at least one."""
        return max(1, self.left // rounds // actions)

    def spent(self, redeals: int, actions: int) -> None:
        self.left -= redeals * actions


class Clock:
    """A budget in seconds, from now on."""

    def __init__(self, seconds: float) -> None:
        self.begin, self.end, self.done = time.perf_counter(), time.perf_counter() + seconds, 0

    def share(self, rounds: int, actions: int) -> int:
        now = time.perf_counter()
        if not self.done:
            return 1
        each = (now - self.begin) / self.done
        return max(1, int((self.end - now) / rounds / (each * actions)))

    def spent(self, redeals: int, actions: int) -> None:
        self.done += redeals * actions


Budget = Count | Clock


def halve(actions: Array, leads: Callable[[Array, int, int], Array], budget: Budget) -> int:
    """The action with the best mean lead, the lowest of equals, by sequential halving within the budget."""
    totals, done = np.zeros(len(actions)), 0
    rounds = (len(actions) - 1).bit_length()
    first = leads(actions, 0, 1)  # one re-deal for all: a clock learns from it what a play-out costs
    budget.spent(1, len(actions))
    totals, done = totals + first.sum(0), 1
    for to_come in range(rounds, 0, -1):
        more = budget.share(to_come, len(actions))
        totals += leads(actions, done, done + more).sum(0)
        budget.spent(more, len(actions))
        done += more
        keep = np.sort(np.argsort(-totals, kind="stable")[: (len(actions) + 1) // 2])
        if to_come == 1:
            break
        actions, totals = actions[keep], totals[keep]
    return int(actions[np.argmax(totals)])
