"""A state of the reference as position text, as `docs/conformance.md` describes it."""

import re

from buraco_env.cards import parse_card
from tests import reference as ref

MEMORY = ("known", "discarded", "last", "scores")


def plain(text: str) -> str:
    """A position text without what is only remembered: public events, known cards, cards seen at the bottom."""
    lines = [line for line in text.splitlines() if not line.startswith(MEMORY)]
    return "\n".join(re.sub(r", bottom .*", "", line) for line in lines) + "\n"


def taken_pile(text: str) -> list[str]:
    """The pile taken this turn, where a position text still names it."""
    found = re.search(r"^taken: ([^,\n]*)", text, re.MULTILINE)
    return found[1].split() if found else []


def _by_suit(cards: list[str]) -> str:
    return " ".join(sorted(cards, key=parse_card))


def _phase(state: ref.State) -> str:
    end = f" {state.end_reason}" if state.end_reason else ""
    return f"phase {state.phase}{end}" + (f" {state.out_team}" if state.out_team is not None else "")


def _set(meld: ref.Set_) -> str:
    return " ".join(sorted(meld.cards, key=parse_card)) + (f" {meld.wild}*" if meld.wild else "")


def _meld(meld: ref.Run | ref.Set_) -> str:
    return _set(meld) if isinstance(meld, ref.Set_) else str(meld)


def _mortos(state: ref.State) -> str:
    return " / ".join(" ".join(morto) for morto in state.mortos) or "0"


def _duties(state: ref.State, taken: list[str]) -> list[str]:
    """The lines of open duties; `taken` is the pile taken this turn."""
    lines = []
    if state.top or state.single:
        lines.append(f"taken: {' '.join(taken)}" + (f", use {state.top}" if state.top else ""))
    if state.opening:
        which, kind, slot = state.opening
        lines.append(f"opening: {_meld((state.runs if kind == 'run' else state.sets)[state.team][which][slot])}")
    return lines


def text_of(state: ref.State, rules: str, taken: list[str]) -> str:
    """The position text of a state; `rules` is its rules line, `taken` the pile taken this turn."""
    lines = [f"rules {rules}", f"seat {state.seat}   starter {state.starter}   turn {state.turn}", _phase(state)]
    lines += [f"hand {seat}: {_by_suit(hand)}".rstrip() for seat, hand in enumerate(state.hands)]
    for team in (0, 1):
        lines.append(f"team {team}: {' | '.join(map(_meld, ref.melds_of(state, team)))}".rstrip())
    waiting = " ".join(str(seat) for seat, waits in enumerate(state.waiting) if waits)
    lines.append(f"mortos: {_mortos(state)}")
    lines.append(f"mortos taken: {state.taken[0]} {state.taken[1]}" + (f"   waiting: {waiting}" if waiting else ""))
    lines.append(f"pile: {' '.join(state.pile)}".rstrip())
    lines += _duties(state, taken)
    lines.append(f"stock: {' '.join(state.stock) or 0}")
    return "\n".join(lines) + "\n"
