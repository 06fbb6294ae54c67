"""Every meld, lay-off and swap that the cards allow, in ascending order of ids; the guard is not asked here."""

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
    Array,
    Record,
    hand_mask,
    is_open_duty,
    run_positions,
    team_of,
)

_THREES, _TWOS = len(SUITS_OF_THREE), len(SUITS_OF_TWO)
TWO_RANK = 1


@kernel
def _wild_kinds(held: int) -> int:
    """Kinds of wild in a mask of card types, as bits: bit 1 joker, bit 2 + suit a two."""
    kinds = (held >> JOKER & 1) << WILD_JOKER
    for suit in range(4):
        kinds |= (held >> (suit * 13 + 1) & 1) << (2 + suit)
    return kinds


@kernel
def _new_runs(s: Record, r: Record, team: int, held: int, out: Array, n: int) -> int:
    """Natural runs of three from the hand."""
    for suit in range(4):
        positions = run_positions(held, suit)
        starts = positions & positions >> 1 & positions >> 2
        if starts and int(s.num_runs[team, suit]) < int(r.max_runs_per_suit):
            while starts:
                low = lowest_bit(starts)
                starts &= starts - 1
                out[n] = NEW_RUN + suit * 12 + low
                n += 1
    return n


@kernel
def _new_wild_runs(s: Record, r: Record, team: int, held: int, twin: int, out: Array, n: int) -> int:
    """Runs of three with a wild or, where a run with a wild needs four cards, of four with the wild inside."""
    kinds = _wild_kinds(held)
    length = int(r.wild_min_run)
    if kinds == 0 or length == 0:
        return n
    for suit in range(4):
        if int(s.num_runs[team, suit]) >= int(r.max_runs_per_suit):
            continue
        positions = run_positions(held, suit)
        if length == 3:
            starts = (positions & positions >> 1) | (positions & positions >> 2) | (positions >> 1 & positions >> 2)
            starts &= 0xFFF
        else:
            starts = positions & positions >> 3 & (positions >> 1 | positions >> 2)
        while starts:
            low = lowest_bit(starts) + 1
            starts &= starts - 1
            first = 0 if length == 3 else 1
            for place in range(first, 3):
                naturals = ((1 << length) - 1) & ~(1 << place)
                if positions >> (low - 1) & naturals == naturals:
                    n = _wild_run_kinds(r, kinds, twin, suit, low, place, length, out, n)
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
    needs_natural_two = low <= 2 and low + place != 2
    for kind in range(1, NUM_WILD_KINDS + 1):
        if not kinds >> kind & 1:
            continue
        if kind == 2 + suit and needs_natural_two and not twin >> (suit * 13 + 1) & 1:
            continue
        if is_legal_run(r, suit, pack(low, low + length - 1, kind, low + place)):
            out[n] = base + kind
            n += 1
    return n


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
    once, more = 0, twin | twin >> 13 | twin >> 26 | twin >> 39
    for suit in range(4):
        ranks = held >> (13 * suit)
        more |= once & ranks
        once |= ranks
    return more & 0x1FFF


@kernel
def _new_sets(s: Record, r: Record, team: int, held: int, twin: int, out: Array, n: int) -> int:
    """Sets of three naturals, then of a pair and a wild."""
    ranks = _ranks_with_two(held, twin)
    if int(r.sets_of_twos) == 0:
        ranks &= ~(1 << TWO_RANK)
    if ranks == 0:
        return n
    kinds = _wild_kinds(held)
    todo = ranks
    while todo:
        rank = lowest_bit(todo)
        todo &= todo - 1
        if int(s.num_sets[team, rank]) < SETS_PER_RANK:
            choices = int(THREES[_rank_code(held, twin, rank)])
            while choices:
                out[n] = NEW_SET + rank * _THREES + lowest_bit(choices)
                choices &= choices - 1
                n += 1
    while ranks and kinds:
        rank = lowest_bit(ranks)
        ranks &= ranks - 1
        if int(s.num_sets[team, rank]) < SETS_PER_RANK:
            choices = int(PAIRS[_rank_code(held, twin, rank)])
            usable = kinds & 1 << WILD_JOKER if rank == TWO_RANK else kinds
            while choices:
                base = NEW_WILD_SET + (rank * _TWOS + lowest_bit(choices)) * NUM_WILD_KINDS - 1
                choices &= choices - 1
                todo = usable
                while todo:
                    out[n] = base + lowest_bit(todo)
                    todo &= todo - 1
                    n += 1
    return n


@kernel
def _lay_offs_on_runs(s: Record, r: Record, team: int, held: int, out: Array, n: int) -> int:
    """Naturals onto the team's runs; where wilds are fixed, swaps too."""
    fixed = int(r.wild_moves) == FIXED
    for suit in range(4):
        positions = run_positions(held, suit)
        for number in range(int(s.num_runs[team, suit])):
            slot = suit * RUNS_PER_SUIT + number
            run = packed_run(s, team, slot)
            todo = positions
            if fixed:
                low, high = int(s.run[team, slot, 0]), int(s.run[team, slot, 1])
                todo &= (1 << low >> 2) | 1 << high | 1 << int(s.run[team, slot, WILD_POSITION]) >> 1
            while todo:
                position = lowest_bit(todo) + 1
                todo &= todo - 1
                if lay_natural(r, run, suit, position):
                    out[n] = LAY_RUN + slot * 14 + position - 1
                    n += 1
    return n


@kernel
def _lay_wilds_on_runs(s: Record, r: Record, team: int, held: int, out: Array, n: int) -> int:
    """Wilds onto the team's runs."""
    kinds = _wild_kinds(held)
    if kinds == 0 or int(r.wild_min_run) == 0:
        return n
    fixed = int(r.wild_moves) == FIXED
    for suit in range(4):
        for number in range(int(s.num_runs[team, suit])):
            slot = suit * RUNS_PER_SUIT + number
            if fixed and int(s.run[team, slot, RUN_WILD]) != NO_WILD:
                continue
            run = packed_run(s, team, slot)
            for end in range(LOW_END if fixed else HIGH_END, HIGH_END + 1):
                todo = kinds
                while todo:
                    kind = lowest_bit(todo)
                    todo &= todo - 1
                    if lay_wild(r, run, suit, end, kind):
                        out[n] = LAY_WILD_RUN + (slot * 2 + end) * NUM_WILD_KINDS + kind - 1
                        n += 1
    return n


@kernel
def _has_room(s: Record, r: Record, team: int, slot: int) -> bool:
    """The set may take another card (`max_set`)."""
    return int(r.max_set) == 0 or set_size(s, team, slot) < int(r.max_set)


@kernel
def _lay_offs_on_sets(s: Record, r: Record, team: int, held: int, out: Array, n: int) -> int:
    """Naturals, then wilds, onto the team's sets."""
    ranks = int(s.set_ranks[team])
    todo = ranks
    while todo:
        rank = lowest_bit(todo)
        todo &= todo - 1
        for slot in range(rank * SETS_PER_RANK, rank * SETS_PER_RANK + int(s.num_sets[team, rank])):
            if not _has_room(s, r, team, slot):
                continue
            for suit in range(4):
                if held >> (suit * 13 + rank) & 1:
                    out[n] = LAY_SET + slot * 4 + suit
                    n += 1
    kinds = _wild_kinds(held)
    while ranks and kinds:
        rank = lowest_bit(ranks)
        ranks &= ranks - 1
        usable = kinds & 1 << WILD_JOKER if rank == TWO_RANK else kinds
        for slot in range(rank * SETS_PER_RANK, rank * SETS_PER_RANK + int(s.num_sets[team, rank])):
            if int(s.set[team, slot, SET_WILD]) == NO_WILD and _has_room(s, r, team, slot):
                todo = usable
                while todo:
                    out[n] = LAY_WILD_SET + slot * NUM_WILD_KINDS + lowest_bit(todo) - 1
                    todo &= todo - 1
                    n += 1
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
    team = team_of(int(s.seat))
    n = _new_runs(s, r, team, held, out, 0)
    n = _new_wild_runs(s, r, team, held, twin, out, n)
    if int(r.sets):
        n = _new_sets(s, r, team, held, twin, out, n)
    n = _lay_offs_on_runs(s, r, team, held, out, n)
    n = _lay_wilds_on_runs(s, r, team, held, out, n)
    if int(s.set_ranks[team]):
        n = _lay_offs_on_sets(s, r, team, held, out, n)
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
