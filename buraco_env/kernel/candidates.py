"""The legal actions with features of what each leads to, for policies that score actions."""

from __future__ import annotations

import numpy as np

from buraco_env.cards import JOKER, NUM_CARD_TYPES
from buraco_env.kernel.actions import (
    ARGS,
    CARDS_USED,
    HIGH_END,
    K_DISCARD,
    K_DRAW,
    K_END_TURN,
    K_LAY_RUN,
    K_LAY_SET,
    K_LAY_WILD_SET,
    K_RUN,
    K_SET,
    K_TAKE,
    K_WILD_RUN_OF_4,
    K_WILD_SET,
    KIND,
    LAST,
    LOW_END,
    NUM_ACTIONS,
    PLACE,
    SLOT,
    SUIT,
    USES,
    USES_TWICE,
    WILD,
    WILD_AT,
)
from buraco_env.kernel.jit import count_bits, kernel, lowest_bit
from buraco_env.kernel.layout import Layout, make_layout
from buraco_env.kernel.melds import (
    canasta_kind,
    lay_natural,
    lay_wild,
    packed_run,
    run_bonus,
    run_high,
    run_length,
    run_low,
    run_wild,
    run_wild_at,
    set_bonus,
    set_size,
)
from buraco_env.kernel.moves import TWO_RANK, has_room_on_set, wild_kinds
from buraco_env.kernel.play import run_after
from buraco_env.kernel.score import points_of
from buraco_env.kernel.state import (
    MELD,
    NO_WILD,
    RANK_MASK,
    RUNS_PER_SUIT,
    SET_WILD,
    SETS_PER_RANK,
    WILD_CARDS,
    WILD_JOKER,
    WILD_TWO,
    Array,
    Record,
    may_take_morto,
    run_positions,
    team_of,
    wild_cards,
)

_FORM = "0 no meld, 1 with a wild, 2 without"
FEATURES: Layout = make_layout(
    [
        ("kind", (1,), 1 / 12, "kind of action, an index into `KINDS`"),
        ("card", (1,), 1 / 53, "card type + 1: the card discarded or laid off, the lowest of a new meld; 0: none"),
        ("wild", (1,), 1 / 5, "kind of wild laid: 1 joker, 2 to 5 a two of C D H S; 0: none"),
        ("suit", (1,), 1 / 4, "suit + 1 of the run concerned; 0: no run"),
        ("rank", (1,), 1 / 13, "rank of the set concerned, 1 ace to 13 king; 0: no set"),
        ("low", (1,), 1 / 14, "lowest position of the run afterwards"),
        ("high", (1,), 1 / 14, "highest position of the run afterwards"),
        ("wild_at", (1,), 1 / 14, "position of the run's wild afterwards"),
        ("length_before", (1,), 1 / 7, "cards of the meld before"),
        ("length_after", (1,), 1 / 7, "cards of the meld afterwards"),
        ("form_before", (1,), 1 / 2, f"the meld before: {_FORM}"),
        ("form_after", (1,), 1 / 2, f"the meld afterwards: {_FORM}"),
        ("canasta_before", (1,), 1 / 2, "the meld before: 0 no canasta, 1 dirty, 2 clean"),
        ("canasta_after", (1,), 1 / 2, "the meld afterwards: 0 no canasta, 1 dirty, 2 clean"),
        ("points", (2,), 1 / 10, "change of what lies open: hundreds, rest"),
        ("cards_left", (1,), 1 / 11, "cards in hand afterwards, before a morto"),
        ("takes_morto", (1,), 1, "1: it empties the hand and brings a morto"),
        ("goes_out", (1,), 1, "1: the team goes out"),
        ("swap", (1,), 1, "1: it frees a wild for the hand"),
        ("pile_gain", (1,), 1 / 10, "cards that come to the hand from the pile"),
        ("copies_left", (1,), 1 / 2, "copies of the card left in hand"),
        ("hand_near", (1,), 1 / 4, "cards in hand that could meld with the card: of its rank, or near it in its suit"),
        ("fits_mine", (1,), 1, "discards: my team's table could take the card"),
        ("fits_theirs", (1,), 1, "discards: the other team's table could take the card"),
        ("next_near", (1,), 1 / 4, "discards: cards known in the next seat's hand that could meld with it"),
    ]
)
(_KIND, _CARD, _WILD, _SUIT, _RANK, _LOW, _HIGH, _WILD_AT, _LENGTH_BEFORE, _LENGTH_AFTER, _FORM_BEFORE, _FORM_AFTER,
 _CANASTA_BEFORE, _CANASTA_AFTER, _POINTS, _CARDS_LEFT, _TAKES_MORTO, _GOES_OUT, _SWAP, _PILE_GAIN, _COPIES_LEFT,
 _HAND_NEAR, _FITS_MINE, _FITS_THEIRS, _NEXT_NEAR) = (piece.slice.start for piece in FEATURES)  # fmt: skip
NUM_FEATURES = FEATURES.size


def _outlines() -> Array:
    """What an action's id alone says of its features: [NUM_ACTIONS, NUM_FEATURES]."""
    rows = np.zeros((NUM_ACTIONS, NUM_FEATURES), np.int8)
    kind, slot = ARGS[:, KIND], ARGS[:, SLOT]
    rows[:, _KIND], rows[:, _WILD], rows[:, _SUIT] = kind, ARGS[:, WILD], ARGS[:, SUIT] + 1
    has_card = USES > 0
    rows[has_card, _CARD] = [lowest.bit_length() for lowest in (USES[has_card] & -USES[has_card]).tolist()]
    new_set, on_set = (kind == K_SET) | (kind == K_WILD_SET), (kind == K_LAY_SET) | (kind == K_LAY_WILD_SET)
    rows[new_set, _RANK], rows[on_set, _RANK] = slot[new_set] + 1, slot[on_set] // SETS_PER_RANK + 1
    new_run = (kind >= K_RUN) & (kind <= K_WILD_RUN_OF_4)
    for column, arg in ((_LOW, PLACE), (_HIGH, LAST), (_WILD_AT, WILD_AT)):
        rows[new_run, column] = ARGS[new_run, arg]
    new = new_run | new_set
    rows[new, _LENGTH_AFTER] = CARDS_USED[new]
    rows[new, _FORM_AFTER] = np.where(ARGS[new, WILD] > 0, 1, 2)
    return rows


OUTLINES = _outlines()


@kernel
def _put_before_after(row: Array, before: int, wild_before: int, after: int, wild_after: int) -> None:
    """Lengths and forms of the meld that a lay-off changes."""
    row[_LENGTH_BEFORE] = before
    row[_LENGTH_AFTER] = after
    row[_FORM_BEFORE] = 1 if wild_before else 2
    row[_FORM_AFTER] = 1 if wild_after else 2
    row[_CANASTA_BEFORE] = canasta_kind(before, wild_before)
    row[_CANASTA_AFTER] = canasta_kind(after, wild_after)


@kernel
def _put_on_run(s: Record, r: Record, team: int, action: int, row: Array) -> int:
    """A lay-off on a run: the change of the canasta bonus, less the points of a freed wild."""
    before, after = packed_run(s, team, int(ARGS[action, SLOT])), run_after(s, r, team, action)
    change = run_bonus(r, after) - run_bonus(r, before)
    _put_before_after(row, run_length(before), run_wild(before), run_length(after), run_wild(after))
    if run_length(before) == run_length(after):
        row[_SWAP] = 1
        change -= int(r.points[int(WILD_CARDS[run_wild(before)])])
    row[_LOW] = run_low(after)
    row[_HIGH] = run_high(after)
    row[_WILD_AT] = run_wild_at(after)
    return change


@kernel
def _put_on_set(s: Record, r: Record, team: int, action: int, row: Array) -> int:
    """A lay-off on a set: the change of the canasta bonus."""
    slot, wild = int(ARGS[action, SLOT]), int(ARGS[action, WILD])
    size, before = set_size(s, team, slot), int(s.set[team, slot, SET_WILD])
    after = wild if wild else before
    _put_before_after(row, size, before, size + 1, after)
    return set_bonus(r, size + 1, after) - set_bonus(r, size, before)


def _near(card: int) -> int:
    """Card types that a natural card could meld with: its rank, and its suit up to two away; bits. A joker: none."""
    if card == JOKER:
        return 0
    rank, suit = card % 13, card // 13
    near = {rank + by for by in range(-2, 3)} | ({11, 12} if rank == 0 else {0} if rank >= 11 else set())
    return RANK_MASK << rank | sum(1 << (suit * 13 + other) for other in near if 0 <= other < 13 and other != rank)


NEAR = np.array([_near(card) for card in range(NUM_CARD_TYPES)], np.int64)


@kernel
def _fitting_runs(s: Record, r: Record, team: int, held: int) -> int:
    """The cards of a mask that a team's runs could take, and the kinds of wild (shifted above the cards)."""
    slots, fits, kinds = int(s.run_slots[team]), 0, wild_kinds(held)
    wilds = 0
    while slots:
        slot = lowest_bit(slots)
        slots &= slots - 1
        run, suit = packed_run(s, team, slot), slot // RUNS_PER_SUIT
        todo = run_positions(held, suit)
        while todo:
            position = lowest_bit(todo) + 1
            todo &= todo - 1
            if lay_natural(r, run, suit, position):
                fits |= 1 << (suit * 13 + (position - 1) % 13)
        own = WILD_TWO + suit
        if kinds & ~(1 << own) & ~wilds and (
            lay_wild(r, run, suit, HIGH_END, WILD_JOKER) or lay_wild(r, run, suit, LOW_END, WILD_JOKER)
        ):
            wilds |= kinds & ~(1 << own)
        if kinds >> own & 1 and (lay_wild(r, run, suit, HIGH_END, own) or lay_wild(r, run, suit, LOW_END, own)):
            wilds |= 1 << own
    return fits | wild_cards(wilds)


@kernel
def fitting(s: Record, r: Record, team: int, held: int) -> int:
    """The cards of a mask of types that a team's melds could take, as naturals or as wilds."""
    fits, wilds, kinds = 0, 0, wild_kinds(held)
    if int(s.run_slots[team]):
        fits = _fitting_runs(s, r, team, held)
    slots = int(s.set_slots[team])
    while slots:
        slot = lowest_bit(slots)
        slots &= slots - 1
        rank = slot // SETS_PER_RANK
        if has_room_on_set(s, r, team, slot):
            fits |= held & RANK_MASK << rank
            if int(s.set[team, slot, SET_WILD]) == NO_WILD:
                wilds |= kinds & 1 << WILD_JOKER if rank == TWO_RANK else kinds
    return fits | wild_cards(wilds)


@kernel
def fitting_discards(s: Record, r: Record, team: int) -> int:
    """The cards in the hand of the seat to move that a team's melds could take, if it may discard now; bits."""
    return fitting(s, r, team, int(s.held[int(s.seat)])) if int(s.phase) == MELD else 0


@kernel
def known_near(s: Record, seat: int, card: int) -> int:
    """How many cards that everybody knows in a hand could meld with a card."""
    total, todo = 0, int(s.held[seat]) & int(NEAR[card])
    while todo:
        total += int(s.known[seat, lowest_bit(todo)])
        todo &= todo - 1
    return total


@kernel
def put_features(s: Record, r: Record, action: int, mine: int, theirs: int, row: Array) -> None:
    """The features of one legal action: fills `row` [FEATURES.size] int8.

    `mine`, `theirs`: `fitting_discards` of both teams.
    """
    for index in range(NUM_FEATURES):
        row[index] = OUTLINES[action, index]
    seat, kind = int(s.seat), int(ARGS[action, KIND])
    team, size = team_of(seat), int(s.pile_size)
    left = int(s.hand_size[seat]) - int(CARDS_USED[action]) + int(kind == K_DRAW)
    if kind == K_TAKE:
        card = int(s.pile[size - 1])
        row[_CARD] = card + 1
        row[_PILE_GAIN] = size
        left += size
        _put_hand(s, seat, card, 0, row)
    elif kind > K_TAKE and kind != K_END_TURN:
        card = int(OUTLINES[action, _CARD]) - 1
        _put_hand(s, seat, card, 1 + (int(USES_TWICE[action]) >> card & 1), row)
        if kind == K_DISCARD:
            row[_FITS_MINE] = mine >> card & 1
            row[_FITS_THEIRS] = theirs >> card & 1
            row[_NEXT_NEAR] = known_near(s, (seat + 1) % int(r.num_seats), card)
        else:
            points = points_of(r, int(USES[action]), int(USES_TWICE[action]))
            if kind >= K_LAY_SET:
                points += _put_on_set(s, r, team, action, row)
            elif kind >= K_LAY_RUN:
                points += _put_on_run(s, r, team, action, row)
                left += int(row[_SWAP])
            row[_POINTS] = points // 100
            row[_POINTS + 1] = points % 100
    row[_CARDS_LEFT] = left
    if left == 0:
        morto = may_take_morto(s, r, team)
        row[_TAKES_MORTO] = int(morto)
        row[_GOES_OUT] = int(not morto)


@kernel
def _put_hand(s: Record, seat: int, card: int, used: int, row: Array) -> None:
    """What the hand holds beside the card of the action."""
    row[_COPIES_LEFT] = int(s.hand[seat, card]) - used
    near = int(NEAR[card])
    if near:
        row[_HAND_NEAR] = count_bits(int(s.held[seat]) & near) + count_bits(int(s.twin[seat]) & near) - used
