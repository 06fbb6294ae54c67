"""The legal actions with features of what each leads to, for policies that score actions."""

from __future__ import annotations

from buraco_env.cards import JOKER
from buraco_env.kernel.actions import (
    ARGS,
    CARDS_USED,
    HIGH_END,
    K_DISCARD,
    K_END_TURN,
    K_TAKE,
    K_WILD_RUN_OF_4,
    K_WILD_SET,
    KIND,
    LAST,
    LOW_END,
    PLACE,
    SLOT,
    SUIT,
    USES,
    USES_TWICE,
    WILD,
    WILD_AT,
)
from buraco_env.kernel.jit import kernel, lowest_bit
from buraco_env.kernel.layout import Layout, make_layout
from buraco_env.kernel.melds import (
    canasta_kind,
    lay_natural,
    lay_wild,
    pack,
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
from buraco_env.kernel.moves import is_swap
from buraco_env.kernel.play import run_after
from buraco_env.kernel.score import points_of
from buraco_env.kernel.state import (
    RUNS_PER_SUIT,
    SET_WILD,
    SETS_PER_RANK,
    WILD_CARDS,
    WILD_JOKER,
    Array,
    Record,
    is_wild_card,
    may_take_morto,
    team_of,
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
        ("goes_out", (1,), 1, "1: it ends the deal"),
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


@kernel
def _form(length: int, wild: int) -> int:
    return 0 if length == 0 else (1 if wild else 2)


@kernel
def _put_before_after(row: Array, before: int, wild_before: int, after: int, wild_after: int) -> None:
    """Lengths and forms of the meld before and afterwards."""
    row[_LENGTH_BEFORE] = before
    row[_LENGTH_AFTER] = after
    row[_FORM_BEFORE] = _form(before, wild_before)
    row[_FORM_AFTER] = _form(after, wild_after)
    row[_CANASTA_BEFORE] = canasta_kind(before, wild_before)
    row[_CANASTA_AFTER] = canasta_kind(after, wild_after)


@kernel
def _put_run(s: Record, r: Record, team: int, action: int, row: Array) -> int:
    """A new run or a lay-off on one: the change of the canasta bonus, less the points of a freed wild."""
    row[_SUIT] = int(ARGS[action, SUIT]) + 1
    before, bonus = 0, 0
    if int(ARGS[action, KIND]) <= K_WILD_RUN_OF_4:
        low, high = int(ARGS[action, PLACE]), int(ARGS[action, LAST])
        after = pack(low, high, int(ARGS[action, WILD]), int(ARGS[action, WILD_AT]))
        _put_before_after(row, 0, 0, run_length(after), run_wild(after))
    else:
        before = packed_run(s, team, int(ARGS[action, SLOT]))
        after = run_after(s, r, team, action)
        bonus = run_bonus(r, after) - run_bonus(r, before)
        _put_before_after(row, run_length(before), run_wild(before), run_length(after), run_wild(after))
        if is_swap(s, r, action):
            row[_SWAP] = 1
            bonus -= int(r.points[int(WILD_CARDS[run_wild(before)])])
    row[_LOW] = run_low(after)
    row[_HIGH] = run_high(after)
    row[_WILD_AT] = run_wild_at(after)
    return bonus


@kernel
def _put_set(s: Record, r: Record, team: int, action: int, row: Array) -> int:
    """A new set or a lay-off on one: the change of the canasta bonus."""
    slot, wild = int(ARGS[action, SLOT]), int(ARGS[action, WILD])
    if int(ARGS[action, KIND]) <= K_WILD_SET:
        row[_RANK] = slot + 1
        _put_before_after(row, 0, 0, 3, wild)
        return 0
    row[_RANK] = slot // SETS_PER_RANK + 1
    size, before = set_size(s, team, slot), int(s.set[team, slot, SET_WILD])
    after = wild if wild else before
    _put_before_after(row, size, before, size + 1, after)
    return set_bonus(r, size + 1, after) - set_bonus(r, size, before)


@kernel
def near_mask(card: int) -> int:
    """Card types that a natural card could meld with: its rank, and its suit up to two away; bits."""
    rank, suit = card % 13, card // 13
    mask = 0
    for other in range(4):
        mask |= 1 << (other * 13 + rank)
    for by in range(-2, 3):
        if 0 <= rank + by < 13:
            mask |= 1 << (suit * 13 + rank + by)
    if rank == 0:
        mask |= 3 << (suit * 13 + 11)
    if rank >= 11:
        mask |= 1 << (suit * 13)
    return mask


@kernel
def cards_near(counts: Array, mask: int) -> int:
    """How many of the counted cards [53] lie in a mask of types."""
    total = 0
    while mask:
        total += int(counts[lowest_bit(mask)])
        mask &= mask - 1
    return total


@kernel
def fits_table(s: Record, r: Record, team: int, card: int) -> bool:
    """A team's melds could take this card, as a natural or as a wild."""
    wild = 0 if not is_wild_card(card) else WILD_JOKER if card == JOKER else 2 + card // 13
    slots = int(s.run_slots[team])
    if not wild:
        slots &= ((1 << RUNS_PER_SUIT) - 1) << (card // 13 * RUNS_PER_SUIT)
    while slots:
        slot = lowest_bit(slots)
        slots &= slots - 1
        run, suit = packed_run(s, team, slot), slot // RUNS_PER_SUIT
        if suit == card // 13:
            position = card % 13 + 1
            if lay_natural(r, run, suit, position) or (position == 1 and lay_natural(r, run, suit, 14)):
                return True
        if wild and (lay_wild(r, run, suit, HIGH_END, wild) or lay_wild(r, run, suit, LOW_END, wild)):
            return True
    slots = int(s.set_slots[team])
    if not wild:
        slots &= ((1 << SETS_PER_RANK) - 1) << (card % 13 * SETS_PER_RANK)
    while slots:
        slot = lowest_bit(slots)
        slots &= slots - 1
        rank = slot // SETS_PER_RANK
        natural = card != JOKER and card % 13 == rank
        free_wild = wild and int(s.set[team, slot, SET_WILD]) == 0 and (rank != 1 or card == JOKER)
        if (natural or free_wild) and (int(r.max_set) == 0 or set_size(s, team, slot) < int(r.max_set)):
            return True
    return False


@kernel
def _put_discard(s: Record, r: Record, seat: int, card: int, row: Array) -> None:
    """What others could do with a card that is discarded."""
    team = team_of(seat)
    row[_FITS_MINE] = int(fits_table(s, r, team, card))
    row[_FITS_THEIRS] = int(fits_table(s, r, 1 - team, card))
    if card != JOKER:
        following = (seat + 1) % int(r.num_seats)
        row[_NEXT_NEAR] = cards_near(s.known[following], near_mask(card))


@kernel
def put_features(s: Record, r: Record, action: int, row: Array) -> None:
    """The features of one legal action: fills `row` [FEATURES.size] int8."""
    for index in range(NUM_FEATURES):
        row[index] = 0
    seat, kind = int(s.seat), int(ARGS[action, KIND])
    team = team_of(seat)
    hand = int(s.hand_size[seat])
    row[_KIND] = kind
    row[_CARDS_LEFT] = hand
    if kind == K_TAKE:
        size = int(s.pile_size)
        row[_PILE_GAIN] = size
        row[_CARDS_LEFT] = hand + size
        _put_card(s, seat, int(s.pile[size - 1]), 0, row)
        return
    if kind < K_TAKE or kind == K_END_TURN:
        return
    card = lowest_bit(int(USES[action]))
    _put_card(s, seat, card, 1 + (int(USES_TWICE[action]) >> card & 1), row)
    row[_WILD] = ARGS[action, WILD]
    left = hand - int(CARDS_USED[action])
    if kind == K_DISCARD:
        _put_discard(s, r, seat, card, row)
    else:
        on_run = ARGS[action, SUIT] >= 0
        change = _put_run(s, r, team, action, row) if on_run else _put_set(s, r, team, action, row)
        left += int(row[_SWAP])
        points = points_of(r, int(USES[action]), int(USES_TWICE[action])) + change
        row[_POINTS] = points // 100
        row[_POINTS + 1] = points % 100
    row[_CARDS_LEFT] = left
    if left == 0:
        morto = may_take_morto(s, r, team)
        row[_TAKES_MORTO] = int(morto)
        row[_GOES_OUT] = int(not morto)


@kernel
def _put_card(s: Record, seat: int, card: int, used: int, row: Array) -> None:
    """The card of the action and what the hand holds beside it."""
    row[_CARD] = card + 1
    row[_COPIES_LEFT] = int(s.hand[seat, card]) - used
    if card != JOKER:
        row[_HAND_NEAR] = cards_near(s.hand[seat], near_mask(card)) - used
