"""Conceal what a seat can't know; deal a full state that it can't tell apart from the real one."""

from __future__ import annotations

from buraco_env.cards import JOKER
from buraco_env.kernel.deal import seed_stream, shuffle
from buraco_env.kernel.jit import kernel
from buraco_env.kernel.state import Array, Record, gain


@kernel
def _reset_hand(s: Record, seat: int) -> None:
    """A hand shrinks to what everybody knows to be in it; its size stays."""
    held, twin = 0, 0
    for card in range(JOKER + 1):
        count = int(s.known[seat, card])
        s.hand[seat, card] = count
        held |= int(count > 0) << card
        twin |= int(count > 1) << card
    s.held[seat] = held
    s.twin[seat] = twin


@kernel
def conceal(s: Record, r: Record, seat: int) -> None:
    """Wipe from a record what this seat can't know: others' cards, mortos, stock, seeds."""
    for other in range(int(r.num_seats)):
        if other != seat:
            _reset_hand(s, other)
    for morto in range(int(s.mortos_left)):
        for index in range(int(r.morto_size)):
            s.morto[morto, index] = 0
    for index in range(int(s.bottom), int(s.stock_size)):
        s.stock[index] = 0
    s.deal_seed = 0
    for index in range(4):
        s.rng[index] = 0


@kernel
def _unseen(s: Record, seat: int, pool: Array) -> int:
    """The cards that this seat can't place, by type: fills `pool`, gives their number."""
    size = 0
    for card in range(JOKER + 1):
        for _ in range(int(s.hidden[card]) + int(s.known[seat, card]) - int(s.hand[seat, card])):
            pool[size] = card
            size += 1
    return size


@kernel
def resample(s: Record, r: Record, seat: int, seed: int, pool: Array) -> None:
    """Deal the unseen cards anew, uniformly over all that this seat can't tell apart; `pool` [108] is scratch.

    Known cards in hands, cards seen at the bottom of the stock and all sizes stay as they are.
    """
    seed_stream(s, seed)
    size = _unseen(s, seat, pool)
    shuffle(s, pool, size)
    for other in range(int(r.num_seats)):
        if other == seat:
            continue
        wanted = int(s.hand_size[other])
        _reset_hand(s, other)
        for card in range(JOKER + 1):
            wanted -= int(s.known[other, card])
        for _ in range(wanted):
            size -= 1
            gain(s, other, int(pool[size]))
        s.hand_size[other] = int(s.hand_size[other]) - wanted
    for morto in range(int(s.mortos_left)):
        for index in range(int(r.morto_size)):
            size -= 1
            s.morto[morto, index] = pool[size]
    for index in range(int(s.bottom), int(s.stock_size)):
        size -= 1
        s.stock[index] = pool[size]
