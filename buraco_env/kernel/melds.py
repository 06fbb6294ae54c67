"""May these cards lie together, where does the wild stand, is it clean, what is it worth.

A run is packed into one int, as in its slot: low position, high position, kind of wild, position of the wild, a byte
each; 0 is no run. Where wilds are fixed the packed run is the player's choice; where they move it is a function of the
cards (`layout`).
"""

from __future__ import annotations

from buraco_env.kernel.jit import count_bits, highest_bit, kernel, lowest_bit
from buraco_env.kernel.state import (
    ACE_TO_ACE_ALLOWED,
    ACE_TO_ACE_WILD_ONLY,
    FIXED,
    HIGH,
    LOW,
    LOW_END_ANY,
    NO_WILD,
    RUN_WILD,
    SET_WILD,
    SLIDES,
    WILD_CARDS,
    WILD_POSITION,
    WILD_TWO,
    Record,
)

CANASTA = 7
TWO = 2  # the position where a two of the run's suit is natural
MIDDLE = 0x1FFC  # positions 3 to 13: naturals that can stand nowhere else


@kernel
def pack(low: int, high: int, wild: int, wild_at: int) -> int:
    return low | high << 8 | wild << 16 | wild_at << 24


@kernel
def packed_run(s: Record, team: int, slot: int) -> int:
    """The run in a slot, packed; 0 if the slot is empty."""
    return pack(
        int(s.run[team, slot, LOW]),
        int(s.run[team, slot, HIGH]),
        int(s.run[team, slot, RUN_WILD]),
        int(s.run[team, slot, WILD_POSITION]),
    )


@kernel
def run_low(run: int) -> int:
    return run & 0xFF


@kernel
def run_high(run: int) -> int:
    return run >> 8 & 0xFF


@kernel
def run_wild(run: int) -> int:
    return run >> 16 & 0xFF


@kernel
def run_wild_at(run: int) -> int:
    return run >> 24


@kernel
def run_length(run: int) -> int:
    return run_high(run) - run_low(run) + 1


@kernel
def run_naturals(run: int) -> int:
    """Positions with a natural card, as bits."""
    span = (1 << run_high(run)) - (1 << (run_low(run) - 1))
    return span & ~(1 << (run_wild_at(run) - 1)) if run_wild(run) else span


@kernel
def may_run(r: Record, low: int, high: int, wild_at: int) -> bool:
    """The rules allow a run of this span with a wild at this position (0: none)."""
    if low < 1 or high > 14 or high - low + 1 > int(r.max_run):
        return False
    if low == 1 and high == 14:
        at_end = wild_at == 1 or wild_at == 14
        allowed = int(r.ace_to_ace)
        if not (allowed == ACE_TO_ACE_ALLOWED or (allowed == ACE_TO_ACE_WILD_ONLY and at_end)):
            return False
    if wild_at == 0:
        return True
    if int(r.wild_min_run) == 0 or high - low + 1 < int(r.wild_min_run):
        return False
    return wild_at != low or low == 1 or int(r.wild_low_end) == LOW_END_ANY


@kernel
def _place(r: Record, naturals: int, suit: int, wild: int) -> int:
    """The run of these natural positions and this wild (0: none): the wild in the gap, else high, else low."""
    low, high = lowest_bit(naturals) + 1, highest_bit(naturals) + 1
    missing = high - low + 1 - count_bits(naturals)
    if wild == NO_WILD:
        return pack(low, high, 0, 0) if missing == 0 and may_run(r, low, high, 0) else 0
    own_two = wild == WILD_TWO + suit  # at position 2 it would be natural
    if missing == 1:
        span = (1 << high) - (1 << (low - 1))
        gap = lowest_bit(span & ~naturals) + 1
        if (own_two and gap == TWO) or not may_run(r, low, high, gap):
            return 0
        return pack(low, high, wild, gap)
    if missing > 1:
        return 0
    if not (own_two and high + 1 == TWO) and may_run(r, low, high + 1, high + 1):
        return pack(low, high + 1, wild, high + 1)
    if not (own_two and low - 1 == TWO) and may_run(r, low - 1, high, low - 1):
        return pack(low - 1, high, wild, low - 1)
    return 0


@kernel
def _standing(run: int) -> int:
    """How good a place the wild has: 0 no run, 1 low end, 2 high end, 3 gap, 4 no wild."""
    if run == 0:
        return 0
    if run_wild(run) == NO_WILD:
        return 4
    if run_wild_at(run) == run_low(run):
        return 1
    return 2 if run_wild_at(run) == run_high(run) else 3


@kernel
def _place_aces(r: Record, middle: int, aces: int, suit: int, wild: int) -> int:
    """`_place` with the aces where they stand best: the better place of the wild, then the high end."""
    if aces == 0:
        return _place(r, middle, suit, wild)
    if aces == 2:
        return _place(r, middle | 1 | 1 << 13, suit, wild)
    high = _place(r, middle | 1 << 13, suit, wild)
    low = _place(r, middle | 1, suit, wild)
    return low if _standing(low) > _standing(high) else high


@kernel
def layout(r: Record, suit: int, middle: int, aces: int, twos: int, other: int) -> int:
    """The run that these cards make where wilds move, packed; 0 if they can't lie together.

    `middle`: bits of positions 3 to 13; `aces`, `twos`: how many of the suit; `other`: a wild of another kind, 0 for
    none. Clean before dirty; then gap, high end, low end; then the high ace (`rules.md` §3).
    """
    if twos + int(other != NO_WILD) > 2 or aces > 2 or (middle == 0 and aces == 0):
        return 0
    if other != NO_WILD:
        return _place_aces(r, middle | (twos << 1), aces, suit, other)
    if twos == 2:
        return _place_aces(r, middle | 2, aces, suit, WILD_TWO + suit)
    if twos == 1:
        clean = _place_aces(r, middle | 2, aces, suit, NO_WILD)
        return clean if clean else _place_aces(r, middle, aces, suit, WILD_TWO + suit)
    return _place_aces(r, middle, aces, suit, NO_WILD)


@kernel
def lay_natural(r: Record, run: int, suit: int, position: int) -> int:
    """The run after laying the natural card of a position on it, packed; 0 if that is not allowed.

    Where wilds are fixed: at an end, or where the wild stands (the swap: it leaves the run).
    """
    low, high, wild, wild_at = run_low(run), run_high(run), run_wild(run), run_wild_at(run)
    if int(r.wild_moves) == FIXED:
        if wild and position == wild_at:
            return pack(low, high, 0, 0) if may_run(r, low, high, 0) else 0
        if position == low - 1:
            return pack(position, high, wild, wild_at) if may_run(r, position, high, wild_at) else 0
        if position == high + 1:
            return pack(low, position, wild, wild_at) if may_run(r, low, position, wild_at) else 0
        return 0
    naturals = run_naturals(run)
    aces, twos = (naturals & 1) + (naturals >> 13 & 1), naturals >> 1 & 1
    other = 0 if wild == WILD_TWO + suit else wild
    wild_two = int(wild != NO_WILD and other == NO_WILD)
    bit = 1 << (position - 1)
    if position == 1 or position == 14:
        after = layout(r, suit, naturals & MIDDLE, aces + 1, twos + wild_two, other)
        return after if after and _ace_comes_to(run, after) == position else 0
    if naturals & bit:
        return 0
    if position == TWO:
        after = layout(r, suit, naturals & MIDDLE, aces, twos + wild_two + 1, other)
        return after if run_wild(after) == wild else 0
    after = layout(r, suit, naturals & MIDDLE | bit, aces, twos + wild_two, other)
    if after and int(r.wild_moves) == SLIDES and twos and not run_naturals(after) & 2:
        return 0  # a natural never becomes wild again
    return after


@kernel
def _ace_comes_to(before: int, after: int) -> int:
    """The end where an ace stands now and none stood before."""
    if run_naturals(after) >> 13 & 1 and not run_naturals(before) >> 13 & 1:
        return 14
    return 1


@kernel
def lay_wild(r: Record, run: int, suit: int, end: int, wild: int) -> int:
    """The run after laying a wild on an end of it, packed; 0 if that is not allowed.

    Where wilds move, `end` is 1 (high) and the layout decides. A two of the suit that takes its natural place and
    leaves the run's wild as it was is no wild: `lay_natural` lays it.
    """
    old = run_wild(run)
    low, high = run_low(run), run_high(run)
    own_two = wild == WILD_TWO + suit
    if int(r.wild_moves) == FIXED:
        at = high + 1 if end else low - 1
        if old or (own_two and at == TWO):
            return 0
        low, high = min(low, at), max(high, at)
        return pack(low, high, wild, at) if may_run(r, low, high, at) else 0
    if end == 0:
        return 0
    naturals = run_naturals(run)
    aces, twos = (naturals & 1) + (naturals >> 13 & 1), naturals >> 1 & 1
    middle = naturals & MIDDLE
    if old == NO_WILD:
        if not own_two:
            return layout(r, suit, middle, aces, twos, wild)
        after = layout(r, suit, middle, aces, twos + 1, 0)
        return after if run_wild(after) else 0
    if int(r.wild_moves) == SLIDES or old != WILD_TWO + suit or twos or own_two:
        return 0
    return layout(r, suit, middle, aces, 1, wild)  # the old two goes home


@kernel
def is_legal_run(r: Record, suit: int, run: int) -> bool:
    """A run may lie so: the rules allow it and, where wilds move, it is the layout of its cards."""
    wild = run_wild(run)
    if not may_run(r, run_low(run), run_high(run), run_wild_at(run)):
        return False
    if wild == WILD_TWO + suit and run_wild_at(run) == TWO:
        return False
    if int(r.wild_moves) == FIXED:
        return True
    naturals = run_naturals(run)
    aces, twos = (naturals & 1) + (naturals >> 13 & 1), naturals >> 1 & 1
    if wild == WILD_TWO + suit:
        return layout(r, suit, naturals & MIDDLE, aces, twos + 1, 0) == run
    return layout(r, suit, naturals & MIDDLE, aces, twos, wild) == run


@kernel
def set_size(s: Record, team: int, slot: int) -> int:
    """Cards of the set in a slot, its wild included."""
    naturals = 0
    for suit in range(4):
        naturals += int(s.set[team, slot, suit])
    return naturals + int(s.set[team, slot, SET_WILD] != NO_WILD)


@kernel
def canasta_kind(length: int, wild: int) -> int:
    """0: no canasta; 1: dirty; 2: clean."""
    return 0 if length < CANASTA else (1 if wild else 2)


@kernel
def _longest_streak(naturals: int) -> int:
    """The most natural cards in a row."""
    streak = 0
    while naturals:
        naturals &= naturals << 1
        streak += 1
    return streak


@kernel
def _is_semi_clean_run(r: Record, run: int) -> bool:
    """Seven naturals in a row without the wild, on the best legal placement (the ace may stand at the other end)."""
    naturals = run_naturals(run)
    if _longest_streak(naturals) >= CANASTA:
        return True
    if int(r.wild_moves) == FIXED:
        return False
    if run_low(run) == TWO and naturals >> 13 & 1:
        return _longest_streak(naturals & 0x1FFF | 1) >= CANASTA
    return False


@kernel
def run_bonus(r: Record, run: int) -> int:
    """The canasta bonus of a run: the best that applies."""
    length = run_length(run)
    if length < CANASTA:
        return 0
    if run_wild(run):
        if int(r.bonus_semi_clean) and _is_semi_clean_run(r, run):
            return max(int(r.bonus_dirty), int(r.bonus_semi_clean))
        return int(r.bonus_dirty)
    if length == 13:
        return max(int(r.bonus_clean), int(r.bonus_royal))
    if length == 14:
        return max(int(r.bonus_clean), int(r.bonus_ace_to_ace))
    return int(r.bonus_clean)


@kernel
def set_bonus(r: Record, size: int, wild: int) -> int:
    """The canasta bonus of a set: the best that applies."""
    if size < CANASTA:
        return 0
    if wild == NO_WILD:
        return int(r.bonus_clean)
    if size == CANASTA + 1:
        return max(int(r.bonus_dirty), int(r.bonus_semi_clean))
    return int(r.bonus_dirty)


@kernel
def run_points(r: Record, run: int, suit: int) -> int:
    """Points of a run's cards, the wild at its own value."""
    points, naturals = 0, run_naturals(run)
    while naturals:
        points += int(r.points[suit * 13 + lowest_bit(naturals) % 13])
        naturals &= naturals - 1
    if run_wild(run):
        points += int(r.points[int(WILD_CARDS[run_wild(run)])])
    return points


@kernel
def set_points(r: Record, s: Record, team: int, slot: int) -> int:
    """Points of a set's cards, the wild at its own value."""
    rank = slot // 4
    points = 0
    for suit in range(4):
        points += int(s.set[team, slot, suit]) * int(r.points[suit * 13 + rank])
    wild = int(s.set[team, slot, SET_WILD])
    if wild:
        points += int(r.points[int(WILD_CARDS[wild])])
    return points
