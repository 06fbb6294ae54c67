"""Nobody is ever stranded: a move is kept exactly when the turn can still be completed after it.

Where that is not plain the guard plays the move on a scratch record and looks ahead, depth first: `work[d]` is the
position `d` moves ahead, `lists[d]` its moves.
"""

from __future__ import annotations

from buraco_env.kernel.actions import (
    ARGS,
    CARDS_USED,
    K_LAY_RUN,
    KIND,
    SLOT,
    SUIT,
    USES,
    USES_TWICE,
    WILD,
)
from buraco_env.kernel.jit import copy_record, count_bits, kernel, lowest_bit
from buraco_env.kernel.melds import CANASTA, set_size
from buraco_env.kernel.moves import is_swap, moves, moves_with
from buraco_env.kernel.play import apply_meld
from buraco_env.kernel.score import points_of
from buraco_env.kernel.state import (
    ALL_WILDS,
    CLOSE_ANY,
    EXTRA,
    FINAL_WILD_NOT_CLOSING,
    FIXED,
    HAND_AND_TABLE,
    HIGH,
    LOW,
    NO_WILD,
    RANK_MASK,
    RUN_WILD,
    SETS_PER_RANK,
    USE_TOP_FIRST,
    Array,
    Record,
    has_closing_canasta,
    has_room_for_run,
    has_room_for_set,
    is_open_duty,
    is_wild_card,
    may_take_morto,
    run_positions,
    runs_of_suit,
    team_of,
)

MAX_DEPTH = 108  # moves ahead: each lays a card for good


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
def may_discard_last(s: Record, r: Record, seat: int, card: int) -> bool:
    """The only card in hand may be discarded (whether a wild might be played instead is looked at elsewhere)."""
    if int(s.single) == card:
        return False
    if may_take_morto(s, r, team_of(seat)):
        return True
    if int(r.final_discard_wild) == FINAL_WILD_NOT_CLOSING and is_wild_card(card):
        return False
    return has_closing_canasta(s, r, team_of(seat))


@kernel
def _may_help(s: Record, r: Record, action: int, top: int) -> bool:
    """The move can lead to the use of the top card; any other can as well be made after it.

    Whatever line uses the top card: moves before it that touch no run of its suit and no set of its rank (for a wild
    top card: no run at all) and free no wild can follow it, in the same order. The hand is not empty before, and the
    table at the end is the same.
    """
    if int(USES[action]) >> top & 1:
        return True
    suit = int(ARGS[action, SUIT])
    if suit >= 0:
        return is_wild_card(top) or suit == top // 13 or is_swap(s, r, action)
    rank = int(ARGS[action, SLOT])
    if int(ARGS[action, KIND]) >= K_LAY_RUN:
        rank = rank // SETS_PER_RANK
    return not is_wild_card(top) and rank == top % 13


@kernel
def can_finish(r: Record, work: Array, lists: Array, depth: int) -> bool:
    """The turn can be completed legally from `work[depth]`, where a meld was just laid or the pile taken."""
    s = work[depth]
    seat, top = int(s.seat), int(s.top)
    hand = int(s.hand_size[seat])
    if not is_open_duty(s):
        if hand >= _cards_to_keep(s):
            return True
        if hand == 0:
            return _may_empty_by_melding(s, r, team_of(seat))
        if may_discard_last(s, r, seat, lowest_bit(int(s.held[seat]))):
            return True
    elif hand == 0:
        return False
    found = lists[depth]
    n = moves(s, r, found)
    opened = int(s.opened[team_of(seat)]) == 1
    all_moves = top < 0 or not opened
    for direct in range(1, -1, -1):  # what uses the top card itself comes first
        for index in range(n):
            action = int(found[index])
            uses_top = int(top >= 0 and int(USES[action]) >> top & 1)
            if uses_top == direct and (all_moves or _may_help(s, r, action, top)):
                if direct and opened and _cards_left(s, r, action) >= _cards_to_keep(s):
                    return True
                copy_record(work[depth + 1], s)
                apply_meld(work[depth + 1], r, action)
                if can_finish(r, work, lists, depth + 1):
                    return True
    return False


@kernel
def _finishes_after(s: Record, r: Record, action: int, work: Array, lists: Array) -> bool:
    """The turn can be completed after a move from `s`."""
    copy_record(work[0], s)
    apply_meld(work[0], r, action)
    return can_finish(r, work, lists, 0)


@kernel
def _cards_left(s: Record, r: Record, action: int) -> int:
    """Cards in hand after a move."""
    return int(s.hand_size[int(s.seat)]) - int(CARDS_USED[action]) + int(is_swap(s, r, action))


@kernel
def _share_cards(s: Record, action: int, use: int) -> bool:
    """Two moves need more copies of a card than the hand holds."""
    both = int(USES[action]) & int(USES[use])
    return both & (int(USES_TWICE[action]) | int(USES_TWICE[use]) | ~int(s.twin[int(s.seat)])) != 0


@kernel
def _share_table(action: int, use: int) -> bool:
    """Two moves concern the same meld, or may want the same free slot."""
    if ARGS[action, SUIT] != ARGS[use, SUIT]:
        return False
    first, second = int(ARGS[action, KIND]), int(ARGS[use, KIND])
    if (first < K_LAY_RUN) != (second < K_LAY_RUN):
        return False
    return int(ARGS[action, SLOT]) == int(ARGS[use, SLOT])


@kernel
def _top_stays_usable(s: Record, r: Record, action: int, uses: Array, n: int, closed: bool) -> int:
    """Whether the top card can still be used after another move: 1 yes, 0 no, -1 a search will tell.

    `uses`: the n moves that use it now; `closed`: no others ever will.
    """
    top, keep, maybe = int(s.top), _cards_to_keep(s), False
    left = _cards_left(s, r, action)
    for index in range(n):
        use = int(uses[index])
        if not _share_cards(s, action, use):
            if left - int(CARDS_USED[use]) >= keep and not _share_table(action, use):
                return 1
            maybe = True
    if not closed or maybe:
        return -1
    return -1 if _makes_place(action, top) else 0


@kernel
def _makes_place(action: int, top: int) -> bool:
    """A move that could bring a new use of a natural top card: in its suit, a set of its rank, a wild to swap out."""
    kind, suit = int(ARGS[action, KIND]), int(ARGS[action, SUIT])
    if suit < 0:
        return kind < K_LAY_RUN and ARGS[action, SLOT] == top % 13
    return suit == top // 13 or ARGS[action, WILD] != 0


@kernel
def _swaps_in_sight(s: Record, r: Record, team: int) -> bool:
    """The team has a run with a fixed wild."""
    if int(r.wild_moves) != FIXED:
        return False
    slots, wilds = int(s.run_slots[team]), 0
    while slots:
        wilds |= int(s.run[team, lowest_bit(slots), RUN_WILD])
        slots &= slots - 1
    return wilds != NO_WILD


@kernel
def _only_direct_uses(s: Record, r: Record, top: int, found: Array, n: int) -> bool:
    """No wild can be freed and no run of its suit changed so that a natural top card fits later where it does not now.

    `found`: the moves with all cards that concern it. A run that it could join if it were laid first has a smallest
    run with the card in it, which can be laid at once.
    """
    team, suit = team_of(int(s.seat)), top // 13
    if is_wild_card(top) or _swaps_in_sight(s, r, team):
        return False
    if runs_of_suit(s, team, suit) == 0:
        return True
    for index in range(n):
        if ARGS[int(found[index]), SUIT] == suit and not int(USES[int(found[index])]) >> top & 1:
            return False
    return True


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
    mask = 0x1FFF << (13 * suit) if suit >= 0 else RANK_MASK << int(ARGS[action, SLOT])
    best = max(int(r.points_joker), int(r.points_two))
    return points_of(r, held & mask, twin & mask) + best < int(r.first_meld_min)


@kernel
def _longest_meld(s: Record, team: int) -> int:
    """Cards of a team's longest meld, at least 1."""
    longest = 1
    slots = int(s.run_slots[team])
    while slots:
        slot = lowest_bit(slots)
        slots &= slots - 1
        longest = max(longest, int(s.run[team, slot, HIGH]) - int(s.run[team, slot, LOW]) + 1)
    slots = int(s.set_slots[team])
    while slots:
        longest = max(longest, set_size(s, team, lowest_bit(slots)))
        slots &= slots - 1
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
def guard(s: Record, r: Record, out: Array, n: int, work: Array, lists: Array) -> int:
    """Keep the moves after which the turn can be completed: their number."""
    seat, keep, top = int(s.seat), _cards_to_keep(s), int(s.top)
    team = team_of(seat)
    hand, opened = int(s.hand_size[seat]), int(s.opened[team]) == 1
    if opened and top < 0:
        return n if hand - 4 >= keep else _guard_few_cards(s, r, out, n, work, lists)
    if opened:
        return _guard_top(s, r, out, n, work, lists)
    kept = 0
    for index in range(n):
        action = int(out[index])
        opens = int(s.opening) < 0 and _opens_at_once(s, r, action)
        if int(s.opening) < 0 and not opens and _can_never_open(s, r, action):
            continue
        meets_top = top < 0 or int(USES[action]) >> top & 1
        fine = opens and meets_top and _cards_left(s, r, action) >= keep
        if fine or _finishes_after(s, r, action, work, lists):
            out[kept] = action
            kept += 1
    return kept


@kernel
def _guard_top(s: Record, r: Record, out: Array, n: int, work: Array, lists: Array) -> int:
    """The guard while the top card must be used: every move kept uses it or leaves it usable."""
    keep, top = _cards_to_keep(s), int(s.top)
    closed = _only_direct_uses(s, r, top, out, n)
    uses, num_uses = lists[MAX_DEPTH - 1], 0
    for index in range(n):
        uses[num_uses] = out[index]
        num_uses += int(USES[int(out[index])]) >> top & 1
    kept = 0
    for index in range(n):
        action = int(out[index])
        if int(USES[action]) >> top & 1:
            fine = 1 if _cards_left(s, r, action) >= keep else -1
        else:
            fine = _top_stays_usable(s, r, action, uses, num_uses, closed)
        if fine == 1 or (fine < 0 and _finishes_after(s, r, action, work, lists)):
            out[kept] = action
            kept += 1
    return kept


@kernel
def _guard_few_cards(s: Record, r: Record, out: Array, n: int, work: Array, lists: Array) -> int:
    """The guard with no duty open and few cards in hand."""
    team, keep = team_of(int(s.seat)), _cards_to_keep(s)
    longest = 0
    kept = 0
    for index in range(n):
        action = int(out[index])
        left, fine = _cards_left(s, r, action), 1
        if left < keep:
            longest = longest if longest else _longest_meld(s, team)
            fine = _ends_well(s, r, team, longest, left)
        if fine == 1 or (fine < 0 and _finishes_after(s, r, action, work, lists)):
            out[kept] = action
            kept += 1
    return kept


@kernel
def _lies_plainly(s: Record, r: Record, team: int, top: int, held: int, twin: int, left: int) -> bool:
    """A natural top card goes on a set, or makes a set or a run of three naturals, with at least two cards kept.

    `held`, `twin`: the hand with the pile; `left`: its size.
    """
    rank, suit = top % 13, top // 13
    if left >= 3 and int(r.max_set) == 0 and int(s.set_slots[team]) >> (rank * SETS_PER_RANK) & 1:
        return True
    if left < 5:
        return False
    if int(r.sets) and has_room_for_set(s, team, rank):
        if count_bits(held & RANK_MASK << rank) + count_bits(twin & RANK_MASK << rank) >= 3:
            return True
    if not has_room_for_run(s, r, team, suit):
        return False
    positions = run_positions(held, suit)
    starts = positions & positions >> 1 & positions >> 2
    if rank == 0:
        return starts & 0x801 != 0  # ace, 2, 3 and queen, king, ace
    return starts >> (rank - 2) & 7 != 0


@kernel
def _lies_nowhere(s: Record, r: Record, team: int, top: int, held: int, left: int) -> bool:
    """A natural top card that does not lie plainly has no place and gets none.

    There is no run or set to lay it on, no wild to lay with it and none to free.
    """
    if left < 5 or held & ALL_WILDS or int(s.set_slots[team]) >> (top % 13 * SETS_PER_RANK) & 1:
        return False
    return runs_of_suit(s, team, top // 13) == 0 and not _swaps_in_sight(s, r, team)


@kernel
def top_at_once(s: Record, r: Record, found: Array) -> int:
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
        if _lies_nowhere(s, r, team, top, held, left):
            return 0
        near = 0x1FFF << (13 * (top // 13)) | RANK_MASK << (top % 13) | ALL_WILDS  # others don't concern it
        held &= near
        twin &= near
    n = moves_with(s, r, held, twin, found)
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
    return 0 if _only_direct_uses(s, r, top, found, n) else -1
