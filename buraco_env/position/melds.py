"""Melds of a position text, laid on the table of a record."""

from __future__ import annotations

from buraco_env.cards import JOKER, RANKS, SUITS, is_two, parse_card
from buraco_env.kernel import batch as kernel
from buraco_env.kernel.melds import CANASTA
from buraco_env.kernel.state import RUNS_PER_SUIT, SET_WILD, SETS_PER_RANK, Record, rules_row
from buraco_env.notation import WILD_TEXT
from buraco_env.rules import Rules


def meld_cards(meld: str) -> list[int]:
    """The cards of one meld; a ValueError if it has not the form of one."""
    words = meld.split()
    cards = [parse_card(word.removesuffix("*")) for word in words]
    wilds = [word.removesuffix("*") for word in words if word.endswith("*")]
    if JOKER in (card for card, word in zip(cards, words) if not word.endswith("*")):
        raise ValueError(f"{meld!r}: a joker is always a wild, write JK*")
    if len(words) < 3 or len(words) - len(wilds) < 2 or len(wilds) > 1 or (wilds and wilds[0] not in WILD_TEXT):
        raise ValueError(f"{meld!r} is no meld: three cards or more, two of them natural, at most one wild")
    return cards


def lay(s: Record, rules: Rules, team: int, meld: str) -> None:
    """Lay a meld on a team's table; a ValueError if the rules do not allow it."""
    words, cards = meld.split(), meld_cards(meld)
    naturals = [card for card, word in zip(cards, words) if not word.endswith("*")]
    wild = next((WILD_TEXT.index(word.removesuffix("*")) for word in words if word.endswith("*")), 0)
    for card in cards:
        s.melded[card] += 1
    if len({card % 13 for card in naturals}) == 1:
        _lay_set(s, rules, team, meld, naturals, wild)
    else:
        _lay_run(s, rules, team, meld, wild)
    if len(words) >= CANASTA:
        (s.dirty if wild else s.clean)[team] += 1


def _lay_set(s: Record, rules: Rules, team: int, meld: str, naturals: list[int], wild: int) -> None:
    rank = naturals[0] % 13
    bad_twos = is_two(naturals[0]) and (not rules.sets_of_twos or wild > 1)
    if not rules.sets or bad_twos or (rules.max_set and len(naturals) + bool(wild) > rules.max_set):
        raise ValueError(f"the rules do not allow the set {meld!r}")
    first = rank * SETS_PER_RANK
    slot = first + (int(s.set_slots[team]) >> first & (1 << SETS_PER_RANK) - 1).bit_count()
    s.set_slots[team] |= 1 << slot
    for card in naturals:
        s.set[team, slot, card // 13] += 1
    s.set[team, slot, SET_WILD] = wild


def _lay_run(s: Record, rules: Rules, team: int, meld: str, wild: int) -> None:
    words = meld.split()
    suit = SUITS.index(next(word for word in words if not word.endswith("*"))[1])
    first, row = suit * RUNS_PER_SUIT, rules_row(rules)
    number = (int(s.run_slots[team]) >> first & (1 << RUNS_PER_SUIT) - 1).bit_count()
    run = next((run for run in _packed(words, suit, wild) if kernel.stands(row, 0, suit, run)), 0)
    if not run or number >= rules.max_runs_per_suit:
        raise ValueError(f"the rules do not allow the run {meld!r}, or its wild stands elsewhere")
    s.run_slots[team] |= 1 << (first + number)
    s.run[team, first + number] = [run >> shift & 0xFF for shift in (0, 8, 16, 24)]


def _packed(words: list[str], suit: int, wild: int) -> list[int]:
    """The packed runs that these words could be, if they are one: an ace may be low or high."""
    index, card = next((i, word) for i, word in enumerate(words) if not word.endswith("*"))
    found = []
    for position in (1, 14) if card[0] == "A" else (RANKS.index(card[0]) + 1,):
        low = position - index
        wild_at = next((low + i for i, word in enumerate(words) if word.endswith("*")), 0)
        texts = [w if w.endswith("*") else RANKS[(low + i - 1) % 13] + SUITS[suit] for i, w in enumerate(words)]
        if texts == words and low >= 1 and low + len(words) - 1 <= 14:
            found.append(low | low + len(words) - 1 << 8 | wild << 16 | wild_at << 24)
    return found
