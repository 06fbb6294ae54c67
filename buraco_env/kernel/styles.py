"""A scripted player: one evaluation of what each legal action leads to; `weights` make a style of it.

A value is in tenths of a point for the team that acts. A player knows here what a seat may know: its hand, the table,
the pile, known and unseen cards, sizes. All arithmetic is on ints, so that a choice is the same on every platform.
"""

from __future__ import annotations

from buraco_env.cards import JOKER
from buraco_env.kernel import weights as W
from buraco_env.kernel.actions import (
    ARGS,
    CARDS_USED,
    K_DISCARD,
    K_END_TURN,
    K_LAY_RUN,
    K_LAY_SET,
    K_TAKE,
    K_WILD_RUN_OF_4,
    KIND,
    LAST,
    PLACE,
    SLOT,
    USES,
    USES_TWICE,
    WILD,
)
from buraco_env.kernel.candidates import NEAR, fitting, known_near
from buraco_env.kernel.guard import MAX_DEPTH
from buraco_env.kernel.jit import copy_record, count_bits, kernel, lowest_bit
from buraco_env.kernel.legal import legal_actions
from buraco_env.kernel.melds import (
    CANASTA,
    lay_natural,
    packed_run,
    run_bonus,
    run_length,
    run_wild,
    set_bonus,
    set_size,
)
from buraco_env.kernel.moves import is_swap
from buraco_env.kernel.play import apply_meld, run_after, take_pile
from buraco_env.kernel.score import points_of
from buraco_env.kernel.state import (
    CLOSE_ANY,
    DRAW,
    EXTRA,
    LAST_TWO,
    MELD,
    MORTOS_JOIN,
    RANK_MASK,
    RUNS_PER_SUIT,
    SET_WILD,
    SETS_PER_RANK,
    WHOLE_PILE,
    WILD_CARDS,
    WILD_JOKER,
    Array,
    Record,
    has_closing_canasta,
    is_wild_card,
    may_take_morto,
    team_of,
)
from buraco_env.kernel.weights import LONGEST_HAND

SAFE_HAND, SAFE_STOCK, MOST_DANGER = 5, 16, 4
TWOS = RANK_MASK << 1
_PLAN = MAX_DEPTH - 2  # scratch that looking ahead never reaches


@kernel
def _may_close(s: Record, r: Record, team: int) -> bool:
    """Emptying a hand would be going out."""
    return not may_take_morto(s, r, team) and has_closing_canasta(s, r, team)


@kernel
def _danger(s: Record, r: Record, team: int) -> int:
    """How near the end of the deal is, 0 to 4: the others can go out with few cards, or the stock is low."""
    other, stock = 1 - team, int(s.stock_size)
    if int(r.stock_end) == MORTOS_JOIN:
        stock += int(s.mortos_left) * int(r.morto_size)
    elif int(r.stock_end) == LAST_TWO:
        stock -= 2
    steps = (SAFE_STOCK - stock) // 4
    if _may_close(s, r, other):
        fewest = int(s.hand_size[other])
        if int(r.num_seats) == 4:
            fewest = min(fewest, int(s.hand_size[other + 2]))
        steps = max(steps, SAFE_HAND - fewest)
    return min(max(steps, 0), MOST_DANGER)


@kernel
def _urgency(s: Record, r: Record, w: Array, danger: int) -> int:
    """How much more what lies counts, in percent: the others, or the partner, may end the deal."""
    urgency, seat = danger * int(w[W.URGENT]), int(s.seat)
    if int(r.num_seats) == 4 and _may_close(s, r, team_of(seat)):
        urgency += max(0, SAFE_HAND - int(s.hand_size[seat ^ 2])) * int(w[W.HELP])
    return urgency


@kernel
def _progress(w: Array, length: int, wild: int) -> int:
    """What a meld on the table is worth on its way to a canasta."""
    if length < 3 or length >= CANASTA:
        return 0
    return int(w[(W.DIRTY if wild else W.CLEAN) + length - 3])


@kernel
def _wild_value(w: Array, kind: int, urgency: int) -> int:
    """What a wild is worth in the hand."""
    if kind == 0:
        return 0
    return int(w[W.JOKER if kind == WILD_JOKER else W.TWO]) * max(200 - urgency, 0) // 200


@kernel
def _out_value(s: Record, r: Record, w: Array, seat: int) -> int:
    """Going out: its bonus, what the others are left with, less what the partner is, and what might still come."""
    theirs, ours = 0, 0
    for other in range(int(r.num_seats)):
        if team_of(other) != team_of(seat):
            theirs += int(s.hand_size[other])
        elif other != seat:
            ours += int(s.hand_size[other])
    value = 10 * int(r.bonus_out) + int(w[W.OUT]) + theirs * int(w[W.OUT_THEIRS]) - ours * int(w[W.OUT_OURS])
    team = team_of(seat)
    value += (int(s.open_score[team]) - int(s.open_score[1 - team])) * int(w[W.OUT_AHEAD]) // 10
    return value - int(s.stock_size) * int(w[W.OUT_STOCK])


@kernel
def _hand_value(s: Record, r: Record, w: Array, seat: int, closes: bool, left: int) -> int:
    """What ending the turn with so many cards is worth; `closes`: the team has a canasta to go out with."""
    if may_take_morto(s, r, team_of(seat)):
        return int(w[W.MORTO + min(left, LONGEST_HAND)])
    if not closes:
        return int(w[W.STUCK + min(left, LONGEST_HAND)])
    return int(w[W.CLOSE + min(left, LONGEST_HAND)]) + (_out_value(s, r, w, seat) if left == 0 else 0)


@kernel
def _closes(r: Record, length: int, wild: int) -> bool:
    """A meld of this length is a canasta that allows going out."""
    return length >= CANASTA and (wild == 0 or int(r.close_with) == CLOSE_ANY)


@kernel
def _table_value(s: Record, r: Record, w: Array, team: int, action: int, urgency: int) -> int:
    """What a meld or lay-off does to the table: progress, bonus, a wild freed."""
    kind, slot, wild = int(ARGS[action, KIND]), int(ARGS[action, SLOT]), int(ARGS[action, WILD])
    if kind < K_LAY_RUN:
        length = int(ARGS[action, LAST]) - int(ARGS[action, PLACE]) + 1 if kind <= K_WILD_RUN_OF_4 else 3
        return _progress(w, length, wild)
    freed = 0
    if kind >= K_LAY_SET:
        before, wild_before = set_size(s, team, slot), int(s.set[team, slot, SET_WILD])
        after, wild_after = before + 1, wild if wild else wild_before
        bonus = set_bonus(r, after, wild_after) - set_bonus(r, before, wild_before)
    else:
        old, new = packed_run(s, team, slot), run_after(s, r, team, action)
        before, wild_before, after, wild_after = run_length(old), run_wild(old), run_length(new), run_wild(new)
        bonus = run_bonus(r, new) - run_bonus(r, old)
        if before == after:
            freed = _wild_value(w, wild_before, urgency) - int(w[W.POINTS]) * int(
                r.points[int(WILD_CARDS[wild_before])]
            )
    return int(w[W.BONUS]) * bonus + _progress(w, after, wild_after) - _progress(w, before, wild_before) + freed


@kernel
def _meld_value(s: Record, r: Record, w: Array, action: int, urgency: int) -> int:
    """What a meld, a lay-off or a swap is worth."""
    seat, used = int(s.seat), int(CARDS_USED[action])
    team = team_of(seat)
    left = int(s.hand_size[seat]) - used + int(is_swap(s, r, action))
    points = points_of(r, int(USES[action]), int(USES_TWICE[action]))
    value: int = points * int(w[W.POINTS]) * (100 + urgency) // 100
    wild = int(ARGS[action, WILD])
    value += _table_value(s, r, w, team, action, urgency) - _wild_value(w, wild, urgency)
    twos = count_bits(int(USES[action]) & TWOS) + count_bits(int(USES_TWICE[action]) & TWOS) - int(wild > WILD_JOKER)
    value -= twos * int(w[W.NATURAL_TWO])
    if int(r.num_seats) == 4 and int(s.hand_size[seat ^ 2]) <= 2 and may_take_morto(s, r, team):
        value -= used * int(w[W.WAIT])
    closes = has_closing_canasta(s, r, team)
    closes_then, discard = _closes_after(s, r, team, action), int(int(s.phase) != EXTRA)
    value -= _hand_value(s, r, w, seat, closes, int(s.hand_size[seat]) - discard)
    if closes_then and not closes:
        value += int(w[W.FIRST_CANASTA])
    return value + _hand_value(s, r, w, seat, closes_then, max(left - discard, 0))


@kernel
def _closes_after(s: Record, r: Record, team: int, action: int) -> bool:
    """The team has a canasta to go out with after a meld or lay-off (one that it spoils is not looked for)."""
    if has_closing_canasta(s, r, team):
        return True
    kind, slot = int(ARGS[action, KIND]), int(ARGS[action, SLOT])
    if kind < K_LAY_RUN:
        return False
    if kind >= K_LAY_SET:
        wild = int(s.set[team, slot, SET_WILD]) + int(ARGS[action, WILD])
        return _closes(r, set_size(s, team, slot) + 1, wild)
    run = run_after(s, r, team, action)
    return _closes(r, run_length(run), run_wild(run))


@kernel
def _unseen_near(s: Record, seat: int, card: int) -> int:
    """How many cards that could meld with this one are in hands, stock and mortos unknown to the seat."""
    total, todo = 0, int(NEAR[card])
    while todo:
        near = lowest_bit(todo)
        todo &= todo - 1
        total += int(s.hidden[near]) + int(s.known[seat, near]) - int(s.hand[seat, near])
    return total


@kernel
def _count_near(counts: Array, card: int) -> int:
    """How many of the counted cards [53] could meld with a card."""
    total, todo = 0, int(NEAR[card])
    while todo:
        total += int(counts[lowest_bit(todo)])
        todo &= todo - 1
    return total


@kernel
def _run_gain(r: Record, w: Array, run: int, suit: int, position: int) -> int:
    """What a natural at a position would make of a run: canasta bonus and progress; 0 where it can't stand."""
    after = lay_natural(r, run, suit, position)
    if after == 0:
        return 0
    gain = int(w[W.BONUS]) * (run_bonus(r, after) - run_bonus(r, run))
    return gain + _progress(w, run_length(after), run_wild(after)) - _progress(w, run_length(run), run_wild(run))


@kernel
def _gain(s: Record, r: Record, w: Array, team: int, card: int) -> int:
    """What a natural card would do to a team's table at best: canasta bonus and progress."""
    if card == JOKER:
        return 0
    best, suit, position = 0, card // 13, card % 13 + 1
    slots = int(s.run_slots[team]) >> (suit * RUNS_PER_SUIT) & ((1 << RUNS_PER_SUIT) - 1)
    while slots:
        run = packed_run(s, team, suit * RUNS_PER_SUIT + lowest_bit(slots))
        slots &= slots - 1
        best = max(best, _run_gain(r, w, run, suit, position))
        if position == 1:
            best = max(best, _run_gain(r, w, run, suit, 14))
    slots = int(s.set_slots[team]) >> (card % 13 * SETS_PER_RANK) & ((1 << SETS_PER_RANK) - 1)
    while slots:
        slot = card % 13 * SETS_PER_RANK + lowest_bit(slots)
        slots &= slots - 1
        size, wild = set_size(s, team, slot), int(s.set[team, slot, SET_WILD])
        gain = int(w[W.BONUS]) * (set_bonus(r, size + 1, wild) - set_bonus(r, size, wild))
        best = max(best, gain + _progress(w, size + 1, wild) - _progress(w, size, wild))
    return best


@kernel
def _discard_value(s: Record, r: Record, w: Array, card: int, mine: int, theirs: int, danger: int) -> int:
    """What discarding a card is worth; `mine`, `theirs`: cards that the tables could take."""
    seat = int(s.seat)
    value: int = (int(w[W.SHED]) + danger * int(w[W.SHED_DANGER])) * int(r.points[card])
    if is_wild_card(card):
        return value - int(w[W.SHED_WILD]) - int(w[W.JOKER if card == JOKER else W.TWO])
    if theirs >> card & 1:
        value -= int(w[W.FEED]) + danger * int(w[W.FEED_DANGER]) + int(w[W.FEED_PILE]) * int(s.pile_size)
        value -= _gain(s, r, w, 1 - team_of(seat), card) * int(w[W.FEED_GAIN]) // 100
    if mine >> card & 1:
        value -= int(w[W.FITS_OURS]) + _gain(s, r, w, team_of(seat), card) * int(w[W.OURS_GAIN]) // 100
    if int(s.twin[seat]) >> card & 1:
        value -= int(w[W.PAIR])
    near, following = int(NEAR[card]), (seat + 1) % int(r.num_seats)
    held = count_bits(int(s.held[seat]) & near) + count_bits(int(s.twin[seat]) & near) - 1
    value -= held * int(w[W.NEAR]) + known_near(s, following, card) * int(w[W.FEED_KNOWN])
    dropped, buried = 0, 0
    for suit in range(4):
        dropped += int(s.discarded[following, suit * 13 + card % 13])
        buried += int(s.pile_count[suit * 13 + card % 13])
    value += dropped * int(w[W.FEED_DROPPED])
    if int(r.pile_justify) == WHOLE_PILE:
        value -= _count_near(s.pile_count, card) * int(w[W.FEED_BURIED])
        if buried >= 2:
            value -= (int(s.pile_size) + 1) * int(w[W.FEED_OPEN])
    return value - _unseen_near(s, seat, card) * int(w[W.FEED_UNSEEN])


@kernel
def _best_meld(s: Record, r: Record, w: Array, legal: Array, n: int) -> tuple[int, int]:
    """The best meld, lay-off or swap of a list and its value; -1 if none is there."""
    urgency, best, best_value = _urgency(s, r, w, _danger(s, r, team_of(int(s.seat)))), -1, 0
    for index in range(n):
        action = int(legal[index])
        if ARGS[action, KIND] >= K_DISCARD:
            break
        value = _meld_value(s, r, w, action, urgency)
        if best < 0 or value > best_value:
            best, best_value = action, value
    return best, best_value


@kernel
def _best_discard(s: Record, r: Record, w: Array, legal: Array, n: int) -> int:
    """The best discard of a list, or the end of the turn; -1 if none is there."""
    best, best_value, mine, theirs, danger = -1, 0, 0, 0, 0
    for index in range(n):
        action = int(legal[index])
        if ARGS[action, KIND] < K_DISCARD:
            continue
        if ARGS[action, KIND] == K_END_TURN:
            return action
        if best < 0:
            seat = int(s.seat)
            held = int(s.held[seat])
            mine, theirs = fitting(s, r, team_of(seat), held), fitting(s, r, 1 - team_of(seat), held)
            danger = _danger(s, r, team_of(seat))
        value = _discard_value(s, r, w, int(ARGS[action, SLOT]), mine, theirs, danger)
        if best < 0 or value > best_value:
            best, best_value = action, value
    return best


@kernel
def _can_be_laid(r: Record, w: Array, work: Array, lists: Array, guarded: bool) -> int:
    """The value of all melds that the style would lay now, one after the other, in the scratch position.

    Not `guarded`, as if another card were in hand, which lets the turn end.
    """
    s, legal, total = work[_PLAN], lists[_PLAN], 0
    seat = int(s.seat)
    while int(s.hand_size[seat]) > 0:
        n = legal_actions(s, r, legal, work, lists, guarded)
        action, value = _best_meld(s, r, w, legal, n)
        if action < 0 or (value <= int(w[W.MELD_FROM]) and int(s.top) < 0):
            break
        apply_meld(s, r, action)
        total += value
    return total - _danger(s, r, team_of(seat)) * int(s.hand_size[seat]) * int(w[W.TAKE_DANGER])


@kernel
def _take_value(s: Record, r: Record, w: Array, work: Array, lists: Array) -> int:
    """What taking the pile is worth over drawing: what can be laid with it is compared to what can without."""
    seat, size = int(s.seat), int(s.pile_size)
    hand, closes = int(s.hand_size[seat]), has_closing_canasta(s, r, team_of(seat))
    plan = work[_PLAN]
    copy_record(plan, s)
    take_pile(plan, r)
    value = _can_be_laid(r, w, work, lists, True)  # from a hand that the pile makes larger
    value += _hand_value(s, r, w, seat, closes, hand + size - 1)
    copy_record(plan, s)
    plan.phase = MELD
    value -= _can_be_laid(r, w, work, lists, False) + _hand_value(s, r, w, seat, closes, hand - 1)
    value = value * int(w[W.TAKE_MELDS]) // 100
    left, may_close = int(plan.hand_size[seat]), has_closing_canasta(plan, r, team_of(seat))
    likely, fewer = int(w[W.DRAW_LAYS]), max(left - 1, 0)
    # the drawn card makes up for the discard, or is laid
    ahead = _hand_value(plan, r, w, seat, may_close, fewer)
    drawn = (likely * ahead + (100 - likely) * _hand_value(plan, r, w, seat, may_close, left)) // 100
    value += ahead - drawn
    return value + int(w[W.TAKE]) + size * int(w[W.TAKE_CARD])


@kernel
def choose(s: Record, r: Record, w: Array, legal: Array, n: int, work: Array, lists: Array) -> int:
    """The action of a list of n legal ones that a style with weights `w` [NUM_WEIGHTS] int64 plays.

    `work` and `lists` are scratch.
    """
    if n == 1:
        return int(legal[0])
    if int(s.phase) == DRAW:
        return int(legal[1]) if _take_value(s, r, w, work, lists) > 0 else int(legal[0])
    action, value = _best_meld(s, r, w, legal, n)
    if action >= 0 and value > int(w[W.MELD_FROM]):
        return action
    discard = _best_discard(s, r, w, legal, n)
    return discard if discard >= 0 else action


@kernel
def value_each(s: Record, r: Record, w: Array, legal: Array, n: int, out: Array, work: Array, lists: Array) -> None:
    """What a style with weights `w` thinks of each action of a list of n: fills `out`.

    A draw is 0 and the pile more or less; melds count from `meld_from` on; discards are compared to each other only.
    """
    seat = int(s.seat)
    team, held = team_of(seat), int(s.held[seat])
    danger = _danger(s, r, team)
    urgency = _urgency(s, r, w, danger)
    mine, theirs = fitting(s, r, team, held), fitting(s, r, 1 - team, held)
    for index in range(n):
        action = int(legal[index])
        kind = int(ARGS[action, KIND])
        out[index] = 0
        if kind == K_TAKE:
            out[index] = _take_value(s, r, w, work, lists)
        elif kind == K_DISCARD:
            out[index] = _discard_value(s, r, w, int(ARGS[action, SLOT]), mine, theirs, danger)
        elif K_TAKE < kind < K_DISCARD:
            out[index] = _meld_value(s, r, w, action, urgency) - int(w[W.MELD_FROM])
