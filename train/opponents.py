"""Who sits against the learner: itself, its past selves, scripted agents. Drawn for each deal and for a whole team."""

from __future__ import annotations

import copy
from math import log

import numpy as np
from torch import Tensor

from agents.base import Array
from agents.neural import Policy
from train.config import Opponents

SELF = -1  # codes of opponents: SELF, SELF - 1 - k for scripted agent k, the update of a past self


class Pool:
    """The opponents of a run."""

    def __init__(self, config: Opponents) -> None:
        self.config = config
        self.past: dict[int, Policy] = {}  # by the update after which they were taken

    def draw(self, rng: np.random.Generator, count: int) -> Array:
        """An opponent for each of `count` deals: codes [count] int64."""
        c, lot = self.config, rng.random(count)
        codes = np.full(count, SELF, np.int64)
        past = lot >= 1 - c.snapshot_share if self.past else np.zeros(count, bool)
        if self.past:
            codes[past] = rng.choice(list(self.past), past.sum())
        scripted = lot < c.scripted_share
        codes[scripted] = SELF - 1 - rng.integers(max(len(c.scripted), 1), size=scripted.sum())
        return codes

    def still_there(self, codes: Array) -> Array:
        """The codes [N] with past selves that are gone replaced by the oldest that is kept."""
        gone = (codes >= 0) & ~np.isin(codes, list(self.past))
        return np.where(gone, min(self.past, default=SELF), codes)

    def keep(self, update: int, policy: Policy) -> None:
        """Take in the present policy from time to time, and let one go where the ages are closest."""
        if update % self.config.snapshot_every or self.config.snapshot_share == 0:
            return
        self.past[update] = frozen(policy)
        if len(self.past) > self.config.snapshots:
            del self.past[_closest(sorted(self.past), update + self.config.snapshot_every)]

    def tensors(self) -> dict[str, Tensor]:
        """The weights of all past selves, to be saved."""
        return {
            f"{update}.{name}": tensor
            for update, policy in self.past.items()
            for name, tensor in policy.state_dict().items()
        }

    def restore(self, tensors: dict[str, Tensor], template: Policy) -> None:
        """The past selves from what `tensors` gave."""
        self.past = {}
        for update in sorted({int(name.partition(".")[0]) for name in tensors}):
            policy = frozen(template)
            begin = f"{update}."
            policy.load_state_dict(
                {name.removeprefix(begin): value for name, value in tensors.items() if name.startswith(begin)}
            )
            self.past[update] = policy


def frozen(policy: Policy) -> Policy:
    """A copy of a policy that learns no more."""
    return copy.deepcopy(policy).eval().requires_grad_(False)


def _closest(updates: list[int], now: int) -> int:
    """The update whose leaving keeps the others most evenly spaced by the logarithm of their age; not the oldest."""
    ages = [log(now - update) for update in updates]
    gaps = {updates[i]: ages[i - 1] - ages[min(i + 1, len(ages) - 1)] for i in range(1, len(updates))}
    return min(list(gaps)[:-1] or list(gaps), key=lambda update: gaps[update])
