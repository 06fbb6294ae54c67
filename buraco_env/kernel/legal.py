"""Who may do what now: first every move the cards allow, then the guard that nobody is ever stranded.

`legal_actions` fills a list of ids in ascending order. The guard keeps a move exactly when the turn can still be
completed after it; where that is not plain it plays the move on a scratch record and looks ahead, depth first:
`work[d]` is the position `d` moves ahead, `lists[d]` its moves.
"""

from __future__ import annotations

from buraco_env.cards import JOKER
from buraco_env.kernel.actions import (
    ARGS,
    CARDS_USED,
    DISCARD,
    DRAW_CARD,
    FINISH_TURN,
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
    SUIT,
    SUITS_OF_THREE,
    SUITS_OF_TWO,
    TAKE_PILE,
    THREES,
    USES,
    USES_TWICE,
)
from buraco_env.kernel.jit import copy_record, count_bits, kernel, lowest_bit
from buraco_env.kernel.melds import CANASTA, is_legal_run, lay_natural, lay_wild, pack, packed_run, set_size
from buraco_env.kernel.play import apply_meld, take_pile
from buraco_env.kernel.score import points_of
from buraco_env.kernel.state import (
    CLOSE_ANY,
    DRAW,
    EXTRA,
    FINAL_WILD_NOT_CLOSING,
    FINAL_WILD_UNPLAYABLE,
    FIXED,
    FREE,
    HAND_AND_TABLE,
    HIGH,
    LOW,
    MELD,
    NO_WILD,
    NUM_WILD_KINDS,
    OVER,
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
    has_closing_canasta,
    is_open_duty,
    is_wild_card,
    may_take_morto,
    run_positions,
    team_of,
)

MAX_DEPTH = 108  # moves ahead: each lays a card for good
_THREES, _TWOS = len(SUITS_OF_THREE), len(SUITS_OF_TWO)
TWO_RANK = 1
ALL_WILDS = 1 << JOKER | 1 << 1 | 1 << 14 | 1 << 27 | 1 << 40
SMALL_HAND = 7  # up to so many cards every move is searched, above it those that can help with the top card


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
def _moves_with(s: Record, r: Record, held: int, twin: int, out: Array) -> int:
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
    n = _moves_with(s, r, held, twin, out)
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


@kernel
def _cards_to_keep(s: Record) -> int:
    """So many cards in hand always let a turn end: one to discard and one to keep, or one where no discard is due."""
    return 1 if int(s.phase) == EXTRA else 2


@kernel
def _may_empty_by_melding(s: Record, r: Record, team: int) -> bool:
    """The hand that was just emptied by a meld was allowed to be: a morto comes, or the team goes out."""
    if may_take_morto(s, r, team):
        return int(r.meld_out_morto) != 0
    return int(r.meld_out_close) != 0 and has_closing_canasta(s, r, team)


@kernel
def _may_discard_last(s: Record, r: Record, seat: int, card: int) -> bool:
    """The only card in hand may be discarded (whether a wild might be played instead is looked at elsewhere)."""
    if int(s.single) == card:
        return False
    if may_take_morto(s, r, team_of(seat)):
        return True
    if int(r.final_discard_wild) == FINAL_WILD_NOT_CLOSING and is_wild_card(card):
        return False
    return has_closing_canasta(s, r, team_of(seat))


@kernel
def _may_help(s: Record, action: int, top: int) -> bool:
    """The move can lead to the use of the top card: it uses it, frees a wild, or changes a run that could take it.

    A natural top card is helped by its own suit's runs only, a wild one by any run; a set that could take the card
    takes it at once.
    """
    if int(USES[action]) >> top & 1:
        return True
    suit = int(ARGS[action, SUIT])
    if suit < 0:
        return False
    return is_wild_card(top) or suit == top // 13 or int(ARGS[action, KIND]) == K_LAY_RUN


@kernel
def _can_finish(r: Record, work: Array, lists: Array, depth: int) -> bool:
    """The turn can be completed legally from `work[depth]`, where a meld was just laid or the pile taken."""
    s = work[depth]
    seat, top = int(s.seat), int(s.top)
    hand = int(s.hand_size[seat])
    if not is_open_duty(s):
        if hand >= _cards_to_keep(s):
            return True
        if hand == 0:
            return _may_empty_by_melding(s, r, team_of(seat))
        if _may_discard_last(s, r, seat, lowest_bit(int(s.held[seat]))):
            return True
    elif hand == 0:
        return False
    found = lists[depth]
    n = moves(s, r, found)
    all_moves = hand <= SMALL_HAND or top < 0 or int(s.opened[team_of(seat)]) == 0
    for direct in range(1, -1, -1):  # what uses the top card itself comes first
        for index in range(n):
            action = int(found[index])
            uses_top = int(top >= 0 and int(USES[action]) >> top & 1)
            if uses_top == direct and (all_moves or _may_help(s, action, top)):
                copy_record(work[depth + 1], s)
                apply_meld(work[depth + 1], r, action)
                if _can_finish(r, work, lists, depth + 1):
                    return True
    return False


@kernel
def _finishes_after(s: Record, r: Record, action: int, work: Array, lists: Array) -> bool:
    """The turn can be completed after a move from `s`."""
    copy_record(work[0], s)
    apply_meld(work[0], r, action)
    return _can_finish(r, work, lists, 0)


@kernel
def _cards_left(s: Record, r: Record, action: int) -> int:
    """Cards in hand after a move."""
    return int(s.hand_size[int(s.seat)]) - int(CARDS_USED[action]) + int(is_swap(s, r, action))


@kernel
def _leaves(s: Record, r: Record, action: int, use: int, keep: int) -> bool:
    """The direct use of the top card, legal now, is still possible after another move, and enough cards stay."""
    if _cards_left(s, r, action) - int(CARDS_USED[use]) < keep:
        return False
    both = int(USES[action]) & int(USES[use])
    if both & (int(USES_TWICE[action]) | int(USES_TWICE[use]) | ~int(s.twin[int(s.seat)])):
        return False
    kind, other = int(ARGS[use, KIND]), int(ARGS[action, KIND])
    if kind < K_LAY_RUN:  # a new meld needs a free slot
        return other >= K_LAY_RUN or ARGS[action, SUIT] != ARGS[use, SUIT] or ARGS[use, SUIT] < 0
    on_run = int(kind <= K_LAY_WILD_RUN)
    return other < K_LAY_RUN or int(other <= K_LAY_WILD_RUN) != on_run or ARGS[action, SLOT] != ARGS[use, SLOT]


@kernel
def _opens_at_once(s: Record, r: Record, action: int) -> bool:
    """A new meld that is worth the minimum of a first meld as it is laid."""
    if int(ARGS[action, KIND]) >= K_LAY_RUN:
        return False
    return points_of(r, int(USES[action]), int(USES_TWICE[action])) >= int(r.first_meld_min)


@kernel
def _can_never_open(s: Record, r: Record, action: int) -> bool:
    """A new meld that all cards of its suit or rank in hand and the best wild would not bring to the minimum."""
    if int(ARGS[action, KIND]) >= K_LAY_RUN:
        return False
    seat, suit = int(s.seat), int(ARGS[action, SUIT])
    held, twin = int(s.held[seat]), int(s.twin[seat])
    mask = 0x1FFF << (13 * suit) if suit >= 0 else 0x8004002001 << int(ARGS[action, SLOT])
    best = max(int(r.points_joker), int(r.points_two))
    return points_of(r, held & mask, twin & mask) + best < int(r.first_meld_min)


@kernel
def _longest_meld(s: Record, r: Record, team: int) -> int:
    """Cards of a team's longest meld."""
    longest = 0
    for suit in range(4):
        for slot in range(suit * RUNS_PER_SUIT, suit * RUNS_PER_SUIT + int(s.num_runs[team, suit])):
            longest = max(longest, int(s.run[team, slot, HIGH]) - int(s.run[team, slot, LOW]) + 1)
    ranks = int(s.set_ranks[team])
    while ranks:
        rank = lowest_bit(ranks)
        ranks &= ranks - 1
        for slot in range(rank * SETS_PER_RANK, rank * SETS_PER_RANK + int(s.num_sets[team, rank])):
            longest = max(longest, set_size(s, team, slot))
    return longest


@kernel
def _ends_well(s: Record, r: Record, team: int, longest: int, left: int) -> int:
    """Whether a turn can end with no card or one left after a move, no duty open: 1 yes, 0 no, -1 a search will tell.

    `longest`: the team's longest meld; the move and the card left bring it two cards at most, so that it must have
    five for a canasta to be made.
    """
    if may_take_morto(s, r, team):
        if left == 0:
            return int(int(r.meld_out_morto) != 0)
        return 1 if int(s.single) < 0 else -1
    if left == 0 and int(r.meld_out_close) == 0:
        return 0
    if int(r.close_with) == CLOSE_ANY and has_closing_canasta(s, r, team):  # a clean one the move may dirty
        if left == 0 or (int(s.single) < 0 and int(r.final_discard_wild) != FINAL_WILD_NOT_CLOSING):
            return 1
        return -1
    return 0 if longest < CANASTA - 2 else -1


@kernel
def _guard(s: Record, r: Record, out: Array, n: int, work: Array, lists: Array) -> int:
    """Keep the moves after which the turn can be completed: their number."""
    seat, keep, top = int(s.seat), _cards_to_keep(s), int(s.top)
    team = team_of(seat)
    hand, opened = int(s.hand_size[seat]), int(s.opened[team]) == 1
    if top < 0 and opened:
        return n if hand - 4 >= keep else _guard_few_cards(s, r, out, n, work, lists)
    use = -1  # a direct use of the top card that leaves enough cards
    for index in range(n if top >= 0 else 0):
        action = int(out[index])
        if int(USES[action]) >> top & 1 and _cards_left(s, r, action) >= keep:
            use = action
    kept = 0
    for index in range(n):
        action = int(out[index])
        enough = _cards_left(s, r, action) >= keep
        meets_top = top < 0 or int(USES[action]) >> top & 1
        if opened:
            fine = enough and (meets_top or (use >= 0 and _leaves(s, r, action, use, keep)))
        else:
            fine = enough and meets_top and int(s.opening) < 0 and _opens_at_once(s, r, action)
            if not fine and int(s.opening) < 0 and _can_never_open(s, r, action):
                continue
        if fine or _finishes_after(s, r, action, work, lists):
            out[kept] = action
            kept += 1
    return kept


@kernel
def _guard_few_cards(s: Record, r: Record, out: Array, n: int, work: Array, lists: Array) -> int:
    """The guard with no duty open and few cards in hand."""
    team, keep = team_of(int(s.seat)), _cards_to_keep(s)
    longest = _longest_meld(s, r, team)
    kept = 0
    for index in range(n):
        action = int(out[index])
        left = _cards_left(s, r, action)
        fine = 1 if left >= keep else _ends_well(s, r, team, longest, left)
        if fine == 1 or (fine < 0 and _finishes_after(s, r, action, work, lists)):
            out[kept] = action
            kept += 1
    return kept


@kernel
def _discards(s: Record, r: Record, out: Array, n: int) -> int:
    """The cards that may be discarded; `n` melds and lay-offs are legal."""
    seat = int(s.seat)
    held, hand = int(s.held[seat]), int(s.hand_size[seat])
    if hand == 1:
        card = lowest_bit(held)
        if not _may_discard_last(s, r, seat, card):
            return n
        if n and int(r.final_discard_wild) == FINAL_WILD_UNPLAYABLE and is_wild_card(card):
            return n
    elif int(s.single) >= 0 and not int(s.twin[seat]) >> int(s.single) & 1:
        held &= ~(1 << int(s.single))
    while held:
        out[n] = DISCARD + lowest_bit(held)
        held &= held - 1
        n += 1
    return n


@kernel
def _swaps_in_sight(s: Record, r: Record, team: int) -> bool:
    """The team has a run with a fixed wild."""
    if int(r.wild_moves) != FIXED:
        return False
    for suit in range(4):
        for slot in range(suit * RUNS_PER_SUIT, suit * RUNS_PER_SUIT + int(s.num_runs[team, suit])):
            if int(s.run[team, slot, RUN_WILD]) != NO_WILD:
                return True
    return False


@kernel
def _lies_plainly(s: Record, r: Record, team: int, top: int, held: int, twin: int, left: int) -> bool:
    """A natural top card goes on a set, or makes a set or a run of three naturals, with at least two cards kept.

    `held`, `twin`: the hand with the pile; `left`: its size.
    """
    rank, suit = top % 13, top // 13
    if left >= 3 and int(r.max_set) == 0 and int(s.set_ranks[team]) >> rank & 1:
        return True
    if left < 5:
        return False
    if int(r.sets) and int(s.num_sets[team, rank]) < SETS_PER_RANK:
        if count_bits(held & 0x8004002001 << rank) + count_bits(twin & 0x8004002001 << rank) >= 3:
            return True
    if int(s.num_runs[team, suit]) >= int(r.max_runs_per_suit):
        return False
    positions = run_positions(held, suit)
    starts = positions & positions >> 1 & positions >> 2
    return starts >> max(rank - 2, 0) & (7 if rank >= 2 else 7 >> (2 - rank)) != 0 or (rank == 0 and starts >> 11 & 1 != 0)


@kernel
def _top_at_once(s: Record, r: Record, found: Array) -> int:
    """Whether the top card can be melded as soon as the pile is taken: 1 yes, 0 never, -1 it takes a search to know.

    If the team has no run of a natural card's suit and no wild to free, any meld that the card could come to lie in
    has a smallest meld with the card in it, which can be laid at once.
    """
    seat, size = int(s.seat), int(s.pile_size)
    team, top = team_of(seat), int(s.pile[size - 1])
    held, twin = int(s.held[seat]), int(s.twin[seat])
    first = size - 1 if int(r.pile_justify) == HAND_AND_TABLE else 0
    for index in range(first, size):
        bit = 1 << int(s.pile[index])
        twin |= held & bit
        held |= bit
    natural, left = not is_wild_card(top), int(s.hand_size[seat]) + size
    if natural:
        if _lies_plainly(s, r, team, top, held, twin, left):
            return 1
        near = 0x1FFF << (13 * (top // 13)) | 0x8004002001 << (top % 13) | ALL_WILDS  # others don't concern it
        held &= near
        twin &= near
    n = _moves_with(s, r, held, twin, found)
    strands = False
    for index in range(n):
        action = int(found[index])
        if int(USES[action]) >> top & 1:
            if left - int(CARDS_USED[action]) >= 2:
                return 1
            strands = True
    if strands:
        return -1
    if int(r.pile_take) == USE_TOP_FIRST:
        return 0
    hopeless = natural and int(s.num_runs[team, top // 13]) == 0 and not _swaps_in_sight(s, r, team)
    return 0 if hopeless else -1


@kernel
def _may_take_pile(s: Record, r: Record, work: Array, lists: Array) -> bool:
    """The pile may be taken: there is one and, where its top card must be used, the turn can be completed so."""
    if int(s.pile_size) == 0:
        return False
    if int(r.pile_take) == FREE:
        return True
    if int(s.opened[team_of(int(s.seat))]):
        known = _top_at_once(s, r, lists[0])
        if known >= 0:
            return known == 1
    copy_record(work[0], s)
    take_pile(work[0], r)
    return _can_finish(r, work, lists, 0)


@kernel
def legal_actions(s: Record, r: Record, out: Array, work: Array, lists: Array, guarded: bool) -> int:
    """Every legal action of the seat to move, ascending: fills `out`, gives their number (0: the deal is over).

    Not `guarded`, it leaves in the melds that the guard would refuse, for an error that explains.
    """
    phase = int(s.phase)
    n = 0
    if phase == OVER:
        return 0
    if phase == DRAW:
        if int(s.stock_size) > 0:
            out[n] = DRAW_CARD
            n += 1
        if _may_take_pile(s, r, work, lists):
            out[n] = TAKE_PILE
            n += 1
        return n
    n = moves(s, r, out)
    if guarded:
        n = _guard(s, r, out, n, work, lists)
    if is_open_duty(s):
        return n
    if phase == MELD:
        return _discards(s, r, out, n)
    out[n] = FINISH_TURN
    return n + 1
