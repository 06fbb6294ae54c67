"""The position text: a deal as lines that a person can read and write (`design.md` §4).

One item a line, in any order; what is left out is dealt at random from the unseen cards.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from buraco_env.cards import NUM_CARD_TYPES, RANKS, SUITS, card_text, is_two, parse_card
from buraco_env.kernel import actions as A
from buraco_env.kernel import batch as kernel
from buraco_env.kernel.state import (
    DRAW,
    EXTRA,
    HAND_AND_TABLE,
    HISTORY,
    MELD,
    OVER,
    RUN_SLOTS,
    RUNS_PER_SUIT,
    SET_WILD,
    SETS_PER_RANK,
    STATE_DTYPE,
    TWIN_ONLY,
    Record,
    rules_row,
)
from buraco_env.notation import WILD_TEXT, cards_text, meld_names, parse_cards
from buraco_env.rules import Rules, RulesError

_PHASES = ("draw", "meld", "extra", "over")
_ENDS = ("", "out", "stock", "turn cap")


class PositionError(ValueError):
    """A position text that can't be; the message holds the line that is wrong."""


def write(s: Record, rules: Rules) -> str:
    """The position text of a deal, with every card in its place."""
    seats = range(rules.num_seats)
    lines = [f"rules {rules}", f"seat {s.seat}   starter {s.starter}   turn {s.turn}", _phase_line(s)]
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


def _phase_line(s: Record) -> str:
    end = f" {_ENDS[s.end_reason]}" if s.phase == OVER else ""
    return f"phase {_PHASES[s.phase]}{end}" + (f" {s.out_team}" if s.out_team >= 0 else "")


def _event_text(who: int, kind: int, card: int) -> str:
    return f"{who - 1} {A.KINDS[kind - 1]}" + (f" {card_text(int(card) - 1)}" if card else "")


def read(text: str, seed: int) -> tuple[Rules, Record]:
    """The rules and the record of a position text; PositionError names the line that is wrong."""
    reader = _Reader(text)
    return reader.rules, reader.record(random.Random(seed))


class _Reader:
    """Reads a position text line by line into a record, then deals what was left out."""

    def __init__(self, text: str) -> None:
        self.lines: dict[str, str] = {}
        for line in text.splitlines():
            for key, value in _items(re.sub(r"\([^)]*\)", "", line).strip()):
                if key in self.lines:
                    raise PositionError(f"{line.strip()!r}: {key!r} is given twice")
                self.lines[key] = value
        self.rules = self._rules()
        self.row = rules_row(self.rules)
        self.s: Record = np.zeros(1, STATE_DTYPE)[0]
        self.used: Counter[int] = Counter()

    def _rules(self) -> Rules:
        try:
            return Rules.parse(self.lines.pop("rules", "classic"))
        except RulesError as error:
            raise PositionError(f"rules line: {error}") from None

    def record(self, rng: random.Random) -> Record:
        """The record of the whole text."""
        s = self.s
        s.opening, s.top, s.single, s.out_team = -1, -1, -1, -1
        self._turn()
        for team in (0, 1):
            self._each(f"team {team}", lambda value, team=team: self._table(team, value))
            s.opened[team] = int(not self.rules.first_meld_min or s.num_runs[team].any() or s.num_sets[team].any())
        self._each("mortos taken", self._mortos_taken)
        self._each("waiting", self._waiting)
        self._each("pile", self._pile)
        for seat in range(self.rules.num_seats):
            self._each(f"discarded {seat}", lambda value, seat=seat: self._count(s.discarded[seat], value, False))
            self._each(f"known {seat}", lambda value, seat=seat: self._count(s.known[seat], value, False))
        self._each("scores", self._scores)
        self._each("last", self._last)
        self._deal_the_rest(rng)
        self._each("taken", self._taken)
        self._each("opening", self._opening)
        if self.lines:
            key, value = next(iter(self.lines.items()))
            raise PositionError(f"'{key}: {value}': there is no such item at this table")
        self._finish()
        return s

    def _each(self, key: str, take: Callable[[str], None]) -> None:
        """Give a line's value to a function; what it finds wrong becomes an error with the line."""
        if key not in self.lines:
            return
        value = self.lines.pop(key)
        try:
            take(value)
        except PositionError:
            raise
        except ValueError as error:
            raise PositionError(f"'{key}: {value}': {error}") from None

    def _int(self, key: str, default: int, allowed: range) -> int:
        value = self.lines.pop(key, str(default))
        if not value.isdecimal() or int(value) not in allowed:
            raise PositionError(f"'{key} {value}': allowed: {allowed.start} to {allowed.stop - 1}")
        return int(value)

    def _turn(self) -> None:
        s, seats = self.s, range(self.rules.num_seats)
        s.seat = self._int("seat", 0, seats)
        s.starter = self._int("starter", 0, seats)
        s.turn = self._int("turn", 0, range(self.rules.max_turns + 1))
        words = self.lines.pop("phase", "draw").split()
        phase, rest = words[0] if words else "", words[1:]
        if phase not in _PHASES or (rest and phase != "over"):
            raise PositionError(f"'phase {' '.join(words)}': allowed: {', '.join(_PHASES)}")
        s.phase = _PHASES.index(phase)
        if rest:
            team = rest.pop() if rest[-1].isdecimal() else ""
            if " ".join(rest) not in _ENDS[1:] or (rest == ["out"]) != (team in ("0", "1")):
                raise PositionError(f"'phase {' '.join(words)}': allowed: over out TEAM, over stock, over turn cap")
            s.end_reason = _ENDS.index(" ".join(rest))
            s.out_team = int(team) if team else -1

    def _use(self, card: int, copies: int = 1) -> None:
        """Take a card from the deck."""
        self.used[card] += copies
        there = int(self.row[0].copies[card])
        if self.used[card] > there:
            raise ValueError(f"the deck has only {there} {card_text(card)}, this is number {self.used[card]}")

    def _count(self, counts: Any, value: str, use: bool) -> None:
        for card in parse_cards(value):
            if use:
                self._use(card)
            counts[card] += 1

    def _table(self, team: int, value: str) -> None:
        for meld in filter(None, (part.strip() for part in value.split("|"))):
            words = meld.split()
            naturals = [parse_card(word) for word in words if not word.endswith("*")]
            wilds = [word.removesuffix("*") for word in words if word.endswith("*")]
            if len(words) < 3 or len(naturals) < 2 or len(wilds) > 1 or (wilds and wilds[0] not in WILD_TEXT[1:]):
                raise ValueError(f"{meld!r} is no meld: three cards or more, two of them natural, at most one wild")
            wild = WILD_TEXT.index(wilds[0]) if wilds else 0
            for word in words:
                self._use(parse_card(word.removesuffix("*")))
                self.s.melded[parse_card(word.removesuffix("*"))] += 1
            if len({card % 13 for card in naturals}) == 1:
                self._set(team, meld, naturals, wild)
            else:
                self._run(team, meld, words, wild)

    def _set(self, team: int, meld: str, naturals: list[int], wild: int) -> None:
        s, rules, rank = self.s, self.rules, naturals[0] % 13
        twos = is_two(naturals[0])
        too_long = rules.max_set and len(naturals) + bool(wild) > rules.max_set
        if not rules.sets or (twos and (not rules.sets_of_twos or wild > 1)) or too_long:
            raise ValueError(f"the rules do not allow the set {meld!r}")
        number = int(s.num_sets[team, rank])
        slot = rank * SETS_PER_RANK + number
        s.num_sets[team, rank] = number + 1
        s.set_ranks[team] |= 1 << rank
        for card in naturals:
            s.set[team, slot, card // 13] += 1
        s.set[team, slot, SET_WILD] = wild
        self._canasta(team, len(naturals) + bool(wild), wild)

    def _run(self, team: int, meld: str, words: list[str], wild: int) -> None:
        s = self.s
        natural = next((i, word) for i, word in enumerate(words) if not word.endswith("*"))
        suit = SUITS.index(natural[1][1])
        run = next((run for run in _packed(words, natural, suit, wild) if self._stands(suit, run)), 0)
        number = int(s.num_runs[team, suit])
        if not run or number >= self.rules.max_runs_per_suit:
            raise ValueError(f"the rules do not allow the run {meld!r}, or its wild stands elsewhere")
        s.num_runs[team, suit] = number + 1
        s.run[team, suit * RUNS_PER_SUIT + number] = [run >> shift & 0xFF for shift in (0, 8, 16, 24)]
        self._canasta(team, len(words), wild)

    def _stands(self, suit: int, run: int) -> bool:
        return bool(kernel.stands(self.row, 0, suit, run))

    def _canasta(self, team: int, size: int, wild: int) -> None:
        if size >= 7:
            counts = self.s.dirty if wild else self.s.clean
            counts[team] += 1

    def _mortos_taken(self, value: str) -> None:
        taken = _two_ints(value)
        if min(taken) < 0 or max(taken) > self.rules.mortos_per_team or sum(taken) > self.rules.num_mortos:
            raise ValueError(f"a team takes 0 to {self.rules.mortos_per_team} of {self.rules.num_mortos} mortos")
        self.s.taken[:] = taken

    def _waiting(self, value: str) -> None:
        for word in value.split():
            if not word.isdecimal() or int(word) >= self.rules.num_seats:
                raise ValueError(f"{word!r} is no seat: 0 to {self.rules.num_seats - 1}")
            if self.s.waiting[int(word)] or not self.s.taken[int(word) % 2]:
                raise ValueError(f"seat {word} can't be waiting with a morto that its team has not taken")
            self.s.waiting[int(word)] = 1

    def _pile(self, value: str) -> None:
        for card in parse_cards(value):
            self._use(card)
            self.s.pile[self.s.pile_size] = card
            self.s.pile_size += 1
            self.s.pile_count[card] += 1

    def _scores(self, value: str) -> None:
        self.s.match_score[:] = _two_ints(value)

    def _last(self, value: str) -> None:
        events = value.split("|")[-HISTORY:]
        for event in events:
            match = re.fullmatch(r"\s*(\d)\s+(.*?)(?:\s+([A-Z0-9]{2}))?\s*", event)
            if not match or match[2] not in A.KINDS or int(match[1]) >= self.rules.num_seats:
                raise ValueError(f"{event.strip()!r} is no public action: SEAT KIND CARD, kinds {', '.join(A.KINDS)}")
            card = parse_card(match[3]) + 1 if match[3] else 0
            self.s.last[self.s.last_next] = (int(match[1]) + 1, A.KINDS.index(match[2]) + 1, card)
            self.s.last_next = (self.s.last_next + 1) % HISTORY

    def _deal_the_rest(self, rng: random.Random) -> None:
        """Hands, mortos and stock: the cards that are named, then the rest from the unseen cards."""
        s, rules = self.s, self.rules
        missing: list[tuple[str, int, list[int]]] = []  # line, cards to be dealt, cards named
        for seat in range(rules.num_seats):
            missing.append(self._hand(seat))
        mortos = self._mortos()
        stock = self._stock()
        unseen = [card for card in range(NUM_CARD_TYPES) for _ in range(int(self.row[0].copies[card]) - self.used[card])]
        rng.shuffle(unseen)
        for line, wanted, named in [*missing, *mortos]:
            if wanted > len(unseen):
                raise PositionError(f"{line!r}: there are only {len(unseen)} unseen cards left for it")
            named += [unseen.pop() for _ in range(wanted)]
        line, wanted, named = stock
        if wanted < 0:
            wanted = len(unseen)
        if wanted != len(unseen):
            raise PositionError(f"{line!r}: it would have to hold {len(named) + len(unseen)} cards, the rest of the deck")
        named += unseen
        for seat, (_, _, cards) in enumerate(missing):
            for card in cards:
                s.hand[seat, card] += 1
        for index, (_, _, cards) in enumerate(reversed(mortos)):
            s.morto[index, : len(cards)] = cards
        s.mortos_left = len(mortos)
        s.stock[: len(named)] = named
        s.stock_size = len(named)

    def _hand(self, seat: int) -> tuple[str, int, list[int]]:
        """A hand's line, how many cards are to be dealt to it, the cards named; known cards are in it."""
        key, known = f"hand {seat}", Counter(dict(enumerate(self.s.known[seat].tolist())))
        if key not in self.lines:
            cards = list(known.elements())
            self._each_card(f"known {seat}", cards)
            return key, self.rules.hand_size - len(cards), cards
        value = self.lines.pop(key)
        match = re.fullmatch(r"([^+]*)(?:\+\s*(\d+))?\s*", value)
        if not match:
            raise PositionError(f"'{key}: {value}': write cards, and + NUMBER for unknown ones")
        try:
            named = parse_cards(match[1])
        except ValueError as error:
            raise PositionError(f"'{key}: {value}': {error}") from None
        extra = list((known - Counter(named)).elements())
        wanted = int(match[2] or 0)
        if len(extra) > wanted:
            raise PositionError(f"'{key}: {value}': 'known {seat}' has cards that are not in the hand: {cards_text(extra)}")
        if not named and not wanted and self.s.phase != OVER:
            raise PositionError(f"'{key}: {value}': no hand is empty while the deal goes on")
        self._each_card(f"{key}: {value}", named + extra)
        return f"{key}: {value}", wanted - len(extra), named + extra

    def _each_card(self, line: str, cards: list[int]) -> None:
        for card in cards:
            try:
                self._use(card)
            except ValueError as error:
                raise PositionError(f"{line!r}: {error}") from None

    def _mortos(self) -> list[tuple[str, int, list[int]]]:
        left = self.rules.num_mortos - int(self.s.taken.sum())
        value = self.lines.pop("mortos", str(left)).strip()
        line = f"mortos: {value}"
        if value.isdecimal():
            parts: list[list[int]] = [[] for _ in range(int(value))]
        else:
            try:
                parts = [parse_cards(part) for part in value.split("/")]
            except ValueError as error:
                raise PositionError(f"{line!r}: {error}") from None
        if len(parts) > left:
            raise PositionError(f"{line!r}: {left} of {self.rules.num_mortos} mortos are left at most")
        for cards in parts:
            if cards and len(cards) != self.rules.morto_size:
                raise PositionError(f"{line!r}: a morto has {self.rules.morto_size} cards")
            self._each_card(line, cards)
        return [(line, self.rules.morto_size - len(cards), cards) for cards in parts]

    def _stock(self) -> tuple[str, int, list[int]]:
        """The stock's line, how many cards are to be dealt to it (-1: the rest), the cards named."""
        value = self.lines.pop("stock", "")
        head, _, bottom = value.partition(", bottom")
        line = f"stock: {value}"
        try:
            seen, head = parse_cards(bottom), head.strip()
            cards = [] if head.isdecimal() or not head else parse_cards(head)
        except ValueError as error:
            raise PositionError(f"{line!r}: {error}") from None
        if cards and cards[: len(seen)] != seen:
            raise PositionError(f"{line!r}: the cards seen at the bottom are not at the bottom")
        for card in seen:
            self.s.bottom_count[card] += 1
        self.s.bottom = len(seen)
        cards = cards or seen
        self._each_card(line, cards)
        if head.isdecimal() and int(head) < len(cards):
            raise PositionError(f"{line!r}: fewer cards than were seen at the bottom")
        return line, int(head) - len(cards) if head.isdecimal() else (0 if head else -1), cards

    def _taken(self, value: str) -> None:
        s, (cards_part, _, use) = self.s, value.partition(", use ")
        cards = parse_cards(cards_part)
        if s.phase != MELD or s.pile_size or not cards:
            raise ValueError("the pile is taken in a meld phase, and then it is empty")
        locks = self.row[0].pile_justify == HAND_AND_TABLE
        if use and Counter(cards if locks else cards[-1:]) - Counter(dict(enumerate(s.hand[s.seat].tolist()))):
            raise ValueError("these cards are not all in the hand")
        s.pile[: len(cards)] = cards
        s.taken_size = len(cards)
        if use:
            s.top = parse_card(use.strip())
            if s.top != cards[-1] or self.rules.pile_take == "free":
                raise ValueError("the card to use is the last of the pile taken, where the rules have such a duty")
            if locks:
                self._lock(cards[:-1])
        if len(cards) == 1 and self.row[0].single_card_rediscard == TWIN_ONLY:
            s.single = cards[0]
        if s.top < 0 and s.single < 0:
            raise ValueError("no duty or restriction is left of this pile")

    def _lock(self, cards: list[int]) -> None:
        for card, count in Counter(cards).items():
            self.s.locked = int(self.s.locked) | 1 << card
            if count > 1:
                self.s.locked_twin = int(self.s.locked_twin) | 1 << card
        self.s.locked_jokers = Counter(cards)[NUM_CARD_TYPES - 1]

    def _opening(self, value: str) -> None:
        team = int(self.s.seat) % 2
        names = {" ".join(cards): (kind, slot) for kind, slot, cards in meld_names(self.s, team)}
        meld = " ".join(value.split())
        if meld not in names or len(names) > 1 or not self.rules.first_meld_min:
            raise ValueError("it must be the only meld of the team to move, under rules with a minimum")
        kind, slot = names[meld]
        self.s.opening = slot if kind == "run" else RUN_SLOTS + slot
        self.s.opened[team] = 0

    def _finish(self) -> None:
        """Masks, sizes and values that follow from the cards; what can't be together is refused."""
        s = self.s
        for seat in range(self.rules.num_seats):
            s.hand_size[seat] = s.hand[seat].sum()
            s.held[seat] = sum(1 << card for card in range(NUM_CARD_TYPES) if s.hand[seat, card] > 0)
            s.twin[seat] = sum(1 << card for card in range(NUM_CARD_TYPES) if s.hand[seat, card] > 1)
        if s.phase == EXTRA and (self.rules.morto_after_discard != "immediate" or not s.taken[s.seat % 2]):
            raise PositionError("'phase extra': a morto must have been taken, under rules that play it at once")
        if s.phase == DRAW and not s.stock_size and self.rules.stock_end == "mortos_join" and s.mortos_left:
            raise PositionError("'stock: 0': the mortos join an empty stock")
        kernel.count_open(s, self.row)


def _items(line: str) -> list[tuple[str, str]]:
    """The items of a line as (key, value): `seat 0   starter 2` are two, `hand 0: …` is one."""
    if not line:
        return []
    if ":" in line:
        parts = re.split(r"\s{2,}(?=waiting:)", line)
        return [(" ".join(key.split()), value.strip()) for key, _, value in (part.partition(":") for part in parts)]
    found = []
    for part in re.split(r"\s{2,}|(?<=\d)\s+(?=[a-z])", line) if not line.startswith(("rules", "phase")) else [line]:
        key, _, value = part.partition(" ")
        if key not in ("rules", "seat", "starter", "turn", "phase"):
            raise PositionError(f"{line!r}: an item is written KEY: VALUE, as in `hand 0: 3H JK`")
        found.append((key, value.strip()))
    return found


def _two_ints(value: str) -> list[int]:
    words = value.split()
    if len(words) != 2 or not all(re.fullmatch(r"-?\d+", word) for word in words):
        raise ValueError("write two whole numbers, team 0's and team 1's")
    return [int(word) for word in words]


def _packed(words: list[str], natural: tuple[int, str], suit: int, wild: int) -> list[int]:
    """The packed runs that these words could be, if they are one: an ace may be low or high."""
    index, card = natural
    found = []
    for position in {RANKS.index(card[0]) + 1, 14 if card[0] == "A" else RANKS.index(card[0]) + 1}:
        low = position - index
        wild_at = next((low + i for i, word in enumerate(words) if word.endswith("*")), 0)
        texts = [w if w.endswith("*") else RANKS[(low + i - 1) % 13] + SUITS[suit] for i, w in enumerate(words)]
        if texts == words and low >= 1 and low + len(words) - 1 <= 14:
            found.append(low | low + len(words) - 1 << 8 | wild << 16 | wild_at << 24)
    return found
