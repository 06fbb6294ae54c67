"""The policy network, the files that hold it, and the agent that plays it.

The network scores the legal actions: `logit = w · relu(query(state) + key(id) + dynamic(features))`, softmax over the
legal list. All inputs are the small ints of the environment; its tables of named pieces say how to read them.

Letters: n decisions, L legal actions of all of them together, H width of the trunk, A width of the actions' layer.
"""

from __future__ import annotations

import copy
import hashlib
import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from agents.base import AgentError, Array, best, segments, view_keys
from buraco_env import FEATURES, NUM_ACTIONS, OBSERVATION
from buraco_env.cards import NUM_CARD_TYPES
from buraco_env.kernel.actions import ARGS, KIND, KINDS, SUIT, USES, USES_TWICE, WILD
from buraco_env.kernel.layout import Layout

if TYPE_CHECKING:
    from buraco_env.batch_env import Views

FORMAT = "buraco policy 1"
POLICY_JSON, POLICY_TENSORS = "policy.json", "policy.safetensors"


class CheckpointError(AgentError):
    """A checkpoint that can't be read; the message is one line and says what is wrong."""


@dataclass(frozen=True)
class Sizes:
    """Widths of a network."""

    trunk: int = 192  # H
    actions: int = 64  # A
    slots: int = 32  # of the layer that reads one meld
    history: int = 0  # last public actions that are read, 0 to 8


# Numbers that come as hundreds and rest: what the whole number is divided by. The piece's own scale is for others.
_WHOLE = {"open_score": 1000, "match_score": 1000, "target": 10_000, "turn": 100, "points": 200}
_RULES_SCALE = 0.02  # the rule fields hardly change: kept small, they can't drown the cards


def _scales(layout: Layout) -> Array:
    """What each number of a row is multiplied by: [layout.size] float32."""
    scales = np.ones(layout.size, np.float32)
    for piece in layout:
        scales[piece.slice] = piece.scale
        if piece.name == "rules":
            scales[piece.slice] = _RULES_SCALE
        if piece.name in _WHOLE:
            scales[piece.slice].reshape(-1, 2)[:] = np.array([100, 1]) / _WHOLE[piece.name]
    return scales


class Melds(nn.Module):
    """The melds on the table: one small shared network reads each meld, the sum is taken over a team's melds.

    Most of the slots are empty, so only the others are gathered.
    """

    # a run: suit, low, high, kind of wild, its position; a set: rank, naturals of each suit, kind of wild
    RUN_PARTS, SET_PARTS = (4, 15, 15, 6, 15), (13, 3, 3, 3, 3, 6)

    def __init__(self, layout: Layout, width: int) -> None:
        super().__init__()
        self.runs, self.sets = layout["runs"], layout["sets"]
        (_, self.run_slots, _), (_, self.set_slots, _) = self.runs.shape, self.sets.shape
        self.of_run, self.of_set = nn.Linear(sum(self.RUN_PARTS), width), nn.Linear(sum(self.SET_PARTS), width)
        self.mix = nn.Linear(width, width)

    def forward(self, rows: Tensor) -> Tensor:
        """Both teams' melds from rows [n, layout.size] int8: [n, 2 * width]."""
        runs = rows[:, self.runs.slice].reshape(-1, 4)  # [n * 2 * run_slots, 4]
        sets = rows[:, self.sets.slice].reshape(-1, 5)
        at_run = runs[:, 0].nonzero()[:, 0]
        at_set = (sets[:, 0] | sets[:, 1] | sets[:, 2] | sets[:, 3]).nonzero()[:, 0]
        suit = at_run % self.run_slots // (self.run_slots // 4)
        rank = at_set % self.set_slots // (self.set_slots // 13)
        of_runs = self.of_run(self._one_hot(suit, runs[at_run], self.RUN_PARTS))
        of_sets = self.of_set(self._one_hot(rank, sets[at_set], self.SET_PARTS))
        each = torch.relu(self.mix(torch.relu(torch.cat([of_runs, of_sets]))))
        owner = torch.cat([at_run // self.run_slots, at_set // self.set_slots])
        return each.new_zeros(len(rows) * 2, each.shape[1]).index_add(0, owner, each).reshape(len(rows), -1)

    def _one_hot(self, first: Tensor, others: Tensor, sizes: tuple[int, ...]) -> Tensor:
        """Small ints [m] and [m, k] as ones in a row of zeros each: [m, sum(sizes)]."""
        bases = torch.tensor([0, *np.cumsum(sizes[:-1])])
        index = torch.cat([first[:, None], others.long()], 1) + bases
        return self.mix.weight.new_zeros(len(index), sum(sizes)).scatter_(1, index, 1)


class Trunk(nn.Module):
    """Rows of a layout (what a seat sees, or the full state) to H numbers each."""

    def __init__(self, layout: Layout, sizes: Sizes) -> None:
        super().__init__()
        self.before, self.after = layout["runs"].slice.start, layout["sets"].slice.stop
        self.end = next((piece.slice.start for piece in layout if piece.name == "history"), layout.size)
        scales = torch.from_numpy(_scales(layout))
        scales = torch.cat([scales[: self.before], scales[self.after : self.end]])
        self.register_buffer("scales", scales, persistent=False)
        self.melds = Melds(layout, sizes.slots)
        self.from_numbers = nn.Linear(len(scales), sizes.trunk)
        self.from_melds = nn.Linear(2 * sizes.slots, sizes.trunk, bias=False)
        self.history = sizes.history if self.end < layout.size else 0
        self.from_history = nn.EmbeddingBag(self.history * _EVENT, sizes.trunk, mode="sum") if self.history else None
        self.second = nn.Linear(sizes.trunk, sizes.trunk)

    def forward(self, rows: Tensor) -> Tensor:
        """[n, layout.size] int8 to [n, H]."""
        weight = self.from_numbers.weight
        numbers = torch.cat(
            [part.to(weight.dtype) for part in (rows[:, : self.before], rows[:, self.after : self.end])], 1
        )
        # scaling the weights is cheaper than scaling every row
        first = nn.functional.linear(numbers, weight * self.scales, self.from_numbers.bias)
        first = first + self.from_melds(self.melds(rows))
        if self.from_history is not None:
            first = first + self.from_history(_events(rows[:, self.end : self.end + 3 * self.history]))
        return torch.relu(self.second(torch.relu(first)))


# one public action of the history: seat (0 to 4), kind + 1, card + 1
_EVENT_PARTS = (5, len(KINDS) + 1, NUM_CARD_TYPES + 1)
_EVENT = sum(_EVENT_PARTS)


def _events(history: Tensor) -> Tensor:
    """Rows of an embedding for the parts of each recent action: [n, 3 * actions] int64."""
    actions = history.shape[1] // 3
    bases = torch.arange(actions)[:, None] * _EVENT + torch.tensor([0, _EVENT_PARTS[0], sum(_EVENT_PARTS[:2])])
    return history.long() + bases.reshape(-1)


def _action_table() -> Tensor:
    """What an id says by itself: kind, cards used, kind of wild, suit: [NUM_ACTIONS, …] float32."""
    kinds, wilds, suits = np.eye(len(KINDS)), np.eye(6), np.eye(5)
    cards = (USES[:, None] >> np.arange(NUM_CARD_TYPES) & 1) + (USES_TWICE[:, None] >> np.arange(NUM_CARD_TYPES) & 1)
    parts = [kinds[ARGS[:, KIND]], cards, wilds[ARGS[:, WILD]], suits[ARGS[:, SUIT] + 1]]
    return torch.from_numpy(np.concatenate(parts, 1).astype(np.float32))


class _Repeat(torch.autograd.Function):
    """Row i of [n, A] for each action of decision i: [L, A]; backwards a sum over segments, which is fast as a bag."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, rows: Tensor, first: Tensor) -> Tensor:
        ctx.save_for_backward(first)
        return x.index_select(0, rows)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        (first,) = ctx.saved_tensors
        every = torch.arange(len(grad))
        return nn.functional.embedding_bag(every, grad.contiguous(), first, mode="sum"), None, None


class Policy(nn.Module):
    """Logits of the legal actions from what the deciding seat knows."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.trunk = Trunk(OBSERVATION, sizes)
        self.query = nn.Linear(sizes.trunk, sizes.actions)
        self.register_buffer("table", _action_table(), persistent=False)
        self.key = nn.Sequential(
            nn.Linear(self.table.shape[1], sizes.actions), nn.ReLU(), nn.Linear(sizes.actions, sizes.actions)
        )
        # the first five features are told by the id
        self.skip = FEATURES["low"].slice.start
        scales = torch.from_numpy(_scales(FEATURES)[self.skip :])
        self.register_buffer("scales", scales, persistent=False)
        self.dynamic = nn.Linear(len(scales), sizes.actions, bias=False)
        self.score = nn.Linear(sizes.actions, 1, bias=False)
        nn.init.zeros_(self.score.weight)  # the first games are played at random

    def keys(self) -> Tensor:
        """What each id is by itself, for `forward`: [NUM_ACTIONS, A]. Worth keeping while the weights don't change."""
        return self.key(self.table)  # type: ignore[no-any-return]

    def forward(
        self, observation: Tensor, legal: Tensor, features: Tensor, offsets: Tensor, keys: Tensor | None = None
    ) -> Tensor:
        """Logits [L] from [n, OBS] int8, legal ids [L], features [L, FEATURES] int8 and offsets [n + 1] int64."""
        rows = torch.arange(len(observation)).repeat_interleave(offsets.diff())
        query = self.query(self.trunk(observation))
        numbers = features[:, self.skip :].to(self.dynamic.weight.dtype)
        moves = nn.functional.linear(numbers, self.dynamic.weight * self.scales)
        moves = moves + nn.functional.embedding(legal.long(), self.keys() if keys is None else keys)
        moves = moves + _Repeat.apply(query, rows, offsets[:-1])
        return self.score(torch.relu(moves))[:, 0]


def log_softmax(logits: Tensor, offsets: Tensor) -> Tensor:
    """Log-probabilities within each segment of `logits` [L]; no segment is empty: [L], at least float32."""
    logits = logits if logits.dtype == torch.float64 else logits.float()
    counts = offsets.diff()
    highest = torch.segment_reduce(logits.detach(), "max", offsets=offsets)
    shifted = logits - highest.repeat_interleave(counts)
    rows = torch.arange(len(counts)).repeat_interleave(counts)
    totals = torch.zeros(len(counts), dtype=shifted.dtype).index_add(0, rows, shifted.exp())
    return shifted - totals.log().repeat_interleave(counts)


class Neural:
    """The network of a checkpoint: its likeliest action, or with a temperature a draw from its probabilities."""

    def __init__(self, path: str, temperature: float = 0.0) -> None:
        if temperature < 0:
            raise AgentError(f"temperature={temperature} should be 0 (the likeliest action) or above")
        self._take(load_policy(path), temperature)

    @classmethod
    def of(cls, policy: Policy, temperature: float = 0.0) -> Neural:
        """The agent that plays a policy at hand, as it is now."""
        agent = cls.__new__(cls)
        agent._take(copy.deepcopy(policy).requires_grad_(False), temperature)
        return agent

    def _take(self, policy: Policy, temperature: float) -> None:
        # in double precision no choice hangs on rounding, which differs with the size of a batch
        self.policy = policy.double()
        self.keys = self.policy.keys()
        self.temperature = temperature
        self.seed = 0

    def reset(self, seed: int) -> None:
        self.seed = seed

    def act(self, views: Views) -> Array:
        """A legal id for each view: [n] int64. Views with one legal action don't ask the network."""
        chosen: Array = views.legal[views.offsets[:-1]].astype(np.int64)
        asked = np.flatnonzero(np.diff(views.offsets) > 1)
        if len(asked):
            chosen[asked] = self._choose(views, asked)
        return chosen

    def _choose(self, views: Views, asked: Array) -> Array:
        at, offsets = segments(views.offsets, asked)
        observation, legal = views.observation[asked], views.legal[at]
        inputs = map(torch.from_numpy, (observation, legal, views.features[at], offsets))
        with torch.inference_mode():
            scores = self.policy(*inputs, self.keys).numpy()
        if self.temperature:
            keys = np.repeat(view_keys(observation, self.seed), np.diff(offsets))
            scores = scores / self.temperature + gumbel(keys, legal)
        return legal[best(scores, offsets)].astype(np.int64)


def gumbel(keys: Array, legal: Array) -> Array:
    """Gumbel noise for each legal action, a function of its view's key and its id: [L] float64.

    The highest of log-probability plus noise is a draw from the probabilities.
    """
    mixed = keys ^ (legal.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    draws = ((mixed >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    return -np.log(-np.log(draws))


def layout_print(*layouts: Layout) -> str:
    """A fingerprint of what rows and actions mean: a network reads only rows of the layout it was trained on."""
    pieces = [[(p.name, p.slice.start, p.slice.stop, p.shape, p.scale) for p in layout] for layout in layouts]
    return hashlib.sha256(repr((pieces, KINDS, NUM_ACTIONS)).encode()).hexdigest()[:16]


def save_policy(folder: Path, policy: Policy, about: dict[str, Any]) -> None:
    """Write a policy's weights and sizes, and what else is to be known `about` it, into a folder."""
    tensors = {name: tensor.detach().float().contiguous() for name, tensor in policy.state_dict().items()}
    save_file(tensors, folder / POLICY_TENSORS)
    head = {"format": FORMAT, "layout": layout_print(OBSERVATION, FEATURES), "sizes": asdict(policy.sizes)}
    (folder / POLICY_JSON).write_text(json.dumps(head | {"about": about}, indent=1) + "\n", encoding="utf-8")


def load_policy(path: str | Path) -> Policy:
    """The policy of a checkpoint, or of the newest one in the folder of a run. Raises CheckpointError, one line."""
    folder = checkpoint_folder(Path(path))
    sizes = _read_sizes(folder)
    tensors = read_tensors(folder / POLICY_TENSORS)
    policy = Policy(sizes)
    try:
        policy.load_state_dict(tensors)
    except RuntimeError as error:
        raise CheckpointError(f"{folder / POLICY_TENSORS} does not fit the sizes in {POLICY_JSON}") from error
    return policy.eval().requires_grad_(False)


def checkpoint_folder(path: Path) -> Path:
    """The checkpoint at a path: the folder itself, or the newest checkpoint of a run's folder."""
    if (path / POLICY_JSON).exists():
        return path
    found = [folder for folder in (path / "checkpoints").glob("[0-9]*") if (folder / POLICY_JSON).exists()]
    if not found:
        raise CheckpointError(f"no checkpoint in {path}: neither {POLICY_JSON} nor checkpoints/NUMBER/{POLICY_JSON}")
    return max(found, key=lambda folder: folder.name)


def read_head(file: Path) -> dict[str, Any]:
    """The JSON object in a file of a checkpoint."""
    try:
        head = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointError(f"can't read {file}: {_one_line(error)}") from error
    if not isinstance(head, dict):
        raise CheckpointError(f"{file} holds no JSON object")
    return head


def read_tensors(file: Path) -> dict[str, Tensor]:
    """The tensors in a file of a checkpoint: numbers only, no code runs."""
    try:
        return load_file(file)
    except (OSError, SafetensorError, ValueError) as error:
        raise CheckpointError(f"can't read {file}: {_one_line(error)}") from error


def _read_sizes(folder: Path) -> Sizes:
    head = read_head(folder / POLICY_JSON)
    if head.get("format") != FORMAT:
        raise CheckpointError(f"{folder / POLICY_JSON}: format is {head.get('format')!r}, expected {FORMAT!r}")
    if head.get("layout") != layout_print(OBSERVATION, FEATURES):
        raise CheckpointError(f"{folder} was trained on another observation or action layout: train it anew")
    sizes, names = head.get("sizes"), {field.name for field in fields(Sizes)}
    if not isinstance(sizes, dict) or set(sizes) != names or not all(type(v) is int for v in sizes.values()):
        raise CheckpointError(f"{folder / POLICY_JSON}: sizes should be whole numbers named {', '.join(sorted(names))}")
    if not all(0 <= value <= 65_536 for value in sizes.values()) or sizes["history"] > OBSERVATION["history"].shape[0]:
        raise CheckpointError(f"{folder / POLICY_JSON}: sizes out of range: {sizes}")
    return Sizes(**sizes)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
