"""The rules of one game as a record of plain values, read from TOML and checked.

A field of `Rules` is a question the engine asks; its annotation says which answers are allowed.
What the fields mean, in words: `python -m buraco_env rules classic`.
"""

import difflib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_type_hints

from buraco_env.cards import COPIES, JOKER, is_joker, is_two, is_wild, rank_of

_RULESETS = Path(__file__).with_name("rulesets")

_DealtCards = Annotated[int, range(3, 16)]
_Points = Annotated[int, range(0, 1001)]
_Bonus = Annotated[int, range(0, 5001)]


class RulesError(ValueError):
    """Rules that can't be played, or can't be found; the message names file, field, value and what is allowed."""


@dataclass(frozen=True, kw_only=True)
class Rules:
    """One game's rules. Equal records play the same game, whatever their names."""

    num_seats: Literal[2, 4]
    num_jokers: Literal[0, 4]
    hand_size: _DealtCards
    num_mortos: Literal[2, 3]
    morto_size: _DealtCards
    max_runs_per_suit: Literal[6]
    mortos_per_team: Literal[1, 2]
    upcard: Literal["none", "bury_wilds", "redeal_joker", "any"]
    pile_take: Literal["free", "use_top_this_turn", "use_top_first"]
    pile_justify: Literal["hand_and_table", "whole_pile"]
    single_card_rediscard: Literal["allowed", "twin_only"]
    sets: bool
    sets_of_twos: bool
    max_set: Literal[0, 3, 4, 5, 6, 7, 8, 9]
    max_run: Literal[13, 14]
    ace_to_ace: Literal["forbidden", "wild_only", "allowed"]
    wild_min_run: Literal[0, 3, 4]
    wild_low_end: Literal["any", "ace_only"]
    wild_moves: Literal["fixed", "slides", "resolves"]
    close_with: Literal["any", "clean"]
    meld_out_morto: bool
    meld_out_close: bool
    morto_after_discard: Literal["next_turn", "immediate"]
    final_discard_wild: Literal["allowed", "only_if_unplayable", "forbidden_closing"]
    stock_end: Literal["after_turn", "at_last_draw", "mortos_join", "last_two"]
    first_meld_min: Annotated[int, range(0, 201)]
    points_joker: _Points
    points_two: _Points
    points_ace: _Points
    points_high: _Points
    points_low: _Points
    bonus_clean: _Bonus
    bonus_dirty: _Bonus
    bonus_semi_clean: _Bonus
    bonus_royal: _Bonus
    bonus_ace_to_ace: _Bonus
    bonus_out: _Bonus
    bonus_morto: _Bonus
    penalty_no_morto: _Bonus
    penalty_unused_morto: _Bonus
    target: Annotated[int, range(1, 100_001)]
    tie: Literal["extra_deal", "starter"]
    max_turns: Annotated[int, range(1, 10_001)]

    name: str = field(default="", compare=False)
    titles: dict[str, str] = field(default_factory=dict, compare=False)  # by language: en, fr, pt, it
    aliases: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        _check(self.values(), self.name)

    @classmethod
    def load(cls, rules: "str | Path | Rules", /, **overrides: object) -> "Rules":
        """The rules of a preset's name or alias, of a TOML file, or of a record, with some fields overridden."""
        found = rules if isinstance(rules, Rules) else _read(rules) if _is_path(rules) else _find(str(rules))
        if not overrides:
            return found
        about = {"name": found.name, "titles": found.titles, "aliases": found.aliases}
        return cls._build({**found.values(), **overrides}, found.name, **about)

    @classmethod
    def from_toml(cls, text: str, name: str = "", source: str = "") -> "Rules":
        """The rules that a TOML text holds; `source` names its file in errors."""
        source = source or name or "text"
        try:
            values = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise RulesError(f"rules {source}: not TOML: {error}") from None
        titles, aliases = values.pop("titles", {}), values.pop("aliases", [])
        if not isinstance(titles, dict) or not all(isinstance(title, str) for title in titles.values()):
            raise RulesError(f"rules {source}: titles = {titles!r} is not allowed; allowed: a text for each language")
        if not isinstance(aliases, list) or not all(isinstance(alias, str) for alias in aliases):
            raise RulesError(f"rules {source}: aliases = {aliases!r} is not allowed; allowed: a list of names")
        return cls._build(values, source, name=name, titles=titles, aliases=tuple(aliases))

    @classmethod
    def parse(cls, text: str) -> "Rules":
        """The rules that `str(rules)` writes so: `classic target=2000`."""
        name, *changes = text.split() or [""]
        return cls.load(name, **dict(_parse_change(change) for change in changes))

    @classmethod
    def _build(cls, values: Mapping[str, Any], source: str, **about: Any) -> "Rules":
        _check(values, source)
        return cls(**values, **about)

    def __str__(self) -> str:
        """The preset of this name, or the one most alike, and what differs from it."""
        presets = _presets()
        base = presets.get(self.name) or min(presets.values(), key=lambda preset: len(preset.differences(self)))
        return " ".join([base.name, *(f"{name}={_plain(getattr(self, name))}" for name in base.differences(self))])

    def values(self) -> dict[str, Any]:
        """Field -> value, in the order of RULE_FIELDS."""
        return {name: getattr(self, name) for name in RULE_FIELDS}

    def row(self) -> tuple[int, ...]:
        """One int for each of RULE_FIELDS, for the kernel: words as their index in WORDS, yes and no as 1 and 0."""
        return tuple(WORDS[name].index(value) if name in WORDS else int(value) for name, value in self.values().items())

    def to_toml(self) -> str:
        """The TOML text that reads back as this record, every field written out."""
        titles = [f"titles.{key} = {json.dumps(title, ensure_ascii=False)}" for key, title in self.titles.items()]
        values = [f"{name} = {json.dumps(value)}" for name, value in self.values().items()]
        return "\n".join([*titles, f"aliases = {json.dumps(self.aliases)}", "", *values, ""])

    def differences(self, other: "Rules") -> tuple[str, ...]:
        """The fields in which two games differ."""
        return tuple(name for name in RULE_FIELDS if getattr(self, name) != getattr(other, name))

    def points(self, card: int) -> int:
        """What a card counts, in a meld or left in a hand."""
        if is_wild(card):
            return self.points_joker if is_joker(card) else self.points_two
        if rank_of(card) == 1:
            return self.points_ace
        return self.points_high if rank_of(card) >= 8 else self.points_low


def rule_names() -> tuple[str, ...]:
    """The presets' names."""
    return tuple(_presets())


def _allowed(hint: Any) -> Sequence[Any]:
    """The values that a field's annotation allows."""
    return (False, True) if hint is bool else hint.__metadata__[0] if hasattr(hint, "__metadata__") else get_args(hint)


RULE_FIELDS: tuple[str, ...] = tuple(f.name for f in fields(Rules) if f.compare)
_HINTS = get_type_hints(Rules, include_extras=True)
ALLOWED: dict[str, Sequence[Any]] = {name: _allowed(_HINTS[name]) for name in RULE_FIELDS}
WORDS: dict[str, tuple[str, ...]] = {name: tuple(ok) for name, ok in ALLOWED.items() if isinstance(ok[0], str)}


def _is_path(rules: "str | Path") -> bool:
    return isinstance(rules, Path) or str(rules).endswith(".toml") or "/" in str(rules)


def _read(path: "str | Path") -> Rules:
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RulesError(f"rules {path}: can't be read: {error}") from None
    return Rules.from_toml(text, name=Path(path).stem, source=str(path))


@cache
def _presets() -> dict[str, Rules]:
    return {path.stem: _read(path) for path in sorted(_RULESETS.glob("*.toml"))}


def _find(name: str) -> Rules:
    """The preset of a name or an alias."""
    presets = _presets()
    known = presets | {alias: preset for preset in presets.values() for alias in preset.aliases}
    if name not in known:
        hint = _nearest(name, known)
        raise RulesError(f"unknown rules {name!r}{hint}; presets: {', '.join(presets)}; or the path of a .toml file")
    return known[name]


def _parse_change(change: str) -> tuple[str, Any]:
    """Field and value of `target=2000`; what has the wrong form stays text, for the check to refuse."""
    name, _, text = change.partition("=")
    return name, next((value for value in ALLOWED.get(name, ()) if _plain(value) == text), text)


def _plain(value: Any) -> str:
    """A value as it stands in a line of text: `2000`, `true`, `any`."""
    return value if isinstance(value, str) else json.dumps(value)


def _check(values: Mapping[str, Any], source: str) -> None:
    """Raise RulesError with everything that is wrong with these values."""
    problems = [f"unknown field {name!r}{_nearest(name, RULE_FIELDS)}" for name in values if name not in ALLOWED]
    missing = [name for name in RULE_FIELDS if name not in values]
    problems += [f"missing field {name!r}; allowed: {_listed(ALLOWED[name])}" for name in missing]
    problems += [
        f"{name} = {value!r} is not allowed{_nearest(value, ALLOWED[name])}; allowed: {_listed(ALLOWED[name])}"
        for name, value in values.items()
        if name in ALLOWED and not (_same_kind(name, value) and value in ALLOWED[name])
    ]
    if not missing and all(_same_kind(name, values[name]) for name in RULE_FIELDS):
        problems += _contradictions(values)
    if problems:
        raise RulesError(f"rules {source or 'without a name'}: " + "\n  ".join(problems))


def _same_kind(name: str, value: object) -> bool:
    """Whether a value is a number, a word or a yes/no as its field wants; True is no number here."""
    return type(value) is type(ALLOWED[name][0])


def _listed(allowed: Sequence[Any]) -> str:
    return f"{allowed[0]} to {allowed[-1]}" if isinstance(allowed, range) else ", ".join(map(_plain, allowed))


def _nearest(given: object, known: Any) -> str:
    """A hint at the known word most like the given one, or nothing."""
    words = [word for word in known if isinstance(word, str)] if isinstance(given, str) else []
    near = difflib.get_close_matches(str(given), words, n=1, cutoff=0.5)
    return f", did you mean {near[0]!r}?" if near else ""


def _contradictions(v: Mapping[str, Any]) -> list[str]:
    """What no game can have at the same time; unusual but playable rules pass."""
    found = _deck_too_small(v)
    if v["wild_min_run"] > v["max_run"]:
        found.append(f"wild_min_run = {v['wild_min_run']} is above max_run = {v['max_run']}")
    if v["ace_to_ace"] != "forbidden" and v["max_run"] < 14:
        found.append(f"ace_to_ace = {v['ace_to_ace']!r} needs max_run = 14, not {v['max_run']}")
    if v["sets_of_twos"] and not v["sets"]:
        found.append("sets_of_twos = true needs sets = true")
    if v["max_set"] and not v["sets"]:
        found.append(f"max_set = {v['max_set']} needs sets = true; write max_set = 0")
    if v["mortos_per_team"] > v["num_mortos"]:
        found.append(f"mortos_per_team = {v['mortos_per_team']} is above num_mortos = {v['num_mortos']}")
    return found


def _deck_too_small(v: Mapping[str, Any]) -> list[str]:
    """Each seat must be able to draw once, and the upcard must turn up even if all cards it buries are in the stock."""
    deck = JOKER * COPIES + v["num_jokers"]
    twos = COPIES * sum(map(is_two, range(JOKER)))
    buried = {"bury_wilds": twos + v["num_jokers"], "redeal_joker": twos}.get(v["upcard"], 0)
    upcards = int(v["upcard"] != "none")
    needed = max(v["num_seats"], buried) + upcards
    dealt = v["num_seats"] * v["hand_size"] + v["num_mortos"] * v["morto_size"]
    if deck - dealt >= needed:
        return []
    return [
        f"the deck is too small: num_seats = {v['num_seats']}, hand_size = {v['hand_size']},"
        f" num_mortos = {v['num_mortos']}, morto_size = {v['morto_size']} deal {dealt} of the {deck} cards"
        f" that num_jokers = {v['num_jokers']} gives;"
        f" with upcard = {v['upcard']!r} the stock needs {needed} of them"
    ]
