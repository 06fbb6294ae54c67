"""Action ids as named ranges, and tables of what each id means.

One fixed id space serves every preset. A bigger meld is a minimal meld and lay-offs; a swap is the lay-off of a natural
onto the place where a fixed wild stands. Where wilds move, a wild is always laid on the `high` end of a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement

import numpy as np

from buraco_env.kernel.state import NUM_WILD_KINDS, RUN_SLOTS, SET_SLOTS, WILD_CARDS, Array

# the multisets of suits that three, or two, natural cards of a rank can have; each type exists twice
SUITS_OF_THREE = [c for c in combinations_with_replacement(range(4), 3) if len(set(c)) > 1]
SUITS_OF_TWO = list(combinations_with_replacement(range(4), 2))

_SIZES = {
    "draw": 1,
    "take pile": 1,
    "run": 4 * 12,  # suit, low
    "wild run of 3": 4 * 12 * 3 * NUM_WILD_KINDS,  # suit, low, place of the wild, kind of wild
    "wild run of 4": 4 * 11 * 2 * NUM_WILD_KINDS,  # the wild inside
    "set": 13 * len(SUITS_OF_THREE),  # rank, suits
    "wild set": 13 * len(SUITS_OF_TWO) * NUM_WILD_KINDS,  # rank, suits, kind of wild
    "lay on run": RUN_SLOTS * 14,  # slot, position
    "lay wild on run": RUN_SLOTS * 2 * NUM_WILD_KINDS,  # slot, end, kind of wild
    "lay on set": SET_SLOTS * 4,  # slot, suit
    "lay wild on set": SET_SLOTS * NUM_WILD_KINDS,  # slot, kind of wild
    "discard": 53,  # card
    "end turn": 1,
}
_FIRST = np.concatenate(([0], np.cumsum(list(_SIZES.values()))))

# kinds of action, and the first id of each kind
KINDS = tuple(_SIZES)
(K_DRAW, K_TAKE, K_RUN, K_WILD_RUN, K_WILD_RUN_OF_4, K_SET, K_WILD_SET,
 K_LAY_RUN, K_LAY_WILD_RUN, K_LAY_SET, K_LAY_WILD_SET, K_DISCARD, K_END_TURN) = range(len(KINDS))  # fmt: skip
(DRAW_CARD, TAKE_PILE, NEW_RUN, NEW_WILD_RUN, NEW_WILD_RUN_OF_4, NEW_SET, NEW_WILD_SET,
 LAY_RUN, LAY_WILD_RUN, LAY_SET, LAY_WILD_SET, DISCARD, FINISH_TURN) = map(int, _FIRST[:-1])  # fmt: skip
NUM_ACTIONS = int(_FIRST[-1])

LOW_END, HIGH_END = 0, 1

# columns of ARGS
KIND, SUIT, SLOT, PLACE, LAST, WILD_AT, WILD = range(7)
# KIND of action
# SUIT of a run, -1 for a set or no meld
# SLOT of a lay-off; rank of a new set, 0 to 12; card of a discard
# PLACE: low position of a new run; position or end of a lay-off on one; suits of a new set; suit of a lay-off on one
# LAST: high position of a new run; WILD_AT: position of its wild
# WILD: kind of wild, 0 for none


def _rows() -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """For each id its ARGS and the cards it takes from the hand."""
    rows: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    rows.extend(((kind, -1, 0, 0, 0, 0, 0), ()) for kind in (K_DRAW, K_TAKE))
    wilds = range(1, NUM_WILD_KINDS + 1)

    def run_cards(suit: int, low: int, high: int, wild_at: int, wild: int) -> tuple[int, ...]:
        return tuple(
            int(WILD_CARDS[wild]) if position == wild_at else suit * 13 + (position - 1) % 13
            for position in range(low, high + 1)
        )

    def run(kind: int, suit: int, low: int, high: int, wild_at: int = 0, wild: int = 0) -> None:
        rows.append(((kind, suit, 0, low, high, wild_at, wild), run_cards(suit, low, high, wild_at, wild)))

    for suit in range(4):
        for low in range(1, 13):
            run(K_RUN, suit, low, low + 2)
    for kind, length, places in ((K_WILD_RUN, 3, (0, 1, 2)), (K_WILD_RUN_OF_4, 4, (1, 2))):
        for suit in range(4):
            for low in range(1, 16 - length):
                for place in places:
                    for wild in wilds:
                        run(kind, suit, low, low + length - 1, low + place, wild)
    for rank in range(13):
        for index, suits in enumerate(SUITS_OF_THREE):
            rows.append(((K_SET, -1, rank, index, 0, 0, 0), tuple(s * 13 + rank for s in suits)))
    for rank in range(13):
        for index, pair in enumerate(SUITS_OF_TWO):
            for wild in wilds:
                cards = (*(s * 13 + rank for s in pair), int(WILD_CARDS[wild]))
                rows.append(((K_WILD_SET, -1, rank, index, 0, 0, wild), cards))
    for slot in range(RUN_SLOTS):
        suit = slot // (RUN_SLOTS // 4)
        for position in range(1, 15):
            rows.append(((K_LAY_RUN, suit, slot, position, 0, 0, 0), (suit * 13 + (position - 1) % 13,)))
    for slot in range(RUN_SLOTS):
        for end in (LOW_END, HIGH_END):
            for wild in wilds:
                args = (K_LAY_WILD_RUN, slot // (RUN_SLOTS // 4), slot, end, 0, 0, wild)
                rows.append((args, (int(WILD_CARDS[wild]),)))
    for slot in range(SET_SLOTS):
        for suit in range(4):
            rows.append(((K_LAY_SET, -1, slot, suit, 0, 0, 0), (suit * 13 + slot // (SET_SLOTS // 13),)))
    for slot in range(SET_SLOTS):
        for wild in wilds:
            rows.append(((K_LAY_WILD_SET, -1, slot, 0, 0, 0, wild), (int(WILD_CARDS[wild]),)))
    rows.extend(((K_DISCARD, -1, card, 0, 0, 0, 0), (card,)) for card in range(53))
    rows.append(((K_END_TURN, -1, 0, 0, 0, 0, 0), ()))
    return rows


def _tables() -> tuple[Array, Array, Array, Array]:
    rows = _rows()
    args = np.array([row[0] for row in rows], np.int8)
    uses, twice = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
    for index, (_, cards) in enumerate(rows):
        for card in cards:
            twice[index] |= uses[index] & (1 << card)
            uses[index] |= 1 << card
    return args, uses, twice, np.array([len(row[1]) for row in rows], np.int8)


ARGS, USES, USES_TWICE, CARDS_USED = _tables()
assert len(ARGS) == NUM_ACTIONS

# for a rank whose counts by suit are packed two bits a suit: which of SUITS_OF_THREE, SUITS_OF_TWO it can make, as bits


def _choices(suits_of: Sequence[tuple[int, ...]]) -> Array:
    masks = np.zeros(256, np.int32)
    for code in range(256):
        for index, suits in enumerate(suits_of):
            if all(suits.count(suit) <= (code >> (2 * suit) & 3) for suit in range(4)):
                masks[code] |= 1 << index
    return masks


THREES, PAIRS = _choices(SUITS_OF_THREE), _choices(SUITS_OF_TWO)
