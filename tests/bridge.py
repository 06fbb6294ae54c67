"""Between the two engines: a `Game` as the reference's `State`, an action id as the reference's tuple."""

from functools import cache

import numpy as np

from buraco_env import Game
from buraco_env.cards import NUM_CARD_TYPES, RANKS, SUITS, card_text
from buraco_env.kernel import actions as A
from buraco_env.kernel.state import LOW, RUN_SLOTS
from buraco_env.notation import END_REASONS, PHASES, WILD_TEXT
from buraco_env.rules import Rules
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


FIELDS = (
    *("hand", "run", "set", "pile", "taken_size", "pile_size", "stock", "stock_size", "morto", "mortos_left", "taken"),
    *("waiting", "seat", "starter", "turn", "phase", "top", "single", "opening", "opened", "end_reason", "out_team"),
)
TEXTS = [card_text(card) for card in range(NUM_CARD_TYPES)]


@cache
def _values(rules: Rules) -> dict:
    return rules.values()


def _cards(counts) -> list[str]:
    return [TEXTS[card] for card, count in enumerate(counts.tolist()) for _ in range(count)]


def _runs(table) -> dict:
    found = {suit: [] for suit in SUITS}
    for slot in np.flatnonzero(table[:, LOW]).tolist():
        low, high, wild, wild_at = table[slot].tolist()
        found[SUITS[slot // 6]].append(ref.Run(SUITS[slot // 6], low, high, WILD_TEXT[wild] or None, wild_at))
    return found


def _sets(table) -> dict:
    found = {rank: [] for rank in RANKS}
    for slot in np.flatnonzero(table.any(1)).tolist():
        *counts, wild = table[slot].tolist()
        naturals = [RANKS[slot // 4] + SUITS[suit] for suit, count in enumerate(counts) for _ in range(count)]
        found[RANKS[slot // 4]].append(ref.Set_(RANKS[slot // 4], naturals, WILD_TEXT[wild] or None))
    return found


def _opening(slot: int) -> tuple | None:
    if slot < 0:
        return None
    if slot < RUN_SLOTS:
        return SUITS[slot // 6], "run", slot % 6
    return RANKS[(slot - RUN_SLOTS) // 4], "set", slot % 4


def _card(card: int) -> str | None:
    return TEXTS[card] if card >= 0 else None


def to_reference(game: Game) -> ref.State:
    """The reference's state of a game."""
    rules, seats = game.rules, range(game.rules.num_seats)
    s = {name: game._states[name][0] for name in FIELDS}  # the arrays themselves: records are slow to read
    pile, stock = s["pile"].tolist(), s["stock"].tolist()
    taken = [TEXTS[card] for card in pile[: s["taken_size"]]]
    return ref.State(
        rules=_values(rules),
        hands=[_cards(s["hand"][seat]) for seat in seats],
        runs=[_runs(table) for table in s["run"]],
        sets=[_sets(table) for table in s["set"]],
        pile=[TEXTS[card] for card in pile[: s["pile_size"]]],
        stock=[TEXTS[card] for card in stock[: s["stock_size"]]],
        mortos=[
            [TEXTS[card] for card in morto[: rules.morto_size]] for morto in s["morto"][: s["mortos_left"]].tolist()
        ][::-1],
        taken=s["taken"].tolist(),
        waiting=[bool(s["waiting"][seat]) for seat in seats],
        seat=int(s["seat"]),
        starter=int(s["starter"]),
        turn=int(s["turn"]),
        phase=PHASES[s["phase"]],
        top=_card(int(s["top"])),
        locked=taken[:-1] if s["top"] >= 0 and rules.pile_justify == "hand_and_table" else [],
        single=_card(int(s["single"])),
        opening=_opening(int(s["opening"])),
        opened=[bool(x) for x in s["opened"]],
        last_turn=False,
        end_reason=END_REASONS[s["end_reason"]],
        out_team=int(s["out_team"]) if s["out_team"] >= 0 else None,
    )
