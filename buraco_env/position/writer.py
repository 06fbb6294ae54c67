"""A deal as a position text."""

from __future__ import annotations

from collections.abc import Iterable

from buraco_env.cards import card_text
from buraco_env.kernel import actions as A
from buraco_env.kernel.state import HISTORY, OVER, RUN_SLOTS, Record
from buraco_env.notation import END_REASONS, PHASES, cards_text, meld_names
from buraco_env.rules import Rules


def write(s: Record, rules: Rules) -> str:
    """The position text of a deal, with every card in its place."""
    seats = range(rules.num_seats)
    lines = [f"rules {rules}", f"seat {s.seat}   starter {s.starter}   turn {s.turn}", phase_line(s)]
    lines += [f"hand {seat}: {_counted(s.hand[seat])}".rstrip() for seat in seats]
    for team in (0, 1):
        lines.append(f"team {team}: {' | '.join(' '.join(cards) for _, _, cards in meld_names(s, team))}".rstrip())
    mortos = [cards_text(s.morto[m, : rules.morto_size]) for m in reversed(range(s.mortos_left))]
    lines.append(f"mortos: {' / '.join(mortos) if mortos else 0}")
    waiting = " ".join(str(seat) for seat in seats if s.waiting[seat])
    lines.append(f"mortos taken: {s.taken[0]} {s.taken[1]}" + (f"   waiting: {waiting}" if waiting else ""))
    lines.append(f"pile: {cards_text(s.pile[: s.pile_size])}".rstrip())
    if s.taken_size:
        use = f", use {card_text(int(s.top))}" if s.top >= 0 else ""
        lines.append(f"taken: {cards_text(s.pile[: s.taken_size])}{use}")
    if s.opening >= 0:
        wanted = ("run", int(s.opening)) if s.opening < RUN_SLOTS else ("set", int(s.opening) - RUN_SLOTS)
        lines += [f"opening: {' '.join(c)}" for kind, slot, c in meld_names(s, s.seat % 2) if (kind, slot) == wanted]
    lines += [f"known {seat}: {_counted(s.known[seat])}" for seat in seats if s.known[seat].any()]
    lines += [f"discarded {seat}: {_counted(s.discarded[seat])}" for seat in seats if s.discarded[seat].any()]
    bottom = f", bottom {cards_text(s.stock[: s.bottom])}" if s.bottom else ""
    lines.append(f"stock: {cards_text(s.stock[: s.stock_size]) or 0}{bottom}")
    lines.append(f"scores: {s.match_score[0]} {s.match_score[1]}")
    last = [s.last[(s.last_next + index) % HISTORY] for index in range(HISTORY)]
    if any(who for who, _, _ in last):
        lines.append("last: " + " | ".join(_event_text(*event) for event in last if event[0]))
    return "\n".join(lines) + "\n"


def _counted(counts: Iterable[int]) -> str:
    return cards_text(card for card, count in enumerate(counts) for _ in range(int(count)))


def phase_line(s: Record) -> str:
    """`phase meld`, `phase over out 0`."""
    end = f" {END_REASONS[s.end_reason]}" if s.phase == OVER else ""
    return f"phase {PHASES[s.phase]}{end}" + (f" {s.out_team}" if s.out_team >= 0 else "")


def _event_text(who: int, kind: int, card: int) -> str:
    return f"{who - 1} {A.KINDS[kind - 1]}" + (f" {card_text(int(card) - 1)}" if card else "")
