"""Proximal policy optimisation (Schulman et al., 2017) in self-play: one policy for all seats, a critic that sees all.

Each deal is one timeline with a value for team 0: whoever decides moves along it, and an advantage takes the sign of
the team that acted. So the reward of a finished deal reaches the last decisions of all seats, however many actions a
turn has.
Letters as in `rollout`: N deals, T steps, n decisions, L legal actions of them all.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from agents.base import Array, segments
from agents.neural import Policy, Sizes, Trunk, log_softmax
from buraco_env import STATE
from buraco_env.kernel.actions import ARGS, K_DISCARD, K_RUN, KIND
from train.checkpoint import named, take
from train.config import Config, Ppo
from train.opponents import Pool, frozen
from train.rollout import Finished, Samples, Worker

VALUE_ROWS = 4096  # rows valued at once


class Critic(nn.Module):
    """What the rest of the deal brings team 0 over team 1, from the full state: in units of the reward's spread."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.trunk = Trunk(STATE, sizes)
        self.value = nn.Linear(sizes.trunk, 1)

    def forward(self, state: Tensor) -> Tensor:
        """[n, STATE] int8 to [n]."""
        return self.value(self.trunk(state))[:, 0]  # type: ignore[no-any-return]


class Nets(nn.Module):
    """All that learns."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.policy, self.critic = Policy(sizes), Critic(sizes)

    def twin(self) -> Nets:
        """The same weights, but gradients of its own, so that threads don't add into each other's."""
        twin = copy.deepcopy(self)
        for mine, shared in zip(twin.parameters(), self.parameters()):
            mine.data = shared.data
        return twin


@dataclass
class Lesson:
    """A worker's decisions, ready to learn from."""

    samples: Samples
    advantage: Array  # [n] float32: for the team that acted, over all workers of mean 0 and spread 1
    target: Array  # [n] float32: for the critic

    def __len__(self) -> int:
        return len(self.advantage)


class Learner:
    """Plays and learns, one update at a time. Every worker is a thread with deals of its own."""

    def __init__(self, config: Config, reward_spread: float) -> None:
        torch.manual_seed(config.seed)
        torch.set_num_threads(1)  # threads are spent on workers, which wait for each other less often
        self.config, self.reward_spread = config, reward_spread
        self.nets = Nets(config.network.sizes())
        self.twins = [self.nets.twin() for _ in range(config.rollout.workers)]
        self.average = frozen(self.nets.policy)
        self.optimiser = torch.optim.Adam(self.nets.parameters(), eps=1e-5, fused=True)
        self.pool = Pool(config.opponents)
        self.workers = [Worker(config, index, self.pool) for index in range(config.rollout.workers)]
        self.rng = np.random.default_rng([config.seed, config.rollout.workers])
        self.threads = ThreadPoolExecutor(config.rollout.workers, initializer=torch.set_num_threads, initargs=(1,))
        self.updates = self.decisions = self.deals = 0

    def update(self, progress: float) -> dict[str, float]:
        """Play one rollout and learn from it; `progress` in the run, 0 to 1, sets the schedules. What was measured."""
        played = list(self.threads.map(self._play, self.workers))
        lessons = self._lessons([samples for samples, _ in played])
        measured = self._learn(lessons, progress) | {"meld_share": meld_share([samples for samples, _ in played])}
        self.updates += 1
        self.pool.keep(self.updates, self.nets.policy)
        return measured | self._count([finished for _, finished in played])

    def _play(self, worker: Worker) -> tuple[Samples, Finished]:
        return worker.collect(self.nets.policy, self.config.rollout.steps)

    def _lessons(self, all_samples: list[Samples]) -> list[Lesson]:
        """Advantages and targets of all workers' decisions."""
        lessons = list(self.threads.map(self._lesson, all_samples))
        every = np.concatenate([lesson.advantage for lesson in lessons])
        mean, spread = every.mean(), every.std() + 1e-8
        for lesson in lessons:
            lesson.advantage = (lesson.advantage - mean) / spread
        return lessons

    def _lesson(self, samples: Samples) -> Lesson:
        values, last = (values_of(self.nets.critic, state) for state in (samples.state, samples.last_state))
        ahead = advantages(samples, samples.reward / self.reward_spread, values, last, self.config.ppo.gae_lambda)
        sign = 1 - 2 * samples.team.astype(np.float32)
        return Lesson(samples, sign * ahead, ahead + values)

    def _learn(self, lessons: list[Lesson], progress: float) -> dict[str, float]:
        """Some epochs over all decisions, fewer if the policy moves far."""
        c = self.config.ppo
        rate, entropy = (start + (end - start) * progress for start, end in (c.learning_rate, c.entropy))
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        told: list[dict[str, float]] = []
        for _ in range(c.epochs):
            told = [self._descend(parts, entropy) for parts in minibatches(lessons, c.minibatch, self.rng)]
            if np.mean([one["kl"] for one in told]) > c.kl_stop:
                break
        return {name: float(np.mean([one[name] for one in told])) for name in told[0]} | {"learning_rate": rate}

    def _descend(self, parts: list[tuple[Lesson, Array]], entropy: float) -> dict[str, float]:
        """One step of the optimiser on one minibatch, each worker's part of it on its own thread."""
        count = sum(len(index) for _, index in parts)

        def gradient(twin: Nets, part: tuple[Lesson, Array]) -> dict[str, float]:
            twin.zero_grad()
            if not len(part[1]):
                return {}
            loss, told = losses(twin, *part, self.config.ppo, entropy)
            (loss / count).backward()
            return told

        told = list(self.threads.map(gradient, self.twins, parts))
        for shared, *own in zip(self.nets.parameters(), *(twin.parameters() for twin in self.twins)):
            grads = [one.grad for one in own if one.grad is not None]
            shared.grad = torch.stack(grads).sum(0) if len(grads) > 1 else grads[0]
        for net in (self.nets.policy, self.nets.critic):
            nn.utils.clip_grad_norm_(net.parameters(), self.config.ppo.gradient_clip)
        self.optimiser.step()
        pairs = zip(self.average.parameters(), self.nets.policy.parameters())
        for mean, now in pairs:
            mean.lerp_(now.detach(), 1 - self.config.ppo.ema)
        return {name: sum(one.get(name, 0.0) for one in told) / count for name in max(told, key=len)}

    def _count(self, finished: list[Finished]) -> dict[str, float]:
        lengths = [length for one in finished for length in one.lengths]
        self.decisions += self.config.rollout.deals * self.config.rollout.steps
        self.deals += len(lengths)
        truncated = sum(one.truncated for one in finished)
        length = float(np.mean(lengths)) if lengths else 0.0
        return {"finished": len(lengths), "deal_length": length, "truncated": truncated}

    def tensors(self) -> dict[str, Tensor]:
        """All that is needed to go on, but for `state`."""
        moments = self.optimiser.state_dict()["state"]
        parts = [
            named("nets", self.nets.state_dict()),
            named("average", self.average.state_dict()),
            named("past", self.pool.tensors()),
            *(named(f"optimiser.{index}", values) for index, values in moments.items()),
            *(named(f"worker.{index}", worker.tensors()) for index, worker in enumerate(self.workers)),
        ]
        return {name: tensor for part in parts for name, tensor in part.items()}

    def state(self) -> dict[str, Any]:
        """Counters and random states."""
        return {
            "updates": self.updates, "decisions": self.decisions, "deals": self.deals,
            "reward_spread": self.reward_spread, "rng": self.rng.bit_generator.state,
            "workers": [worker.rng.bit_generator.state for worker in self.workers],
        }  # fmt: skip

    def restore(self, tensors: dict[str, Tensor], state: dict[str, Any]) -> None:
        """Go on exactly where `tensors` and `state` were taken."""
        self.nets.load_state_dict(take(tensors, "nets"))
        self.average.load_state_dict(take(tensors, "average"))
        self.pool.restore({k[5:]: v for k, v in tensors.items() if k.startswith("past.")}, self.average)
        head = self.optimiser.state_dict()
        count = len(list(self.nets.parameters())) if state["updates"] else 0
        head["state"] = {index: take(tensors, f"optimiser.{index}") for index in range(count)}
        self.optimiser.load_state_dict(head)
        self.rng.bit_generator.state = state["rng"]
        for index, worker in enumerate(self.workers):
            worker.restore(take(tensors, f"worker.{index}"), state["workers"][index])
        self.updates, self.decisions, self.deals = state["updates"], state["decisions"], state["deals"]


def meld_share(all_samples: list[Samples]) -> float:
    """How many of the decisions were a meld, a lay-off or a swap: 0 to 1."""
    kinds = np.concatenate([ARGS[s.legal[s.offsets[:-1] + s.chosen], KIND] for s in all_samples])
    return float(((kinds >= K_RUN) & (kinds < K_DISCARD)).mean())


def values_of(critic: Critic, state: Array) -> Array:
    """The critic's values of rows [n, STATE] int8: [n] float32."""
    with torch.inference_mode():
        parts = [critic(torch.from_numpy(state[at : at + VALUE_ROWS])) for at in range(0, len(state), VALUE_ROWS)]
    return torch.cat(parts).numpy() if parts else np.empty(0, np.float32)  # type: ignore[no-any-return]


def advantages(samples: Samples, reward: Array, values: Array, last_values: Array, gae_lambda: float) -> Array:
    """How much better than expected each decision turned out for team 0: [n] float32.

    Generalised advantage estimation (Schulman et al., 2016) with gamma 1 on each deal's timeline. Steps without a
    remembered decision hand their `reward` [T, N] to the decision before. `values` [n] are of the states decided in;
    `last_values` [N] stand in for what comes after the last step.
    """
    T, N = reward.shape
    decision = np.full((T, N), -1)
    decision[samples.step, samples.deal] = np.arange(len(values))
    result = np.zeros(len(values), np.float32)
    # of each deal: value and advantage of the next decision, rewards until then
    next_value = last_values.astype(np.float32)
    next_advantage, between = np.zeros(N, np.float32), np.zeros(N, np.float32)
    for t in reversed(range(T)):
        goes_on = 1 - samples.over[t].astype(np.float32)
        next_value, next_advantage = next_value * goes_on, next_advantage * goes_on
        between = between * goes_on + reward[t].astype(np.float32)
        decided = decision[t] >= 0
        at = decision[t, decided]
        now = between[decided] + next_value[decided] - values[at] + gae_lambda * next_advantage[decided]
        result[at] = now
        next_value[decided], next_advantage[decided], between[decided] = values[at], now, 0
    return result


def minibatches(lessons: list[Lesson], size: int, rng: np.random.Generator) -> Iterator[list[tuple[Lesson, Array]]]:
    """All decisions in random order, about `size` at a time: of every lesson (itself, the decisions taken [m])."""
    count = max(1, round(sum(map(len, lessons)) / size))
    orders = [np.array_split(rng.permutation(len(lesson)), count) for lesson in lessons]
    for parts in zip(*orders):
        yield list(zip(lessons, parts))


def losses(nets: Nets, lesson: Lesson, index: Array, c: Ppo, entropy_weight: float) -> tuple[Tensor, dict[str, float]]:
    """The loss summed over the decisions `index` [m] of a lesson, and sums of what is worth telling."""
    s = lesson.samples
    at, bounds = segments(s.offsets, index)
    offsets = torch.from_numpy(bounds)
    observation, legal, features, state, chosen, before, advantage, target = (
        torch.from_numpy(array)
        for array in (
            s.observation[index], s.legal[at], s.features[at], s.state[index], s.chosen[index], s.log_prob[index],
            lesson.advantage[index], lesson.target[index],
        )
    )  # fmt: skip
    log_probs = log_softmax(nets.policy(observation, legal, features, offsets), offsets)
    change = log_probs[offsets[:-1] + chosen] - before
    ratio = change.exp()
    gain = torch.minimum(ratio * advantage, ratio.clamp(1 - c.clip, 1 + c.clip) * advantage).sum()
    entropy = -(log_probs.exp() * log_probs).sum()
    value_loss = nn.functional.huber_loss(nets.critic(state), target, reduction="sum")
    loss = c.value_weight * value_loss - gain - entropy_weight * entropy
    with torch.no_grad():
        told = {
            "entropy": entropy, "value_loss": value_loss, "kl": (ratio - 1 - change).sum(),
            "clipped": ((ratio - 1).abs() > c.clip).sum(),
        }  # fmt: skip
        return loss, {name: float(value) for name, value in told.items()}
