"""Hands, mortos and stock of a position text: the cards that are named, then the rest from the unseen cards."""

from __future__ import annotations

import random
import re
from collections import Counter
from typing import NamedTuple

from buraco_env.cards import NUM_CARD_TYPES, card_text
from buraco_env.kernel.state import Record, rules_row
from buraco_env.notation import cards_text, parse_cards
from buraco_env.position.lines import Lines, PositionError, whole_number
from buraco_env.rules import Rules


class Deck:
    """The cards that a text has not placed yet."""

    def __init__(self, rules: Rules) -> None:
        self.copies = rules_row(rules)[0].copies
        self.used: Counter[int] = Counter()

    def use(self, card: int) -> None:
        """Take a card from the deck."""
        self.used[card] += 1
        if self.used[card] > self.copies[card]:
            raise ValueError(
                f"the deck has only {self.copies[card]} {card_text(card)}, this is number {self.used[card]}"
            )

    def unseen(self) -> list[int]:
        return [card for card in range(NUM_CARD_TYPES) for _ in range(int(self.copies[card]) - self.used[card])]


class Place(NamedTuple):
    """A hand, a morto or the stock: its line, the cards that are named, how many are to be dealt (-1: the rest)."""

    line: str
    cards: list[int]
    wanted: int


def deal_the_rest(s: Record, rules: Rules, lines: Lines, rng: random.Random) -> None:
    """Fill hands, mortos and stock; what was laid on the table or the pile is in no other place."""
    deck = Deck(rules)
    deck.used.update({card: int(s.melded[card] + s.pile_count[card]) for card in range(NUM_CARD_TYPES)})
    hands = [_hand(s, rules, lines, seat) for seat in range(rules.num_seats)]
    mortos, stock = _mortos(s, rules, lines), _stock(s, lines)
    for place in [*hands, *mortos, stock]:
        _use_all(deck, place)
    unseen = deck.unseen()
    rng.shuffle(unseen)
    if sum(place.wanted for place in [*hands, *mortos]) > len(unseen):
        most = max([*hands, *mortos], key=lambda place: place.wanted)
        left = f"{len(unseen)} unseen cards are left for all"
        raise PositionError(f"{most.line!r}: {most.wanted} cards would be dealt there, and {left}")
    for place in [*hands, *mortos]:
        place.cards.extend(unseen.pop() for _ in range(place.wanted))
    if stock.wanted not in (-1, len(unseen)):
        size = len(stock.cards) + len(unseen)
        raise PositionError(f"{stock.line!r}: it would have to hold {size} cards, the rest of the deck")
    stock.cards.extend(unseen)
    _put(s, hands, mortos, stock)


def _use_all(deck: Deck, place: Place) -> None:
    for card in place.cards:
        try:
            deck.use(card)
        except ValueError as error:
            raise PositionError(f"{place.line!r}: {error}") from None


def _put(s: Record, hands: list[Place], mortos: list[Place], stock: Place) -> None:
    """Write the places into the record."""
    for seat, place in enumerate(hands):
        for card in place.cards:
            s.hand[seat, card] += 1
    for index, place in enumerate(reversed(mortos)):
        s.morto[index, : len(place.cards)] = place.cards
    s.mortos_left = len(mortos)
    s.stock[: len(stock.cards)] = stock.cards
    s.stock_size = len(stock.cards)


def _cards(line: str, text: str) -> list[int]:
    """The cards of a line's text."""
    try:
        return parse_cards(text)
    except ValueError as error:
        raise PositionError(f"{line!r}: {error}") from None


def _hand(s: Record, rules: Rules, lines: Lines, seat: int) -> Place:
    """A hand; the cards known to be there are in it. Absent, it is as large as it was dealt."""
    known = Counter(dict(enumerate(s.known[seat].tolist())))
    if f"hand {seat}" not in lines:
        size = rules.morto_size if s.waiting[seat] else rules.hand_size
        return Place(f"known {seat}", list(known.elements()), max(size - known.total(), 0))
    value = lines.pop(f"hand {seat}")
    line = f"hand {seat}: {value}"
    match = re.fullmatch(r"([^+]*)(?:\+\s*(\d{1,3}))?\s*", value, re.ASCII)
    if not match:
        raise PositionError(f"{line!r}: write cards, and + NUMBER for unknown ones")
    named, wanted = _cards(line, match[1]), int(match[2] or 0)
    extra = list((known - Counter(named)).elements())
    if len(extra) > wanted:
        raise PositionError(f"{line!r}: known or taken cards are not in the hand: {cards_text(extra)}")
    return Place(line, named + extra, wanted - len(extra))


def _mortos(s: Record, rules: Rules, lines: Lines) -> list[Place]:
    """The mortos on the table; fewer than were not taken only where they have joined the stock."""
    left = rules.num_mortos - int(s.taken.sum())
    value = lines.pop("mortos", str(left))
    line = f"mortos: {value}"
    number = whole_number(value)
    if number < 0:
        parts = [_cards(line, part) for part in value.split("/")]
    else:
        parts = [[] for _ in range(min(number, left + 1))]
    joined = not parts and rules.stock_end == "mortos_join"
    if len(parts) != left and not joined:
        raise PositionError(f"{line!r}: {left} of {rules.num_mortos} mortos are left, by the line 'mortos taken'")
    if any(len(cards) != rules.morto_size for cards in parts if number < 0):
        raise PositionError(f"{line!r}: a morto has {rules.morto_size} cards")
    return [Place(line, cards, rules.morto_size - len(cards)) for cards in parts]


def _stock(s: Record, lines: Lines) -> Place:
    """The stock; the cards seen at its bottom are noted."""
    value = lines.pop("stock")
    line = f"stock: {value}"
    head, _, bottom = (part.strip() for part in value.partition(", bottom"))
    number, seen = whole_number(head), _cards(line, bottom)
    cards = _cards(line, head) if number < 0 else []
    if cards and cards[: len(seen)] != seen:
        raise PositionError(f"{line!r}: the cards seen at the bottom are not at the bottom")
    if 0 <= number < len(seen):
        raise PositionError(f"{line!r}: fewer cards than were seen at the bottom")
    for card in seen:
        s.bottom_count[card] += 1
    s.bottom = len(seen)
    if cards:
        return Place(line, cards, 0)
    return Place(line, seen, number - len(seen) if number >= 0 else -1)
