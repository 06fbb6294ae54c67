"""Scripted players: styles of one compiled evaluation, each a TOML file of weights in `agents/styles`."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from agents.base import STYLES, STYLES_FOLDER, AgentError, Array, nearest
from buraco_env import Rules
from buraco_env.kernel import batch, players
from buraco_env.kernel.actions import NUM_ACTIONS
from buraco_env.kernel.state import STATE_DTYPE, rules_row
from buraco_env.kernel.weights import NUM_WEIGHTS, WEIGHTS
from buraco_env.rules import WORDS
from buraco_env.scratch import scratch

if TYPE_CHECKING:
    from buraco_env.batch_env import Views

MOST = 10**6  # a weight


def _read(style: str, above: tuple[str, ...] = ()) -> dict[str, dict[str, int]]:
    """The weights in a style's file: those for all rules under "", and those that differ where the pile is taken so.

    What the file leaves out is that of its `base`, a style's name or a file beside it; `above`: whose base this one is.
    """
    path = Path(style) if style.endswith(".toml") else STYLES_FOLDER / f"{style}.toml"
    if not path.is_file():
        named = f"{above[-1]}: " if above else ""
        raise AgentError(f"{named}no style {style!r}; {nearest(style, STYLES)}")
    if style in above:
        raise AgentError(f"{path}: is its own base: {', '.join([*above, style])}")
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # no TOML, or no text at all
        raise AgentError(f"{path}: {error}") from None
    values.pop("title", None)
    base = values.pop("base", None)
    tables = {name: values.pop(name) for name in list(values) if isinstance(values[name], dict)}
    for name in tables:
        if name not in WORDS["pile_take"]:
            raise AgentError(f"{path}: no table [{name}]; {nearest(name, WORDS['pile_take'])}")
        misplaced = {"title", "base"} & tables[name].keys()
        if misplaced:
            raise AgentError(f"{path}: {misplaced.pop()} belongs above the first table, not into [{name}]")
    for table in (values, *tables.values()):
        _check(path, table)
    if base is None:
        return _joined({}, values, tables, path)
    beside = str(path.parent / base) if str(base).endswith(".toml") else str(base)
    return _joined(_read(beside, (*above, style)), values, tables, path)


def _joined(
    base: dict[str, dict[str, int]], values: dict[str, int], tables: dict[str, dict[str, int]], path: Path
) -> dict[str, dict[str, int]]:
    """The weights of a file over those of its base: what it says for all rules comes after all that its base says."""
    everywhere = base.get("", {}) | values
    missing = [name for name, _ in WEIGHTS if name not in everywhere]
    if missing:
        raise AgentError(
            f'{path}: no value for {", ".join(missing)}; or name a style to take them from: base = "steady"'
        )
    words = [word for word in WORDS["pile_take"] if word in base or word in tables]
    return {"": everywhere} | {word: base.get(word, {}) | values | tables.get(word, {}) for word in words}


def _check(path: Path, values: dict[str, object]) -> None:
    names = [name for name, _ in WEIGHTS]
    for name, value in values.items():
        if name not in names:
            raise AgentError(f"{path}: no weight {name!r}; {nearest(name, [*names, 'base', 'title'])}")
        if isinstance(value, bool) or not isinstance(value, int) or abs(value) > MOST:
            raise AgentError(f"{path}: {name} = {value!r} is not allowed; allowed: a whole number up to {MOST}")


class Style:
    """The weights of a style, by name or TOML file, as they are when this is made; AgentError if it is none."""

    def __init__(self, name: str) -> None:
        self.tables = _read(name)
        self._rows: dict[str, Array] = {}

    def weights(self, rules: Rules) -> Array:
        """Its weights for some rules: [NUM_WEIGHTS] int64, in the order of WEIGHTS."""
        word = rules.pile_take
        if word not in self._rows:
            values = self.tables[""] | self.tables.get(word, {})
            self._rows[word] = np.array([values[name] for name, _ in WEIGHTS], np.int64)
        return self._rows[word].copy()


def weights_of(style: str, rules: Rules) -> Array:
    """The weights of a style, by name or TOML file, for some rules: [NUM_WEIGHTS] int64; AgentError if it is none."""
    return (_of_the_kit(style) if style in STYLES else Style(style)).weights(rules)


@cache
def _of_the_kit(style: str) -> Style:
    """A style that comes with the kit, read once."""
    return Style(style)


def style_text(style: str, rules: Iterable[Rules], weights: Array, title: str) -> str:
    """The TOML text of a style with other `weights` [NUM_WEIGHTS] for these rules.

    They count wherever the pile is taken so; elsewhere the style's weights stay.
    """
    tables, names = _read(style), [name for name, _ in WEIGHTS]
    given = dict(zip(names, weights.tolist(), strict=True))
    for word in sorted({one.pile_take for one in rules}):
        tables[word] = {name: value for name, value in given.items() if value != tables[""][name]}
    lines = [f"title = {json.dumps(title, ensure_ascii=False)}"]
    for head, table in tables.items():
        lines += ["", *([f"[{head}]"] if head else []), *(f"{name} = {value}" for name, value in table.items())]
    return "\n".join(lines) + "\n"


class Scripted:
    """Plays a style, `agents.make("steady")`: one of those in `agents/styles`, or a TOML file of weights."""

    def __init__(self, style: str = "steady") -> None:
        self._weights = Style(style).weights

    def reset(self, seed: int) -> None:
        """Nothing to start: the same view, the same choice."""

    def act(self, views: Views) -> Array:
        """The id that the style plays in each view: [n] int64."""
        return views.choose(self._weights)


def play_deals(weights: Array, rules: Rules, seeds: Array) -> tuple[Array, int]:
    """Deals of these seeds played out, each team by its style (`weights` [2, NUM_WEIGHTS]).

    Gives the results [n] RESULT_DTYPE and the number of decisions. The seats start in turn.
    """
    assert weights.shape == (2, NUM_WEIGHTS)
    results, buffers = np.zeros(len(seeds), batch.RESULT_DTYPE), scratch()
    decisions = players.play_deals(
        np.asarray(seeds, np.int64), np.arange(len(seeds)) % rules.num_seats, np.zeros(1, STATE_DTYPE),
        rules_row(rules), weights, results, np.zeros(NUM_ACTIONS, np.int16), buffers.work, buffers.lists,
    )  # fmt: skip
    return results, int(decisions)


def play_out(style: str = "steady", rules: str | Rules = "classic", deals: int = 1000, seed: int = 0) -> Array:
    """The results of so many deals that a style plays in all seats: [deals] RESULT_DTYPE."""
    seeds = np.zeros(deals, np.int64)
    batch.derive_seeds(seed, seeds)
    game = Rules.load(rules)
    return play_deals(np.stack([weights_of(style, game)] * 2), game, seeds)[0]


def duel(mine: Array, theirs: Array, rules: Rules, seeds: Array) -> Array:
    """Team 0's lead of each duplicate pair, the same cards played with the styles exchanged: [n] points a deal."""
    ahead = play_deals(np.stack([mine, theirs]), rules, seeds)[0]["final_scores"].astype(np.int64)
    behind = play_deals(np.stack([theirs, mine]), rules, seeds)[0]["final_scores"].astype(np.int64)
    return (ahead[:, 0] - ahead[:, 1] - behind[:, 0] + behind[:, 1]) / 2
