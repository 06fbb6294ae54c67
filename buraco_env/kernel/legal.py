"""Who may do what now: one function for each phase and kind of action.

`legal_actions` fills a list of ids in ascending order; `work` and `lists` are scratch for the guard's looking ahead.
"""

from __future__ import annotations

from buraco_env.kernel.actions import (
    DISCARD,
    DRAW_CARD,
    FINISH_TURN,
    TAKE_PILE,
)
from buraco_env.kernel.guard import can_finish, guard, may_discard_last, top_at_once
from buraco_env.kernel.jit import copy_record, kernel, lowest_bit
from buraco_env.kernel.moves import moves
from buraco_env.kernel.play import take_pile
from buraco_env.kernel.state import (
    DRAW,
    FINAL_WILD_UNPLAYABLE,
    FREE,
    MELD,
    OVER,
    Array,
    Record,
    is_open_duty,
    is_wild_card,
    team_of,
)


@kernel
def _discards(s: Record, r: Record, out: Array, n: int) -> int:
    """The cards that may be discarded; `n` melds and lay-offs are legal."""
    seat = int(s.seat)
    held, hand = int(s.held[seat]), int(s.hand_size[seat])
    if hand == 1:
        card = lowest_bit(held)
        if not may_discard_last(s, r, seat, card):
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
def _may_take_pile(s: Record, r: Record, work: Array, lists: Array) -> bool:
    """The pile may be taken: there is one and, where its top card must be used, the turn can be completed so."""
    if int(s.pile_size) == 0:
        return False
    if int(r.pile_take) == FREE:
        return True
    if int(s.opened[team_of(int(s.seat))]):
        known = top_at_once(s, r, lists[0])
        if known >= 0:
            return known == 1
    copy_record(work[0], s)
    take_pile(work[0], r)
    return can_finish(r, work, lists, 0)


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
        n = guard(s, r, out, n, work, lists)
    if is_open_duty(s):
        return n
    if phase == MELD:
        return _discards(s, r, out, n)
    out[n] = FINISH_TURN
    return n + 1
