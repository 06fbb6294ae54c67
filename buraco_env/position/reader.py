"""A position text as a record of the kernel."""

from __future__ import annotations

import random
import re
from collections import Counter
from functools import partial

import numpy as np

from buraco_env.cards import NUM_CARD_TYPES, card_text, parse_card
from buraco_env.kernel import actions as A
from buraco_env.kernel import batch as kernel
from buraco_env.kernel.state import (
    END_OUT,
    END_STOCK,
    END_TURN_CAP,
    EXTRA,
    HISTORY,
    MELD,
    OVER,
    RUN_SLOTS,
    STATE_DTYPE,
    Array,
    Record,
    rules_row,
)
from buraco_env.notation import END_REASONS, PHASES, meld_names, parse_cards
from buraco_env.position.deal import Deck, deal_the_rest
from buraco_env.position.lines import Lines, PositionError, two_numbers
from buraco_env.position.melds import lay, meld_cards
from buraco_env.position.writer import phase_line
from buraco_env.rules import Rules, RulesError

_OVER_FORMS = "over out TEAM, over stock, over turn cap"


def read(text: str, seed: int) -> tuple[Rules, Record]:
    """The rules and the record of a position text; PositionError names the line that is wrong."""
    reader = _Reader(text)
    return reader.rules, reader.record(random.Random(seed))


class _Reader:
    """Reads a position text item by item into a record, then deals what was left out."""

    def __init__(self, text: str) -> None:
        self.lines = Lines(text)
        try:
            self.rules = Rules.parse(self.lines.pop("rules", "classic"))
        except RulesError as error:
            raise PositionError(f"rules line: {error}") from None
        self.row = rules_row(self.rules)
        self.states: Array = np.zeros(1, STATE_DTYPE)
        self.s: Record = self.states[0]
        self.deck = Deck(self.rules)  # of what lies open; `deal_the_rest` counts again

    def record(self, rng: random.Random) -> Record:
        """The record of the whole text."""
        s, lines = self.s, self.lines
        s.opening, s.top, s.single, s.out_team = -1, -1, -1, -1
        self._turn()
        for team in (0, 1):
            lines.read(f"team {team}", partial(self._table, team))
            s.opened[team] = int(not self.rules.first_meld_min or s.run_slots[team] > 0 or s.set_slots[team] > 0)
        lines.read("mortos taken", self._mortos_taken)
        lines.read("waiting", self._waiting)
        lines.read("pile", self._pile)
        for seat in range(self.rules.num_seats):
            lines.read(f"discarded {seat}", partial(self._count, s.discarded[seat], 127))
            lines.read(f"known {seat}", partial(self._count, s.known[seat], 4))
        lines.read("scores", self._scores)
        lines.read("last", self._last)
        lines.read("taken", self._taken)
        lines.read("opening", self._opening)
        deal_the_rest(s, self.rules, lines, rng)
        lines.check_all_read()
        self._finish()
        return s

    def _turn(self) -> None:
        s, seats = self.s, range(self.rules.num_seats)
        s.seat = self.lines.number("seat", 0, seats)
        s.starter = self.lines.number("starter", 0, seats)
        phase, *rest = self.lines.pop("phase", "draw").split() or [""]
        if phase not in PHASES or (rest and phase != "over"):
            raise PositionError(f"'phase {' '.join([phase, *rest])}': allowed: {', '.join(PHASES)}")
        s.phase = PHASES.index(phase)
        s.turn = self.lines.number("turn", 0, range(self.rules.max_turns + int(s.phase == OVER)))
        if rest:
            team = rest.pop() if rest[-1].isdecimal() else ""
            if " ".join(rest) not in END_REASONS[1:] or (rest == ["out"]) != (team in ("0", "1")):
                raise PositionError(f"'phase over {' '.join(rest)} {team}': allowed: {_OVER_FORMS}")
            s.end_reason = END_REASONS.index(" ".join(rest))
            s.out_team = int(team) if team else -1

    def _count(self, counts: Array, most: int, value: str) -> None:
        cards = Counter(parse_cards(value))
        for card, number in cards.items():
            if number > most:
                raise ValueError(f"{number} times {card_text(card)} are too many")
            counts[card] = number

    def _table(self, team: int, value: str) -> None:
        for meld in filter(None, (part.strip() for part in value.split("|"))):
            for card in meld_cards(meld):
                self.deck.use(card)
            lay(self.s, self.rules, team, meld)

    def _mortos_taken(self, value: str) -> None:
        taken = two_numbers(value)
        if min(taken) < 0 or max(taken) > self.rules.mortos_per_team or sum(taken) > self.rules.num_mortos:
            raise ValueError(f"a team takes 0 to {self.rules.mortos_per_team} of {self.rules.num_mortos} mortos")
        self.s.taken[:] = taken

    def _waiting(self, value: str) -> None:
        s, seats = self.s, [str(seat) for seat in range(self.rules.num_seats)]
        for word in value.split():
            if word not in seats:
                raise ValueError(f"{word!r} is no seat: {', '.join(seats)}")
            s.waiting[int(word)] += 1
        for team in (0, 1):
            if s.waiting[team::2].sum() > s.taken[team] or s.waiting[team::2].max() > 1:
                raise ValueError(f"team {team} has taken {s.taken[team]} mortos")
        if s.waiting[s.seat] and s.phase != OVER:
            raise ValueError(f"seat {s.seat} has started its turn")

    def _pile(self, value: str) -> None:
        for card in parse_cards(value):
            self.deck.use(card)
            self.s.pile[self.s.pile_size] = card
            self.s.pile_size += 1
            self.s.pile_count[card] += 1

    def _scores(self, value: str) -> None:
        self.s.match_score[:] = two_numbers(value)

    def _last(self, value: str) -> None:
        for event in value.split("|")[-HISTORY:]:
            match = re.fullmatch(r"\s*([0-3])\s+(.*?)(?:\s+([A-Z0-9]{2}))?\s*", event)
            if not match or match[2] not in A.KINDS or int(match[1]) >= self.rules.num_seats:
                raise ValueError(f"{event.strip()!r} is no public action: SEAT KIND CARD, kinds {', '.join(A.KINDS)}")
            card = parse_card(match[3]) + 1 if match[3] else 0
            self.s.last[self.s.last_next] = (int(match[1]) + 1, A.KINDS.index(match[2]) + 1, card)
            self.s.last_next = (self.s.last_next + 1) % HISTORY

    def _taken(self, value: str) -> None:
        """The pile taken this turn; what is surely in the hand still becomes known to be there."""
        s, (cards_part, _, use) = self.s, value.partition(", use ")
        cards = parse_cards(cards_part)
        if s.phase != MELD or s.pile_size or not cards:
            raise ValueError("the pile is taken in a meld phase, and then it is empty")
        if any(count > self.row[0].copies[card] for card, count in Counter(cards).items()):
            raise ValueError("the deck has not so many cards of one kind")
        s.pile[: len(cards)] = cards
        s.taken_size = len(cards)
        if use:
            s.top = parse_card(use.strip())
            if s.top != cards[-1] or self.rules.pile_take == "free":
                raise ValueError("the card to use is the last of the pile taken, where the rules have such a duty")
            if self.rules.pile_justify == "hand_and_table":
                self._lock(cards[:-1])
        if len(cards) == 1 and self.rules.single_card_rediscard == "twin_only":
            s.single = cards[0]
        if s.top < 0 and s.single < 0:
            raise ValueError("no duty or restriction is left of this pile")
        for card, count in Counter(cards if s.locked else cards[-1:]).items():
            s.known[s.seat, card] = max(int(s.known[s.seat, card]), count)

    def _lock(self, cards: list[int]) -> None:
        """The buried cards are barred."""
        for card, count in Counter(cards).items():
            self.s.locked = int(self.s.locked) | 1 << card
            if count > 1:
                self.s.locked_twin = int(self.s.locked_twin) | 1 << card
        self.s.locked_jokers = Counter(cards)[NUM_CARD_TYPES - 1]

    def _opening(self, value: str) -> None:
        s, team = self.s, int(self.s.seat) % 2
        names = {" ".join(cards): (kind, slot) for kind, slot, cards in meld_names(s, team)}
        meld = " ".join(value.split())
        if meld not in names or len(names) > 1 or s.phase not in (MELD, EXTRA):
            raise ValueError("it must be the only meld of the team to move, in the turn in which it was laid")
        kind, slot = names[meld]
        values = np.zeros((1, 2), np.int64)
        slots = np.array([slot if kind == "run" else -1 - slot], np.int64)
        kernel.meld_values(self.states, self.row, team, slots, values)
        points = int(values[0, 0])
        if points >= self.rules.first_meld_min:
            raise ValueError(f"it is worth {points} points, and the minimum is {self.rules.first_meld_min}")
        s.opening = slot if kind == "run" else RUN_SLOTS + slot
        s.opened[team] = 0

    def _finish(self) -> None:
        """Masks, sizes and values that follow from the cards; what can't be together is refused."""
        s = self.s
        for seat in range(self.rules.num_seats):
            s.hand_size[seat] = s.hand[seat].sum()
            s.held[seat] = sum(1 << card for card in range(NUM_CARD_TYPES) if s.hand[seat, card] > 0)
            s.twin[seat] = sum(1 << card for card in range(NUM_CARD_TYPES) if s.hand[seat, card] > 1)
        if s.phase == OVER and not s.end_reason:
            self._find_end()
        self._check_phase()
        self._check_hands()
        kernel.count_open(self.states, self.row)

    def _find_end(self) -> None:
        """Why a deal that is over ended, where the text does not say so."""
        s = self.s
        s.end_reason = END_TURN_CAP if s.turn == self.rules.max_turns else END_STOCK
        if not s.hand_size[s.seat]:
            s.end_reason, s.out_team = END_OUT, int(s.seat) % 2

    def _check_phase(self) -> None:
        s, line = self.s, phase_line(self.s)
        if s.phase == EXTRA and (self.rules.morto_after_discard != "immediate" or not s.taken[s.seat % 2]):
            raise PositionError(f"{line!r}: a morto must have been taken, under rules that play it at once")
        if s.end_reason == END_OUT and (s.out_team != s.seat % 2 or s.hand_size[s.seat]):
            raise PositionError(f"{line!r}: the seat to move went out, of that team and with an empty hand")
        if s.end_reason == END_TURN_CAP and s.turn != self.rules.max_turns:
            raise PositionError(f"{line!r}: the turn cap is {self.rules.max_turns}, and {s.turn} turns are finished")
        if not s.stock_size and s.mortos_left and self.rules.stock_end == "mortos_join":
            raise PositionError("'stock: 0': the mortos join an empty stock")

    def _check_hands(self) -> None:
        s = self.s
        for seat in range(self.rules.num_seats):
            if not s.hand_size[seat] and not (s.end_reason == END_OUT and seat == s.seat):
                raise PositionError(f"'hand {seat}:': a hand is empty only of the seat that went out")
            if s.waiting[seat] and s.hand_size[seat] != self.rules.morto_size:
                size = f"{self.rules.morto_size} cards, not {s.hand_size[seat]}"
                raise PositionError(f"'waiting: {seat}': the hand is a morto not played from, of {size}")
