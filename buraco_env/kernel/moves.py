"""Every meld, lay-off and swap that the cards allow, in ascending order of ids; the guard is not asked here.

Branches that fall now so, now so cost more than the work they save, so cards are looked at as bits: all suits at once
where a run starts (`run_lanes`), and all kinds of wild at once, since only a two of the run's own suit differs.
"""

from __future__ import annotations

from buraco_env.cards import JOKER
from buraco_env.kernel.actions import (
    ARGS,
    HIGH_END,
    K_LAY_RUN,
    K_LAY_SET,
    K_LAY_WILD_RUN,
    K_LAY_WILD_SET,
    KIND,
    LAY_RUN,
    LAY_SET,
    LAY_WILD_RUN,
    LAY_WILD_SET,
    LOW_END,
    NEW_RUN,
    NEW_SET,
    NEW_WILD_RUN,
    NEW_WILD_RUN_OF_4,
    NEW_WILD_SET,
    PAIRS,
    PLACE,
    SLOT,
    SUITS_OF_THREE,
    SUITS_OF_TWO,
    THREES,
    USES,
)
from buraco_env.kernel.jit import kernel, lowest_bit
from buraco_env.kernel.melds import is_legal_run, lay_natural, lay_wild, pack, packed_run, set_size
from buraco_env.kernel.state import (
    FIXED,
    HIGH,
    LOW,
    NO_WILD,
    NUM_WILD_KINDS,
    RUN_SLOTS,
    RUN_WILD,
    RUNS_PER_SUIT,
    SET_WILD,
    SETS_PER_RANK,
    USE_TOP_FIRST,
    WILD_JOKER,
    WILD_POSITION,
    WILD_TWO,
    Array,
    Record,
    hand_mask,
    has_room_for_run,
    has_room_for_set,
    is_open_duty,
    run_lanes,
    team_of,
)

_THREES, _TWOS = len(SUITS_OF_THREE), len(SUITS_OF_TWO)
TWO_RANK = 1
_LOW_12 = 0x0FFF0FFF0FFF0FFF  # in every lane of `run_lanes` the places where a run of three can start


@kernel
def wild_kinds(held: int) -> int:
    """Kinds of wild in a mask of card types, as bits: bit 1 joker, bit 2 + suit a two."""
    twos = (held >> 1 & 1) | (held >> 14 & 1) << 1 | (held >> 27 & 1) << 2 | (held >> 40 & 1) << 3
    return (held >> JOKER & 1) << WILD_JOKER | twos << WILD_TWO


@kernel
def _put(out: Array, n: int, base: int, choices: int) -> int:
    """The ids `base` + bit for every bit of `choices`, after the first n."""
    while choices:
        out[n] = base + lowest_bit(choices)
        choices &= choices - 1
        n += 1
    return n


@kernel
def _new_runs(s: Record, r: Record, team: int, lanes: int, out: Array, n: int) -> int:
    """Natural runs of three from the hand."""
    starts = lanes & lanes >> 1 & lanes >> 2
    while starts:
        at = lowest_bit(starts)
        starts &= starts - 1
        if has_room_for_run(s, r, team, at >> 4):
            out[n] = NEW_RUN + (at >> 4) * 12 + (at & 15)
            n += 1
    return n


@kernel
def _new_wild_runs(s: Record, r: Record, team: int, lanes: int, twin: int, kinds: int, out: Array, n: int) -> int:
    """Runs of three with a wild or, where a run with a wild needs four cards, of four with the wild inside."""
    length = int(r.wild_min_run)
    if length == 3:
        starts = (lanes & (lanes >> 1 | lanes >> 2) | lanes >> 1 & lanes >> 2) & _LOW_12
    elif length == 4:
        starts = lanes & lanes >> 3 & (lanes >> 1 | lanes >> 2)
    else:
        return n
    first, whole = length - 3, (1 << length) - 1
    while starts:
        at = lowest_bit(starts)
        starts &= starts - 1
        if not has_room_for_run(s, r, team, at >> 4):
            continue
        for place in range(first, 3):
            naturals = whole & ~(1 << place)
            if lanes >> at & naturals == naturals:
                n = _wild_run_kinds(r, kinds, twin, at >> 4, (at & 15) + 1, place, length, out, n)
    return n


@kernel
def _wild_run_kinds(
    r: Record, kinds: int, twin: int, suit: int, low: int, place: int, length: int, out: Array, n: int
) -> int:
    """The new run of `length` from `low` with the wild at `place`, once for each kind of wild at hand."""
    if length == 3:
        base = NEW_WILD_RUN + ((suit * 12 + low - 1) * 3 + place) * NUM_WILD_KINDS - 1
    else:
        base = NEW_WILD_RUN_OF_4 + ((suit * 11 + low - 1) * 2 + place - 1) * NUM_WILD_KINDS - 1
    own = WILD_TWO + suit
    if not is_legal_run(r, suit, pack(low, low + length - 1, WILD_JOKER, low + place)):
        kinds &= 1 << own
    if kinds >> own & 1:
        needs_natural_two = low <= 2 and low + place != 2
        if needs_natural_two and not twin >> (suit * 13 + 1) & 1:
            kinds &= ~(1 << own)
        elif not is_legal_run(r, suit, pack(low, low + length - 1, own, low + place)):
            kinds &= ~(1 << own)
    return _put(out, n, base, kinds)


@kernel
def _rank_code(held: int, twin: int, rank: int) -> int:
    """How many of a rank are there, two bits a suit."""
    code = 0
    for suit in range(4):
        card = suit * 13 + rank
        code |= ((held >> card & 1) + (twin >> card & 1)) << (2 * suit)
    return code


@kernel
def _ranks_with_two(held: int, twin: int) -> int:
    """Ranks of which there are two or more natural cards, as bits."""
    clubs, diamonds, hearts, spades = held, held >> 13, held >> 26, held >> 39
    more = twin | twin >> 13 | twin >> 26 | twin >> 39
    more |= clubs & diamonds | (clubs | diamonds) & (hearts | spades) | hearts & spades
    return more & 0x1FFF


@kernel
def _new_sets(s: Record, r: Record, team: int, held: int, twin: int, kinds: int, out: Array, n: int) -> int:
    """Sets of three naturals, then of a pair and a wild."""
    ranks = _ranks_with_two(held, twin)
    if int(r.sets_of_twos) == 0:
        ranks &= ~(1 << TWO_RANK)
    todo = ranks
    while todo:
        rank = lowest_bit(todo)
        todo &= todo - 1
        if has_room_for_set(s, team, rank):
            n = _put(out, n, NEW_SET + rank * _THREES, int(THREES[_rank_code(held, twin, rank)]))
    while ranks and kinds:
        rank = lowest_bit(ranks)
        ranks &= ranks - 1
        if has_room_for_set(s, team, rank):
            choices = int(PAIRS[_rank_code(held, twin, rank)])
            usable = kinds & 1 << WILD_JOKER if rank == TWO_RANK else kinds
            while choices:
                base = NEW_WILD_SET + (rank * _TWOS + lowest_bit(choices)) * NUM_WILD_KINDS - 1
                choices &= choices - 1
                n = _put(out, n, base, usable)
    return n


@kernel
def _lay_offs_on_runs(s: Record, r: Record, team: int, lanes: int, out: Array, n: int) -> int:
    """Naturals onto the team's runs; where wilds are fixed, swaps too."""
    fixed = int(r.wild_moves) == FIXED
    slots = int(s.run_slots[team])
    while slots:
        slot = lowest_bit(slots)
        slots &= slots - 1
        suit = slot // RUNS_PER_SUIT
        todo = lanes >> (16 * suit) & 0x3FFF
        if fixed:
            low, high = int(s.run[team, slot, LOW]), int(s.run[team, slot, HIGH])
            todo &= (1 << low >> 2) | 1 << high | 1 << int(s.run[team, slot, WILD_POSITION]) >> 1
        while todo:
            position = lowest_bit(todo) + 1
            todo &= todo - 1
            if lay_natural(r, packed_run(s, team, slot), suit, position):
                out[n] = LAY_RUN + slot * 14 + position - 1
                n += 1
    return n


@kernel
def _lay_wilds_on_runs(s: Record, r: Record, team: int, kinds: int, out: Array, n: int) -> int:
    """Wilds onto the team's runs."""
    if int(r.wild_min_run) == 0:
        return n
    fixed = int(r.wild_moves) == FIXED
    slots = int(s.run_slots[team])
    while slots:
        slot = lowest_bit(slots)
        slots &= slots - 1
        if fixed and int(s.run[team, slot, RUN_WILD]) != NO_WILD:
            continue
        suit, run = slot // RUNS_PER_SUIT, packed_run(s, team, slot)
        own = WILD_TWO + suit
        for end in range(LOW_END if fixed else HIGH_END, HIGH_END + 1):
            usable = kinds
            if not lay_wild(r, run, suit, end, WILD_JOKER):
                usable &= 1 << own
            if usable >> own & 1 and not lay_wild(r, run, suit, end, own):
                usable &= ~(1 << own)
            n = _put(out, n, LAY_WILD_RUN + (slot * 2 + end) * NUM_WILD_KINDS - 1, usable)
    return n


@kernel
def has_room_on_set(s: Record, r: Record, team: int, slot: int) -> bool:
    """The set may take another card (`max_set`)."""
    return int(r.max_set) == 0 or set_size(s, team, slot) < int(r.max_set)


@kernel
def _lay_offs_on_sets(s: Record, r: Record, team: int, held: int, kinds: int, out: Array, n: int) -> int:
    """Naturals, then wilds, onto the team's sets."""
    slots = int(s.set_slots[team])
    todo = slots
    while todo:
        slot = lowest_bit(todo)
        todo &= todo - 1
        cards = held >> (slot // SETS_PER_RANK)
        if has_room_on_set(s, r, team, slot):
            for suit in range(4):  # written in any case, counted if the card is there
                out[n] = LAY_SET + slot * 4 + suit
                n += cards >> (suit * 13) & 1
    while slots and kinds:
        slot = lowest_bit(slots)
        slots &= slots - 1
        if int(s.set[team, slot, SET_WILD]) == NO_WILD and has_room_on_set(s, r, team, slot):
            usable = kinds & 1 << WILD_JOKER if slot // SETS_PER_RANK == TWO_RANK else kinds
            n = _put(out, n, LAY_WILD_SET + slot * NUM_WILD_KINDS - 1, usable)
    return n


@kernel
def _answers_duty(s: Record, r: Record, action: int) -> bool:
    """The move is one that an open duty leaves: the top card first, lay-offs on a first meld below its minimum."""
    top, opening = int(s.top), int(s.opening)
    if top >= 0 and int(r.pile_take) == USE_TOP_FIRST and not int(USES[action]) >> top & 1:
        return False
    if opening < 0:
        return True
    kind, slot = int(ARGS[action, KIND]), int(ARGS[action, SLOT])
    if opening < RUN_SLOTS:
        return (kind == K_LAY_RUN or kind == K_LAY_WILD_RUN) and slot == opening
    return (kind == K_LAY_SET or kind == K_LAY_WILD_SET) and slot == opening - RUN_SLOTS


@kernel
def moves_with(s: Record, r: Record, held: int, twin: int, out: Array) -> int:
    """Every meld, lay-off and swap with these cards, duties and guard aside: fills `out`, gives their number."""
    team, kinds, lanes = team_of(int(s.seat)), wild_kinds(held), run_lanes(held)
    n = _new_runs(s, r, team, lanes, out, 0)
    if kinds:
        n = _new_wild_runs(s, r, team, lanes, twin, kinds, out, n)
    if int(r.sets):
        n = _new_sets(s, r, team, held, twin, kinds, out, n)
    if int(s.run_slots[team]):
        n = _lay_offs_on_runs(s, r, team, lanes, out, n)
        if kinds:
            n = _lay_wilds_on_runs(s, r, team, kinds, out, n)
    if int(s.set_slots[team]):
        n = _lay_offs_on_sets(s, r, team, held, kinds, out, n)
    return n


@kernel
def moves(s: Record, r: Record, out: Array) -> int:
    """Every meld, lay-off and swap that cards and duties allow, guard aside: fills `out`, gives their number."""
    held, twin = hand_mask(s, int(s.seat))
    n = moves_with(s, r, held, twin, out)
    if is_open_duty(s):
        kept = 0
        for index in range(n):
            if _answers_duty(s, r, int(out[index])):
                out[kept] = out[index]
                kept += 1
        return kept
    return n


@kernel
def is_swap(s: Record, r: Record, action: int) -> bool:
    """The lay-off takes the place of a fixed wild, which comes to the hand."""
    if int(ARGS[action, KIND]) != K_LAY_RUN or int(r.wild_moves) != FIXED:
        return False
    slot = int(ARGS[action, SLOT])
    team = team_of(int(s.seat))
    return int(s.run[team, slot, RUN_WILD]) != NO_WILD and ARGS[action, PLACE] == s.run[team, slot, WILD_POSITION]
