"""Playing for training: many deals side by side, and what is remembered of each decision.

Letters: N deals, T steps (of every deal, forced moves included), n decisions remembered, L legal actions of them all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from agents import make
from agents.base import Array, best, segments
from agents.neural import Policy, log_softmax
from buraco_env import OBSERVATION, STATE, BatchEnv
from train.config import Config
from train.opponents import SELF, Pool


@dataclass
class Samples:
    """Decisions of the learner, in order of steps and then deals, and the deals' timelines they lie on."""

    observation: Array  # [n, OBS] int8
    state: Array  # [n, STATE] int8: all hands, for the critic
    legal: Array  # [L] int16
    features: Array  # [L, FEATURES] int8
    offsets: Array  # [n + 1] int64
    chosen: Array  # [n] int64: which of the decision's legal actions
    log_prob: Array  # [n] float32
    team: Array  # [n] int8: of the seat that decided
    step: Array  # [n] int64
    deal: Array  # [n] int64
    reward: Array  # [T, N] int32: team 0 less team 1
    over: Array  # [T, N] bool: the deal ended in this step
    last_state: Array  # [N, STATE] int8: after the last step


@dataclass
class Finished:
    """Deals that ended."""

    lengths: list[int]  # decisions, forced moves included
    truncated: int = 0


class Worker:
    """One thread's deals."""

    def __init__(self, config: Config, index: int, pool: Pool) -> None:
        count = config.rollout.deals // config.rollout.workers
        self.rng = np.random.default_rng([config.seed, index])
        seed = int(self.rng.integers(2**62))
        self.batch = BatchEnv(count, config.rules, seed, reward=config.reward, action_mask=False)
        self.batch.reset(seed)
        self.pool = pool
        self.scripted = [make(spec) for spec in config.opponents.scripted]
        self.opponent = pool.draw(self.rng, count)
        self.side = self.rng.integers(2, size=count)  # the opponent's team
        self.length = np.zeros(count, np.int64)
        # the same memory for every rollout: what `collect` gives holds until the next
        self.seen = np.empty((config.rollout.steps * count, OBSERVATION.size), np.int8)
        self.states = np.empty((config.rollout.steps * count, STATE.size), np.int8)
        self.filled = 0

    def collect(self, policy: Policy, steps: int) -> tuple[Samples, Finished]:
        """Play `steps` steps of every deal with this policy and remember the learner's decisions."""
        self.opponent = self.pool.still_there(self.opponent)
        keys = {SELF: policy.keys()} | {code: past.keys() for code, past in self.pool.past.items()}
        seen, reward, over, finished = [], [], [], Finished([])
        self.filled = 0
        for step in range(steps):
            actions = self.batch.legal[self.batch.offsets[:-1]].astype(np.int64)  # of forced moves
            free = np.diff(self.batch.offsets) > 1
            code = np.where(self.batch.seat % 2 == self.side, self.opponent, SELF)
            mine = np.flatnonzero(free & (code == SELF))
            seen.append(self._decide(policy, keys[SELF], mine, step, actions))
            for other in np.unique(code[free & (code != SELF)]):
                self._let_play(int(other), keys, np.flatnonzero(free & (code == other)), actions)
            self.batch.step(actions)
            reward.append(self.batch.reward.copy())
            over.append(self.batch.end_reason != 0)
            self._count(over[-1], finished)
        return self._samples(seen, np.array(reward), np.array(over)), finished

    def _decide(self, policy: Policy, keys: Tensor, index: Array, step: int, actions: Array) -> dict[str, Array]:
        """The learner's actions in the deals of `index`, written into `actions`; what is remembered of them."""
        b = self.batch
        at, offsets = segments(b.offsets, index)
        rows = slice(self.filled, self.filled + len(index))
        self.filled = rows.stop
        np.take(b.observation, index, 0, out=self.seen[rows])
        np.take(b.state, index, 0, out=self.states[rows])
        row: dict[str, Array] = {
            "legal": b.legal[at], "features": b.features[at],
            "team": b.seat[index] % 2, "deal": index, "step": np.full(len(index), step),
        }  # fmt: skip
        log_probs = log_probabilities(policy, keys, self.seen[rows], row["legal"], row["features"], offsets)
        place = best(log_probs + self.rng.gumbel(size=len(at)), offsets) if len(index) else at
        actions[index] = row["legal"][place]
        return row | {"log_prob": log_probs[place], "chosen": place - offsets[:-1], "counts": np.diff(offsets)}

    def _let_play(self, code: int, keys: dict[int, Tensor], index: Array, actions: Array) -> None:
        """An opponent's actions in the deals of `index`, written into `actions`."""
        if code < SELF:
            actions[index] = self.scripted[SELF - 1 - code].act(self.batch.views(index))
            return
        b = self.batch
        at, offsets = segments(b.offsets, index)
        legal = b.legal[at]
        past = self.pool.past[code]
        log_probs = log_probabilities(past, keys[code], b.observation[index], legal, b.features[at], offsets)
        actions[index] = legal[best(log_probs + self.rng.gumbel(size=len(at)), offsets)]

    def _count(self, over: Array, finished: Finished) -> None:
        """Deals that ended: their lengths, and new opponents for those that follow."""
        self.length += 1
        finished.lengths += self.length[over].tolist()
        finished.truncated += int(self.batch.truncated.sum())
        self.length[over] = 0
        self.opponent[over] = self.pool.draw(self.rng, int(over.sum()))
        self.side[over] = self.rng.integers(2, size=over.sum())

    def _samples(self, seen: list[dict[str, Array]], reward: Array, over: Array) -> Samples:
        joined = {name: np.concatenate([row[name] for row in seen]) for name in seen[0]}
        offsets = np.concatenate(([0], np.cumsum(joined.pop("counts"))))
        return Samples(
            self.seen[: self.filled], self.states[: self.filled], **joined,
            offsets=offsets, reward=reward, over=over, last_state=self.batch.state.copy(),
        )  # fmt: skip

    def tensors(self) -> dict[str, Tensor]:
        """The deals in progress, to be saved."""
        records = np.frombuffer(self.batch.records.tobytes(), np.uint8).copy()
        state = {"records": records, "opponent": self.opponent, "side": self.side, "length": self.length}
        return {name: torch.from_numpy(np.asarray(values)) for name, values in state.items()}

    def restore(self, tensors: dict[str, Tensor], rng_state: dict[str, Any]) -> None:
        """Go on with the deals that `tensors` gave."""
        records = self.batch.records
        self.batch.restore(np.frombuffer(tensors["records"].numpy().tobytes(), records.dtype).copy())
        self.opponent, self.side, self.length = (
            tensors[name].numpy().copy() for name in ("opponent", "side", "length")
        )
        self.rng.bit_generator.state = rng_state


def log_probabilities(
    policy: Policy, keys: Tensor, observation: Array, legal: Array, features: Array, offsets: Array
) -> Array:
    """Log-probabilities of the legal actions [L] float32, without a gradient."""
    if not len(legal):
        return np.empty(0, np.float32)
    tensors = [torch.from_numpy(array) for array in (observation, legal, features, offsets)]
    with torch.inference_mode():
        return log_softmax(policy(*tensors, keys), tensors[3]).numpy()  # type: ignore[no-any-return]
