"""Between the two engines: a `Game` as the reference's `State`, an action id as the reference's tuple."""

from functools import cache

import numpy as np

from buraco_env import Game
from buraco_env.cards import NUM_CARD_TYPES, RANKS, SUITS, card_text
from buraco_env.kernel import actions as A
from buraco_env.kernel.state import LOW, RUN_SLOTS
from buraco_env.notation import WILD_TEXT
from tests import reference as ref


@cache
def action_tuple(action: int) -> tuple:
    """The reference's name of an action."""
    kind, suit, slot, place, last, wild_at, wild = (int(x) for x in A.ARGS[action])
    symbol, wild_card = SUITS[suit] if suit >= 0 else "", WILD_TEXT[wild] or None
    if kind in (A.K_DRAW, A.K_TAKE, A.K_END_TURN):
        return (A.KINDS[kind],)
    if kind == A.K_DISCARD:
        return ("discard", card_text(slot))
    if kind in (A.K_RUN, A.K_WILD_RUN, A.K_WILD_RUN_OF_4):
        return ("meld run", symbol, place, last, wild_at, wild_card)
    if kind in (A.K_SET, A.K_WILD_SET):
        suits = (A.SUITS_OF_THREE if kind == A.K_SET else A.SUITS_OF_TWO)[place]
        return ("meld set", RANKS[slot], tuple(RANKS[slot] + SUITS[s] for s in suits), wild_card)
    if kind == A.K_LAY_RUN:
        return ("lay", symbol, slot % 6, place)
    if kind == A.K_LAY_WILD_RUN:
        return ("lay wild", symbol, slot % 6, ("low", "high")[place], wild_card)
    rank = RANKS[slot // 4]
    if kind == A.K_LAY_SET:
        return ("lay set", rank, slot % 4, rank + SUITS[place])
    return ("lay wild set", rank, slot % 4, wild_card)


TEXTS = [card_text(card) for card in range(NUM_CARD_TYPES)]


def _cards(counts) -> list[str]:
    return [TEXTS[card] for card, count in enumerate(counts.tolist()) for _ in range(count)]


def _runs(s, team: int) -> dict:
    found = {suit: [] for suit in SUITS}
    for slot in np.flatnonzero(s.run[team, :, LOW]).tolist():
        low, high, wild, wild_at = s.run[team, slot].tolist()
        found[SUITS[slot // 6]].append(ref.Run(SUITS[slot // 6], low, high, WILD_TEXT[wild] or None, wild_at))
    return found


def _sets(s, team: int) -> dict:
    found = {rank: [] for rank in RANKS}
    for slot in np.flatnonzero(s.set[team].any(1)).tolist():
        *counts, wild = s.set[team, slot].tolist()
        naturals = [RANKS[slot // 4] + SUITS[suit] for suit, count in enumerate(counts) for _ in range(count)]
        found[RANKS[slot // 4]].append(ref.Set_(RANKS[slot // 4], naturals, WILD_TEXT[wild] or None))
    return found


def to_reference(game: Game) -> ref.State:
    """The reference's state of a game."""
    s, rules = game.record, game.rules
    taken = [card_text(int(card)) for card in s.pile[: s.taken_size]] if s.taken_size else []
    locks = s.top >= 0 and rules.pile_justify == "hand_and_table"
    opening = None
    if s.opening >= 0:
        slot = int(s.opening)
        on_run = slot < RUN_SLOTS
        opening = (SUITS[slot // 6], "run", slot % 6) if on_run else (RANKS[(slot - RUN_SLOTS) // 4], "set", slot % 4)
    return ref.State(
        rules=rules.values(),
        hands=[_cards(s.hand[seat]) for seat in range(rules.num_seats)],
        runs=[_runs(s, team) for team in (0, 1)],
        sets=[_sets(s, team) for team in (0, 1)],
        pile=game.pile,
        stock=[TEXTS[card] for card in s.stock[: s.stock_size].tolist()],
        mortos=[[card_text(int(c)) for c in s.morto[m, : rules.morto_size]] for m in reversed(range(s.mortos_left))],
        taken=[int(x) for x in s.taken],
        waiting=[bool(s.waiting[seat]) for seat in range(rules.num_seats)],
        seat=game.seat,
        starter=game.starter,
        turn=game.turn,
        phase=game.phase,
        top=card_text(int(s.top)) if s.top >= 0 else None,
        locked=taken[:-1] if locks else [],
        single=card_text(int(s.single)) if s.single >= 0 else None,
        opening=opening,
        opened=[bool(x) for x in s.opened],
        last_turn=False,
        end_reason=game.end_reason,
        out_team=int(s.out_team) if s.out_team >= 0 else None,
    )
