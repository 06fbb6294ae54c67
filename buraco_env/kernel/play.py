"""Do it: one function per kind of action. Legality is `legal.py`'s; here every action is taken to be legal."""

from __future__ import annotations

from buraco_env.cards import JOKER
from buraco_env.kernel.actions import (
    ARGS,
    K_DISCARD,
    K_DRAW,
    K_END_TURN,
    K_LAY_RUN,
    K_LAY_SET,
    K_LAY_WILD_RUN,
    K_TAKE,
    K_WILD_RUN_OF_4,
    K_WILD_SET,
    KIND,
    LAST,
    PLACE,
    SLOT,
    SUIT,
    USES,
    USES_TWICE,
    WILD,
    WILD_AT,
)
from buraco_env.kernel.deal import put_on_pile
from buraco_env.kernel.jit import kernel, lowest_bit
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
    run_points,
    run_wild,
    run_wild_at,
    set_bonus,
    set_points,
    set_size,
)
from buraco_env.kernel.state import (
    AT_LAST_DRAW,
    DRAW,
    END_OUT,
    END_STOCK,
    END_TURN_CAP,
    EXTRA,
    FREE,
    HAND_AND_TABLE,
    HIGH,
    HISTORY,
    IMMEDIATE,
    LAST_TWO,
    LOW,
    MELD,
    MORTOS_JOIN,
    OVER,
    RUN_SLOTS,
    RUN_WILD,
    RUNS_PER_SUIT,
    SET_WILD,
    SETS_PER_RANK,
    TWIN_ONLY,
    WILD_CARDS,
    WILD_POSITION,
    Record,
    count_bottom,
    count_melded,
    count_pile,
    gain,
    lose,
    may_take_morto,
    reveal,
    runs_of_suit,
    team_of,
)


@kernel
def forget_taken(s: Record) -> None:
    """No duty or restriction is left of the pile taken this turn."""
    for index in range(int(s.taken_size)):
        s.pile[index] = 0
    s.taken_size = 0


@kernel
def _spend(s: Record, r: Record, seat: int, action: int) -> int:
    """The action's cards leave the hand for the table: their points. A duty or restriction that one meets ends."""
    once, twice, points = int(USES[action]), int(USES_TWICE[action]), 0
    if int(s.top) >= 0 and once >> int(s.top) & 1:
        s.top = -1
        s.locked = 0
        s.locked_twin = 0
        s.locked_jokers = 0
        forget_taken(s)
    if int(s.single) >= 0 and once >> int(s.single) & 1:
        s.single = -1
        forget_taken(s)
    while once:
        card = lowest_bit(once)
        once &= once - 1
        copies = 1 + (twice >> card & 1)
        for _ in range(copies):
            lose(s, seat, card)
        count_melded(s, card, copies)
        points += copies * int(r.points[card])
    return points


@kernel
def _write_run(s: Record, team: int, slot: int, run: int) -> None:
    s.run[team, slot, LOW] = run_low(run)
    s.run[team, slot, HIGH] = run_high(run)
    s.run[team, slot, RUN_WILD] = run_wild(run)
    s.run[team, slot, WILD_POSITION] = run_wild_at(run)


@kernel
def _count_canasta(s: Record, team: int, kind: int, by: int) -> None:
    if kind == 1:
        s.dirty[team] = int(s.dirty[team]) + by
    elif kind == 2:
        s.clean[team] = int(s.clean[team]) + by


@kernel
def _lay_out_run(s: Record, r: Record, team: int, action: int) -> int:
    """A new run into the next free slot: the slot."""
    suit = int(ARGS[action, SUIT])
    slot = suit * RUNS_PER_SUIT + runs_of_suit(s, team, suit)
    s.run_slots[team] = int(s.run_slots[team]) | 1 << slot
    low, high = int(ARGS[action, PLACE]), int(ARGS[action, LAST])
    _write_run(s, team, slot, pack(low, high, int(ARGS[action, WILD]), int(ARGS[action, WILD_AT])))
    return slot


@kernel
def _lay_out_set(s: Record, team: int, action: int) -> int:
    """A new set into the next free slot: the slot."""
    rank = int(ARGS[action, SLOT])
    slot = rank * SETS_PER_RANK
    while int(s.set_slots[team]) >> slot & 1:
        slot += 1
    s.set_slots[team] = int(s.set_slots[team]) | 1 << slot
    for suit in range(4):
        card = suit * 13 + rank
        s.set[team, slot, suit] = (int(USES[action]) >> card & 1) + (int(USES_TWICE[action]) >> card & 1)
    s.set[team, slot, SET_WILD] = ARGS[action, WILD]
    return slot


@kernel
def run_after(s: Record, r: Record, team: int, action: int) -> int:
    """The packed run that a lay-off on a run leads to; 0 if it is not allowed."""
    slot = int(ARGS[action, SLOT])
    run, suit, place = packed_run(s, team, slot), int(ARGS[action, SUIT]), int(ARGS[action, PLACE])
    if int(ARGS[action, KIND]) == K_LAY_RUN:
        return lay_natural(r, run, suit, place)
    return lay_wild(r, run, suit, place, int(ARGS[action, WILD]))


@kernel
def _lay_on_run(s: Record, r: Record, seat: int, action: int) -> int:
    """A card onto a run: the change of the canasta bonus, less the points of a wild that a swap frees."""
    team, slot = team_of(seat), int(ARGS[action, SLOT])
    before, after = packed_run(s, team, slot), run_after(s, r, team, action)
    _write_run(s, team, slot, after)
    _count_canasta(s, team, canasta_kind(run_length(before), run_wild(before)), -1)
    _count_canasta(s, team, canasta_kind(run_length(after), run_wild(after)), 1)
    change = run_bonus(r, after) - run_bonus(r, before)
    if run_length(after) == run_length(before):  # the swap
        wild = int(WILD_CARDS[run_wild(before)])
        gain(s, seat, wild)
        reveal(s, seat, wild)
        count_melded(s, wild, -1)
        change -= int(r.points[wild])
    return change


@kernel
def _lay_on_set(s: Record, r: Record, team: int, action: int) -> int:
    """A card onto a set: the change of the canasta bonus."""
    slot = int(ARGS[action, SLOT])
    size, wild = set_size(s, team, slot), int(s.set[team, slot, SET_WILD])
    after = wild
    if int(ARGS[action, KIND]) == K_LAY_SET:
        suit = int(ARGS[action, PLACE])
        s.set[team, slot, suit] = int(s.set[team, slot, suit]) + 1
    else:
        after = int(ARGS[action, WILD])
        s.set[team, slot, SET_WILD] = after
    _count_canasta(s, team, canasta_kind(size, wild), -1)
    _count_canasta(s, team, canasta_kind(size + 1, after), 1)
    return set_bonus(r, size + 1, after) - set_bonus(r, size, wild)


@kernel
def apply_meld(s: Record, r: Record, action: int) -> None:
    """Meld, lay off or swap: cards go to the table, duties are met. What an empty hand brings is `_emptied`'s."""
    seat, kind = int(s.seat), int(ARGS[action, KIND])
    team = team_of(seat)
    change = _spend(s, r, seat, action)
    if kind <= K_WILD_RUN_OF_4:
        slot = _lay_out_run(s, r, team, action)
    elif kind <= K_WILD_SET:
        slot = RUN_SLOTS + _lay_out_set(s, team, action)
    elif kind <= K_LAY_WILD_RUN:
        slot = int(ARGS[action, SLOT])
        change += _lay_on_run(s, r, seat, action)
    else:
        slot = RUN_SLOTS + int(ARGS[action, SLOT])
        change += _lay_on_set(s, r, team, action)
    s.open_score[team] = int(s.open_score[team]) + change
    if int(s.opened[team]) == 0:
        _open(s, r, team, slot)


@kernel
def _open(s: Record, r: Record, team: int, slot: int) -> None:
    """The first meld of the deal: below its minimum it has to grow (`first_meld_min`)."""
    if slot < RUN_SLOTS:
        points = run_points(r, packed_run(s, team, slot), slot // RUNS_PER_SUIT)
    else:
        points = set_points(r, s, team, slot - RUN_SLOTS)
    done = points >= int(r.first_meld_min)
    s.opened[team] = int(done)
    s.opening = -1 if done else slot


@kernel
def _end(s: Record, reason: int) -> None:
    s.phase = OVER
    s.end_reason = reason


@kernel
def _go_out(s: Record, r: Record, team: int) -> None:
    s.out_team = team
    s.open_score[team] = int(s.open_score[team]) + int(r.bonus_out)
    _end(s, END_OUT)


@kernel
def _take_morto(s: Record, r: Record, seat: int) -> None:
    """The seat takes the next morto as its hand."""
    team, left = team_of(seat), int(s.mortos_left) - 1
    for index in range(int(r.morto_size)):
        gain(s, seat, int(s.morto[left, index]))
        s.morto[left, index] = 0
    s.mortos_left = left
    s.taken[team] = int(s.taken[team]) + 1
    s.open_score[team] = int(s.open_score[team]) + int(r.bonus_morto)
    s.single = -1
    forget_taken(s)


@kernel
def _draw(s: Record, r: Record) -> None:
    """Draw a card from the stock; the last one may end the deal or bring the mortos (`stock_end`)."""
    seat, left = int(s.seat), int(s.stock_size) - 1
    card = int(s.stock[left])
    s.stock[left] = 0
    s.stock_size = left
    gain(s, seat, card)
    if left < int(s.bottom):
        reveal(s, seat, card)
        s.bottom = left
        count_bottom(s, card, -1)
    s.phase = MELD
    if left == 0:
        if int(r.stock_end) == AT_LAST_DRAW:
            _end(s, END_STOCK)
        elif int(r.stock_end) == MORTOS_JOIN:
            mortos_join(s, r)


@kernel
def mortos_join(s: Record, r: Record) -> None:
    """All mortos on the table become the stock, the first card of the first one to be drawn first."""
    size = 0
    for morto in range(int(s.mortos_left)):
        for index in range(int(r.morto_size) - 1, -1, -1):
            s.stock[size] = s.morto[morto, index]
            s.morto[morto, index] = 0
            size += 1
    s.stock_size = size
    s.mortos_left = 0


@kernel
def take_pile(s: Record, r: Record) -> None:
    """Take the whole pile; its top card may have to be used (`pile_take`), a single card may not go straight back."""
    seat, size = int(s.seat), int(s.pile_size)
    top = int(s.pile[size - 1])
    s.phase = MELD
    if size == 1 and int(r.single_card_rediscard) == TWIN_ONLY:
        s.single = top
    if int(r.pile_take) != FREE:
        s.top = top
        if int(r.pile_justify) == HAND_AND_TABLE:
            _lock_buried(s)
    for index in range(size):
        card = int(s.pile[index])
        gain(s, seat, card)
        reveal(s, seat, card)
        count_pile(s, card, -1)
    s.pile_size = 0
    s.taken_size = size
    if int(s.top) < 0 and int(s.single) < 0:
        forget_taken(s)


@kernel
def _lock_buried(s: Record) -> None:
    """The cards below the top may not be touched until it is used."""
    for index in range(int(s.pile_size) - 1):
        card = int(s.pile[index])
        bit = 1 << card
        if card == JOKER:
            s.locked_jokers = int(s.locked_jokers) + 1
        if int(s.locked) & bit:
            s.locked_twin = int(s.locked_twin) | bit
        s.locked = int(s.locked) | bit


@kernel
def _discard(s: Record, r: Record, card: int) -> None:
    """Discard a card: the turn ends, unless it empties the hand and brings a morto to be played at once."""
    seat = int(s.seat)
    forget_taken(s)
    lose(s, seat, card)
    put_on_pile(s, card)
    if int(s.single) == card and int(s.known[seat, card]) == 0:  # it goes back only with a twin in hand: known now
        reveal(s, seat, card)
    s.discarded[seat, card] = min(int(s.discarded[seat, card]) + 1, 127)
    if int(s.hand_size[seat]) == 0:
        if not may_take_morto(s, r, team_of(seat)):
            _go_out(s, r, team_of(seat))
            return
        _take_morto(s, r, seat)
        if int(r.morto_after_discard) == IMMEDIATE:
            s.phase = EXTRA
            return
        s.waiting[seat] = 1
    _end_turn(s, r)


@kernel
def _end_turn(s: Record, r: Record) -> None:
    """The turn passes on, or the deal ends with the stock or at the turn cap."""
    s.turn = int(s.turn) + 1
    s.single = -1
    stock = int(s.stock_size)
    if stock == 0 or (int(r.stock_end) == LAST_TWO and stock <= 2):
        _end(s, END_STOCK)
    elif int(s.turn) >= int(r.max_turns):
        _end(s, END_TURN_CAP)
    else:
        seat = (int(s.seat) + 1) % int(r.num_seats)
        s.seat = seat
        s.waiting[seat] = 0
        s.phase = DRAW


@kernel
def _remember(s: Record, action: int) -> None:
    """Note a public action in the ring of the last ones."""
    at, cards = int(s.last_next), int(USES[action])
    s.last[at, 0] = int(s.seat) + 1
    s.last[at, 1] = int(ARGS[action, KIND]) + 1
    s.last[at, 2] = lowest_bit(cards) + 1 if cards else 0
    s.last_next = (at + 1) % HISTORY


@kernel
def play(s: Record, r: Record, action: int) -> None:
    """Do a legal action."""
    _remember(s, action)
    kind = int(ARGS[action, KIND])
    if kind == K_DRAW:
        _draw(s, r)
    elif kind == K_TAKE:
        take_pile(s, r)
    elif kind == K_DISCARD:
        _discard(s, r, int(ARGS[action, SLOT]))
    elif kind == K_END_TURN:
        _end_turn(s, r)
    else:
        apply_meld(s, r, action)
        seat = int(s.seat)
        if int(s.hand_size[seat]) == 0:
            if may_take_morto(s, r, team_of(seat)):
                _take_morto(s, r, seat)
            else:
                _go_out(s, r, team_of(seat))
