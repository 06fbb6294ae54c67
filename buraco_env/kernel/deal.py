"""The random stream, shuffling and dealing.

The stream is xoshiro128++ (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2021), four words of
32 bits seeded from the deal's seed by a multiply-and-shift mixer. All arithmetic is on ints below 2**63 with masks, so
that a deal is the same compiled, interpreted and on every platform.
"""

from __future__ import annotations

from buraco_env.cards import JOKER
from buraco_env.kernel.jit import kernel
from buraco_env.kernel.state import (
    BURY_WILDS,
    DRAW,
    HISTORY,
    MAX_SEATS,
    NUM_CARDS_MAX,
    NUM_TEAMS,
    REDEAL_JOKER,
    UPCARD_NONE,
    Array,
    Record,
    count_bottom,
    count_pile,
    gain,
    is_wild_card,
)

MASK32 = 0xFFFFFFFF
MAX_SEED = (1 << 63) - 1  # of a deal
MAX_DERIVED_SEED = (1 << 62) - 1  # `mix_seed` stays below: the seeds above are for deals that nothing else should meet


@kernel
def _mix(x: int) -> int:
    """A 32-bit hash of a 32-bit int."""
    x = (x ^ x >> 16) & MASK32
    x = (x * 0x21F0AAAD) & MASK32
    x = x ^ x >> 15
    x = (x * 0x735A2D97) & MASK32
    return x ^ x >> 15


@kernel
def mix_seed(seed: int, index: int) -> int:
    """Another seed, 0 to MAX_DERIVED_SEED, from a seed and an index: the same for the same two."""
    low = _mix((seed & MASK32) ^ _mix((index + 0x9E3779B9) & MASK32))
    high = _mix((seed >> 32 & MASK32) ^ _mix((low + 0x7F4A7C15) & MASK32))
    return (_mix((high + low) & MASK32) >> 2) << 32 | _mix((low ^ high << 1) & MASK32)


@kernel
def seed_stream(s: Record, seed: int) -> None:
    """Start the deal's random stream."""
    word = (seed & MASK32) ^ _mix((seed >> 32 & MASK32) ^ 0x5851F42D)
    for index in range(4):
        word = (word + 0x9E3779B9) & MASK32
        s.rng[index] = _mix(word)
    s.rng[3] = int(s.rng[3]) | 1  # never all zero


@kernel
def _rotate(x: int, by: int) -> int:
    return (x << by | x >> (32 - by)) & MASK32


@kernel
def random_below(s: Record, n: int) -> int:
    """A random int from 0 to n - 1; n is at most 2**31."""
    a, b, c, d = int(s.rng[0]), int(s.rng[1]), int(s.rng[2]), int(s.rng[3])
    value = (_rotate((a + d) & MASK32, 7) + a) & MASK32
    c ^= a
    d ^= b
    s.rng[1] = b ^ c
    s.rng[0] = a ^ d
    s.rng[2] = c ^ (b << 9 & MASK32)
    s.rng[3] = _rotate(d, 11)
    return value * n >> 32


@kernel
def shuffle(s: Record, cards: Array, n: int) -> None:
    """Put the first n cards of an array in random order."""
    for last in range(n - 1, 0, -1):
        other = random_below(s, last + 1)
        card = cards[last]
        cards[last] = cards[other]
        cards[other] = card


@kernel
def _clear(s: Record) -> None:
    """An empty table: no card anywhere, no memory of anything."""
    for seat in range(MAX_SEATS):
        s.held[seat] = 0
        s.twin[seat] = 0
        s.hand_size[seat] = 0
        s.waiting[seat] = 0
        for card in range(JOKER + 1):
            s.hand[seat, card] = 0
            s.known[seat, card] = 0
            s.discarded[seat, card] = 0
    for card in range(JOKER + 1):
        s.pile_count[card] = 0
        s.melded[card] = 0
        s.bottom_count[card] = 0
    for team in range(NUM_TEAMS):
        s.open_score[team] = 0
        s.set_slots[team] = 0
        s.run_slots[team] = 0
        s.taken[team] = 0
        s.clean[team] = 0
        s.dirty[team] = 0
        for slot in range(s.run.shape[1]):
            for part in range(4):
                s.run[team, slot, part] = 0
        for slot in range(s.set.shape[1]):
            for part in range(5):
                s.set[team, slot, part] = 0
    for index in range(HISTORY):
        for part in range(3):
            s.last[index, part] = 0


@kernel
def _reset_flags(s: Record, r: Record) -> None:
    for team in range(NUM_TEAMS):
        s.opened[team] = int(int(r.first_meld_min) == 0)
    s.locked = 0
    s.locked_twin = 0
    s.locked_jokers = 0
    s.last_next = 0
    s.opening = -1
    s.top = -1
    s.single = -1
    s.end_reason = 0
    s.out_team = -1
    s.turn = 0
    s.pile_size = 0
    s.taken_size = 0
    s.bottom = 0
    s.phase = DRAW


@kernel
def put_on_pile(s: Record, card: int) -> None:
    """A card lies face up on top of the discard pile."""
    size = int(s.pile_size)
    s.pile[size] = card
    s.pile_size = size + 1
    count_pile(s, card, 1)


@kernel
def _bury(s: Record, card: int) -> None:
    """A card that everybody has seen goes to the bottom of the stock."""
    size = int(s.stock_size)
    for index in range(size, 0, -1):
        s.stock[index] = s.stock[index - 1]
    s.stock[0] = card
    s.stock_size = size + 1
    s.bottom = int(s.bottom) + 1
    count_bottom(s, card, 1)


@kernel
def _shuffle_and_deal(s: Record, r: Record) -> None:
    """All cards to hands, mortos and stock, in random order."""
    size = 0
    for card in range(JOKER + 1):
        s.hidden[card] = r.copies[card]
        for _ in range(int(r.copies[card])):
            s.stock[size] = card
            size += 1
    shuffle(s, s.stock, size)
    for seat in range(int(r.num_seats)):
        for _ in range(int(r.hand_size)):
            size -= 1
            gain(s, seat, int(s.stock[size]))
    for morto in range(int(r.num_mortos)):
        for index in range(int(r.morto_size)):
            size -= 1
            s.morto[morto, index] = s.stock[size]
    for index in range(size, NUM_CARDS_MAX):
        s.stock[index] = 0
        s.pile[index] = 0
    s.stock_size = size
    s.mortos_left = r.num_mortos


@kernel
def _turn_up(s: Record, r: Record) -> bool:
    """Turn up a card to start the pile; false if it asks for a new shuffle and deal (`upcard`)."""
    upcard = int(r.upcard)
    if upcard == UPCARD_NONE:
        return True
    while True:
        size = int(s.stock_size) - 1
        card = int(s.stock[size])
        if upcard == REDEAL_JOKER and card == JOKER:
            return False
        s.stock[size] = 0
        s.stock_size = size
        if (upcard == BURY_WILDS or upcard == REDEAL_JOKER) and is_wild_card(card):
            _bury(s, card)
        else:
            put_on_pile(s, card)
            return True


@kernel
def deal(s: Record, r: Record, seed: int, starter: int) -> None:
    """A fresh deal of this seed, the starter to draw."""
    s.deal_seed = seed
    seed_stream(s, seed)
    done = False
    while not done:
        _clear(s)
        _reset_flags(s, r)
        _shuffle_and_deal(s, r)
        done = _turn_up(s, r)
    s.seat = starter
    s.starter = starter
