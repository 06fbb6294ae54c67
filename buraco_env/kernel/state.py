"""The record of one deal, a comment per field, and the record of the rules that the kernel reads.

Functions of the kernel call the deal `s` and its rules `r`. N deals are an array of N records. Fields are small ints:
read one through `int()` before arithmetic, since int8 arithmetic differs compiled and interpreted.
"""

from __future__ import annotations

from functools import cache
from typing import Any, TypeAlias

import numpy as np

from buraco_env.cards import COPIES, JOKER, NUM_CARD_TYPES
from buraco_env.kernel.jit import count_bits, kernel
from buraco_env.rules import RULE_FIELDS, WORDS, Rules

Record: TypeAlias = Any  # one deal or one rules row, as np.record
Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

MAX_SEATS = 4
NUM_TEAMS = 2
RUNS_PER_SUIT = 6  # slots: `max_runs_per_suit`, out of reach in real play
RUN_SLOTS = 4 * RUNS_PER_SUIT
SETS_PER_RANK = 4  # can't be exceeded: eight naturals, at least two a set
SET_SLOTS = 13 * SETS_PER_RANK
_SUIT_SLOTS = (1 << RUNS_PER_SUIT) - 1
NUM_CARDS_MAX = 108
MAX_MORTOS = 3
MAX_MORTO_SIZE = 15
HISTORY = 8

# words of the rules, as the numbers that a rules row holds
UPCARD_NONE, BURY_WILDS, REDEAL_JOKER, UPCARD_ANY = range(len(WORDS["upcard"]))
FREE, USE_TOP_THIS_TURN, USE_TOP_FIRST = range(len(WORDS["pile_take"]))
HAND_AND_TABLE, WHOLE_PILE = range(len(WORDS["pile_justify"]))
REDISCARD_ALLOWED, TWIN_ONLY = range(len(WORDS["single_card_rediscard"]))
ACE_TO_ACE_FORBIDDEN, ACE_TO_ACE_WILD_ONLY, ACE_TO_ACE_ALLOWED = range(len(WORDS["ace_to_ace"]))
LOW_END_ANY, LOW_END_ACE_ONLY = range(len(WORDS["wild_low_end"]))
FIXED, SLIDES, RESOLVES = range(len(WORDS["wild_moves"]))
CLOSE_ANY, CLOSE_CLEAN = range(len(WORDS["close_with"]))
NEXT_TURN, IMMEDIATE = range(len(WORDS["morto_after_discard"]))
FINAL_WILD_ALLOWED, FINAL_WILD_UNPLAYABLE, FINAL_WILD_NOT_CLOSING = range(len(WORDS["final_discard_wild"]))
AFTER_TURN, AT_LAST_DRAW, MORTOS_JOIN, LAST_TWO = range(len(WORDS["stock_end"]))

# phases
DRAW, MELD, EXTRA, OVER = range(4)
# why a deal ended
NOT_ENDED, END_OUT, END_STOCK, END_TURN_CAP = range(4)
# kinds of wild: the card is WILD_CARDS[kind]
NO_WILD, WILD_JOKER, WILD_TWO = 0, 1, 2  # WILD_TWO + suit: the two of that suit
NUM_WILD_KINDS = 5
WILD_CARDS = np.array([-1, JOKER, *(suit * 13 + 1 for suit in range(4))], np.int8)
# masks of card types
RANK_MASK = 1 | 1 << 13 | 1 << 26 | 1 << 39  # the aces; shifted by r the cards of rank r
ALL_WILDS = 1 << JOKER | RANK_MASK << 1
# fields of a run slot (`low` is 0 where the slot is empty) and of a set slot (naturals by suit, then the wild)
LOW, HIGH, RUN_WILD, WILD_POSITION = range(4)
SET_WILD = 4

STATE_DTYPE = np.dtype(
    (
        np.record,
        [
            ("held", "i8", (MAX_SEATS,)),  # bit c: the seat holds card type c
            ("twin", "i8", (MAX_SEATS,)),  # bit c: it holds two or more of it
            ("locked", "i8"),  # bit c: so many of type c are buried cards, barred until the top card is used
            ("locked_twin", "i8"),
            ("set_slots", "i8", (NUM_TEAMS,)),  # bit b: set slot b is in use; those of a rank fill from the lowest
            ("deal_seed", "i8"),
            ("run_slots", "i4", (NUM_TEAMS,)),  # bit b: run slot b is in use; those of a suit fill from the lowest
            ("rng", "u4", (4,)),  # the deal's random stream
            ("open_score", "i4", (NUM_TEAMS,)),  # what lies open: melds, canastas, bonuses so far
            ("match_score", "i4", (NUM_TEAMS,)),  # of the match before this deal
            ("turn", "i2"),  # turns finished
            ("rules", "i2"),  # row of the rules
            ("last", "i1", (HISTORY, 3)),  # ring of public actions: seat + 1 (0: none yet), kind + 1, card + 1
            ("last_next", "i1"),  # where the ring is written next
            ("phase", "i1"),
            ("seat", "i1"),
            ("starter", "i1"),
            ("hand_size", "i1", (MAX_SEATS,)),
            ("waiting", "i1", (MAX_SEATS,)),  # mortos taken by a discard, turn not started since
            ("taken", "i1", (NUM_TEAMS,)),  # mortos taken
            ("clean", "i1", (NUM_TEAMS,)),  # canastas
            ("dirty", "i1", (NUM_TEAMS,)),
            ("opened", "i1", (NUM_TEAMS,)),  # the first meld has its minimum (or none is asked)
            ("opening", "i1"),  # the first meld below its minimum: run slot, or RUN_SLOTS + set slot; -1: none
            ("top", "i1"),  # card that must be melded since the pile was taken; -1: none
            ("single", "i1"),  # card that came as a pile of one and may not go back alone; -1: none
            ("locked_jokers", "i1"),
            ("end_reason", "i1"),
            ("out_team", "i1"),  # who went out; -1: nobody
            ("hand", "i1", (MAX_SEATS, NUM_CARD_TYPES)),
            ("known", "i1", (MAX_SEATS, NUM_CARD_TYPES)),  # of the hand: what everybody knows to be there
            ("pile_count", "i1", (NUM_CARD_TYPES,)),
            ("melded", "i1", (NUM_CARD_TYPES,)),  # both teams
            ("bottom_count", "i1", (NUM_CARD_TYPES,)),  # cards seen going to the bottom of the stock
            ("hidden", "i1", (NUM_CARD_TYPES,)),  # cards of which nobody knows in public where they are
            ("run", "i1", (NUM_TEAMS, RUN_SLOTS, 4)),  # LOW, HIGH, RUN_WILD, WILD_POSITION
            # fields from here on are seldom needed, so that they lie apart
            ("discarded", "i1", (MAX_SEATS, NUM_CARD_TYPES)),  # everything the seat ever discarded
            ("set", "i1", (NUM_TEAMS, SET_SLOTS, 5)),  # naturals by suit, SET_WILD
            ("pile", "i1", (NUM_CARDS_MAX,)),  # bottom to top
            ("pile_size", "i1"),
            ("taken_size", "i1"),  # cards of the pile taken, which stay in `pile` while a duty is left of them
            ("stock", "i1", (NUM_CARDS_MAX,)),  # the next to be drawn last
            ("stock_size", "i1"),
            ("bottom", "i1"),  # so many cards at the bottom of the stock have been seen
            ("mortos_left", "i1"),
            ("morto", "i1", (MAX_MORTOS, MAX_MORTO_SIZE)),  # the next to be taken last
        ],
    )
)

RULES_DTYPE = np.dtype(
    (
        np.record,
        [(name, "i4") for name in RULE_FIELDS]
        + [
            ("points", "i2", (NUM_CARD_TYPES,)),  # of a card
            ("copies", "i1", (NUM_CARD_TYPES,)),  # of a card in the deck
            ("observed", "i1", (len(RULE_FIELDS),)),  # the fields as an observation shows them
        ],
    )
)


# an observation shows a rule field divided by its unit, at most 127
RULE_UNITS = {
    **dict.fromkeys(RULE_FIELDS, 1),
    **{name: 5 for name in RULE_FIELDS if name.startswith(("points_", "first_meld"))},
    **{name: 50 for name in RULE_FIELDS if name.startswith(("bonus_", "penalty_", "target"))},
    "max_turns": 10,
}


def rules_table(rules: list[Rules]) -> Array:
    """The rows that the kernel reads, one for each of `rules`: [len(rules)] RULES_DTYPE."""
    table = np.zeros(len(rules), RULES_DTYPE)
    for row, one in zip(table, rules, strict=True):
        for name, value in zip(RULE_FIELDS, one.row(), strict=True):
            row[name] = value
        row["points"] = [one.points(card) for card in range(NUM_CARD_TYPES)]
        row["copies"] = [*[COPIES] * JOKER, one.num_jokers]
        row["observed"] = [min(int(row[name]) // RULE_UNITS[name], 127) for name in RULE_FIELDS]
    return table


@cache
def rules_row(rules: Rules) -> Array:
    """The table of one rules row, made once for equal rules; read only."""
    return rules_table([rules])


@kernel
def team_of(seat: int) -> int:
    return seat & 1


@kernel
def gain(s: Record, seat: int, card: int) -> None:
    """A card comes to a hand."""
    count = int(s.hand[seat, card]) + 1
    s.hand[seat, card] = count
    s.hand_size[seat] = int(s.hand_size[seat]) + 1
    if count == 1:
        s.held[seat] = int(s.held[seat]) | (1 << card)
    elif count == 2:
        s.twin[seat] = int(s.twin[seat]) | (1 << card)


@kernel
def lose(s: Record, seat: int, card: int) -> None:
    """A card leaves a hand; if its place there was known, one copy less is."""
    count = int(s.hand[seat, card]) - 1
    s.hand[seat, card] = count
    s.hand_size[seat] = int(s.hand_size[seat]) - 1
    if count == 0:
        s.held[seat] = int(s.held[seat]) & ~(1 << card)
    elif count == 1:
        s.twin[seat] = int(s.twin[seat]) & ~(1 << card)
    if int(s.known[seat, card]) > 0:
        s.known[seat, card] = int(s.known[seat, card]) - 1
        s.hidden[card] = int(s.hidden[card]) + 1


@kernel
def reveal(s: Record, seat: int, card: int) -> None:
    """Everybody knows now that the hand holds one more of this card."""
    s.known[seat, card] = int(s.known[seat, card]) + 1
    s.hidden[card] = int(s.hidden[card]) - 1


@kernel
def count_melded(s: Record, card: int, by: int) -> None:
    """Cards come to the table, or leave it by a swap."""
    s.melded[card] = int(s.melded[card]) + by
    s.hidden[card] = int(s.hidden[card]) - by


@kernel
def count_pile(s: Record, card: int, by: int) -> None:
    """Cards come to the pile or leave it."""
    s.pile_count[card] = int(s.pile_count[card]) + by
    s.hidden[card] = int(s.hidden[card]) - by


@kernel
def count_bottom(s: Record, card: int, by: int) -> None:
    """Cards go to the bottom of the stock in sight of all, or are drawn from there."""
    s.bottom_count[card] = int(s.bottom_count[card]) + by
    s.hidden[card] = int(s.hidden[card]) - by


@kernel
def may_take_morto(s: Record, r: Record, team: int) -> bool:
    """The team has a morto to come."""
    return int(s.mortos_left) > 0 and int(s.taken[team]) < int(r.mortos_per_team)


@kernel
def has_closing_canasta(s: Record, r: Record, team: int) -> bool:
    """The team has a canasta that allows going out (`close_with`)."""
    return int(s.clean[team]) > 0 or (int(s.dirty[team]) > 0 and int(r.close_with) == CLOSE_ANY)


@kernel
def is_wild_card(card: int) -> bool:
    return card == JOKER or card % 13 == 1


@kernel
def wild_cards(kinds: int) -> int:
    """The cards of kinds of wild (bit 1 joker, bit 2 + suit a two) as a mask of types."""
    twos = (kinds >> 2 & 1) << 1 | (kinds >> 3 & 1) << 14 | (kinds >> 4 & 1) << 27 | (kinds >> 5 & 1) << 40
    return (kinds >> WILD_JOKER & 1) << JOKER | twos


@kernel
def is_open_duty(s: Record) -> bool:
    """Something must still be done before the turn may end: use the top card, bring the first meld to its minimum."""
    return int(s.top) >= 0 or int(s.opening) >= 0


@kernel
def hand_mask(s: Record, seat: int) -> tuple[int, int]:
    """Two masks of card types: at least one, at least two in the hand that may be used now (buried cards may not)."""
    held, twin = int(s.held[seat]), int(s.twin[seat])
    if int(s.locked) == 0:
        return held, twin
    locked, locked_twin = int(s.locked), int(s.locked_twin)
    free = (held & ~locked) | (twin & ~locked_twin)
    free_twin = twin & ~locked
    jokers = int(s.hand[seat, JOKER]) - int(s.locked_jokers)
    joker_bit = 1 << JOKER
    free = free | joker_bit if jokers >= 1 else free & ~joker_bit
    free_twin = free_twin | joker_bit if jokers >= 2 else free_twin & ~joker_bit
    return free, free_twin


@kernel
def runs_of_suit(s: Record, team: int, suit: int) -> int:
    """How many runs of a suit a team has."""
    count: int = count_bits(int(s.run_slots[team]) >> (suit * RUNS_PER_SUIT) & _SUIT_SLOTS)
    return count


@kernel
def has_room_for_run(s: Record, r: Record, team: int, suit: int) -> bool:
    """The team may lay out another run of the suit (`max_runs_per_suit`)."""
    last = suit * RUNS_PER_SUIT + int(r.max_runs_per_suit) - 1
    return int(s.run_slots[team]) >> last & 1 == 0


@kernel
def has_room_for_set(s: Record, team: int, rank: int) -> bool:
    """A set slot of the rank is free."""
    return int(s.set_slots[team]) >> (rank * SETS_PER_RANK + SETS_PER_RANK - 1) & 1 == 0


@kernel
def run_lanes(mask: int) -> int:
    """The cards of all suits as run positions, 16 bits a suit: bit 16 * suit + p - 1, the ace at both ends."""
    lanes = mask & 0x1FFF | (mask >> 13 & 0x1FFF) << 16 | (mask >> 26 & 0x1FFF) << 32 | (mask >> 39 & 0x1FFF) << 48
    return lanes | (lanes & 0x0001000100010001) << 13


@kernel
def run_positions(mask: int, suit: int) -> int:
    """The cards of a suit as run positions: bit p - 1 for position p, the ace at both ends (bits 0 and 13)."""
    ranks = (mask >> (13 * suit)) & 0x1FFF
    return ranks | (ranks & 1) << 13
