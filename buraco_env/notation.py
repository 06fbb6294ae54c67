"""Text <-> cards, melds and actions. What `describe` writes, `parse` reads back.

In a meld a card acting as a wild has a star: `4H 5H 2S* 7H`. A target is named by where it lies: a run by its ends,
`4H-7H`, a set by its rank, `set K`; the second of two alike is `4H-7H#2`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from buraco_env.cards import RANKS, SUITS, card_text, parse_card
from buraco_env.kernel import actions as A
from buraco_env.kernel.state import (
    FIXED,
    HIGH,
    LOW,
    NUM_WILD_KINDS,
    RUN_WILD,
    RUNS_PER_SUIT,
    SET_WILD,
    SETS_PER_RANK,
    WILD_CARDS,
    WILD_POSITION,
    Record,
)

PHASES = ("draw", "meld", "extra", "over")  # by the number in a record
END_REASONS = (None, "out", "stock", "turn cap")
WILD_TEXT = ("", *(card_text(int(WILD_CARDS[kind])) for kind in range(1, NUM_WILD_KINDS + 1)))


def cards_text(cards: Iterable[int]) -> str:
    """Card types as text: `3H JK`."""
    return " ".join(card_text(int(card)) for card in cards)


def parse_cards(text: str) -> list[int]:
    """Card types from text."""
    return [parse_card(word) for word in text.split()]


def position_text(suit: int, position: int) -> str:
    """The natural card of a run's position, 1 (low ace) to 14 (high ace)."""
    return RANKS[(position - 1) % 13] + SUITS[suit]


def run_cards(suit: int, low: int, high: int, wild: int, wild_at: int) -> list[str]:
    """A run's cards from low to high; the wild with its star."""
    return [WILD_TEXT[wild] + "*" if p == wild_at and wild else position_text(suit, p) for p in range(low, high + 1)]


def set_cards(rank: int, counts: Iterable[int], wild: int) -> list[str]:
    """A set's cards by suit, then the wild with its star."""
    naturals = [RANKS[rank] + SUITS[suit] for suit, count in enumerate(counts) for _ in range(int(count))]
    return [*naturals, WILD_TEXT[wild] + "*"] if wild else naturals


@cache
def _fixed_texts() -> tuple[str, ...]:
    """The text of every action that names no target on the table; "" for the others."""
    texts = []
    for action in range(A.NUM_ACTIONS):
        kind, suit, slot, place, last, wild_at, wild = (int(x) for x in A.ARGS[action])
        if kind <= A.K_TAKE or kind == A.K_END_TURN:
            texts.append(A.KINDS[kind])
        elif kind <= A.K_WILD_RUN_OF_4:
            texts.append("meld " + " ".join(run_cards(suit, place, last, wild, wild_at)))
        elif kind <= A.K_WILD_SET:
            suits = (A.SUITS_OF_THREE if kind == A.K_SET else A.SUITS_OF_TWO)[place]
            texts.append("meld " + " ".join(set_cards(slot, [suits.count(s) for s in range(4)], wild)))
        else:
            texts.append(f"discard {card_text(slot)}" if kind == A.K_DISCARD else "")
    return tuple(texts)


@cache
def _fixed_ids() -> dict[str, int]:
    """Text -> id for the actions that name no target; runs of the same text are one action."""
    return {text: action for action, text in reversed(list(enumerate(_fixed_texts()))) if text}


def run_name(s: Record, team: int, slot: int) -> str:
    """How a run is named as a target: `4H-7H`, or `4H-7H#2` for the second that lies there."""
    suit = slot // RUNS_PER_SUIT
    if not s.run[team, slot, LOW]:
        return f"run {slot % RUNS_PER_SUIT + 1} of {SUITS[suit]}"  # there is none
    ends = (int(s.run[team, slot, LOW]), int(s.run[team, slot, HIGH]))
    alike = sum(
        (int(s.run[team, other, LOW]), int(s.run[team, other, HIGH])) == ends
        for other in range(suit * RUNS_PER_SUIT, slot)
    )
    return f"{position_text(suit, ends[0])}-{position_text(suit, ends[1])}" + (f"#{alike + 1}" if alike else "")


def set_name(slot: int) -> str:
    """How a set is named as a target: `set K`, or `set K#2` for the second of that rank."""
    number = slot % SETS_PER_RANK
    return f"set {RANKS[slot // SETS_PER_RANK]}" + (f"#{number + 1}" if number else "")


def _where(s: Record, team: int, slot: int, position: int) -> str:
    """` low` or ` high` for an ace that does not go to the nearer end, or where both ends are as near."""
    to_low, to_high = int(s.run[team, slot, LOW]) - 1, 14 - int(s.run[team, slot, HIGH])
    if position == 1:
        return " low" if to_low >= to_high else ""
    return " high" if position == 14 and to_high >= to_low else ""


def action_text(s: Record, r: Record, action: int) -> str:
    """An action in words, as the position stands: `lay off 7H on 4H-6H`."""
    text = _fixed_texts()[action]
    if text:
        return text
    kind, suit, slot, place, _, _, wild = (int(x) for x in A.ARGS[action])
    team = int(s.seat) % 2
    fixed = int(r.wild_moves) == FIXED
    if kind == A.K_LAY_RUN:
        card, target = position_text(suit, place), run_name(s, team, slot)
        if fixed and int(s.run[team, slot, RUN_WILD]) and place == int(s.run[team, slot, WILD_POSITION]):
            return f"swap {card} into {target}"
        return f"lay off {card} on {target}{_where(s, team, slot, place)}"
    if kind == A.K_LAY_WILD_RUN:
        end = "" if not fixed else " high" if place == A.HIGH_END else " low"
        return f"lay off {WILD_TEXT[wild]}* on {run_name(s, team, slot)}{end}"
    card = RANKS[slot // SETS_PER_RANK] + SUITS[place] if kind == A.K_LAY_SET else WILD_TEXT[wild] + "*"
    return f"lay off {card} on {set_name(slot)}"


def parse_action(s: Record, r: Record, text: str) -> int:
    """The id of an action written as `action_text` writes it; a ValueError says what can't be read.

    Stars may be left out and a set's cards may come in any order, where that is not ambiguous.
    """
    words = " ".join(text.split())
    found = _fixed_ids().get(words)
    if found is not None:
        return found
    verb = words.split(" ")[0]
    if verb == "meld":
        return _parse_meld(words)
    if words.startswith(("lay off ", "swap ")):
        return _parse_lay_off(s, r, words)
    if verb == "discard":
        parse_card(words.removeprefix("discard").strip())
    raise ValueError(
        f"{text!r} is no action: write draw, take pile, meld CARDS, lay off CARD on MELD, swap CARD into MELD,"
        " discard CARD or end turn"
    )


@cache
def _ids_by_cards() -> dict[tuple[str, ...], list[int]]:
    """Sorted cards without stars -> the new melds made of them."""
    found: dict[tuple[str, ...], list[int]] = {}
    for text, action in _fixed_ids().items():
        if text.startswith("meld "):
            found.setdefault(tuple(sorted(text.replace("*", "").split()[1:])), []).append(action)
    return found


def _parse_meld(words: str) -> int:
    cards = [word.removesuffix("*") for word in words.split()[1:]]
    for card in cards:
        parse_card(card)
    choices = _ids_by_cards().get(tuple(sorted(cards)), [])
    if "*" in words:
        choices = [a for a in choices if sorted(_fixed_texts()[a].split()) == sorted(words.split())]
    same_order = [a for a in choices if _fixed_texts()[a].replace("*", "").split()[1:] == cards]
    unstarred = [a for a in choices if "*" not in _fixed_texts()[a]]
    for narrowed in (same_order, unstarred, choices):
        if len(narrowed) == 1:
            return narrowed[0]
    if choices:
        options = ", ".join(_fixed_texts()[a] for a in choices)
        raise ValueError(f"{words!r} can be laid in several ways: {options}")
    raise ValueError(
        f"{words!r} is no new meld: lay three cards of a run or a set (four for a run with a wild inside), then lay off"
    )


def targets(s: Record, team: int) -> dict[str, tuple[bool, int]]:
    """Name -> (is a run, slot) of every meld on a team's table."""
    runs = [slot for slot in range(s.run.shape[1]) if int(s.run[team, slot, LOW])]
    sets = [slot for slot in range(s.set.shape[1]) if s.set[team, slot].any()]
    return {run_name(s, team, slot): (True, slot) for slot in runs} | {set_name(slot): (False, slot) for slot in sets}


def _parse_lay_off(s: Record, r: Record, words: str) -> int:
    head, joint, tail = words.partition(" into " if words.startswith("swap ") else " on ")
    parse_card(head.split(" ")[-1].removesuffix("*"))
    name, known = tail.removesuffix(" low").removesuffix(" high"), targets(s, int(s.seat) % 2)
    if not joint or name not in known:
        raise ValueError(f"{words!r} names no meld of your team: {', '.join(known) or 'it has none'}")
    texts = {action_text(s, r, action): action for action in _lay_offs(*known[name])}
    plain = {text.replace("*", ""): action for text, action in reversed(texts.items())}
    if words not in texts and words not in plain:
        near = [text for text in texts if text.replace("*", "").startswith(words.replace("*", "") + " ")]
        if near:
            raise ValueError(f"{words!r} can be laid in several ways: {', '.join(near)}")
        raise ValueError(f"{words!r}: that card has no place on {name}")
    return texts[words] if words in texts else plain[words]


@cache
def _lay_offs(is_run: bool, slot: int) -> tuple[int, ...]:
    """Every lay-off onto a slot."""
    kinds = (A.K_LAY_RUN, A.K_LAY_WILD_RUN) if is_run else (A.K_LAY_SET, A.K_LAY_WILD_SET)
    return tuple(a for a in range(A.NUM_ACTIONS) if A.ARGS[a, A.KIND] in kinds and A.ARGS[a, A.SLOT] == slot)


def meld_names(s: Record, team: int) -> list[tuple[str, int, list[str]]]:
    """Every meld of a team as (kind, slot, cards): runs by suit, then sets by rank."""
    melds: list[tuple[str, int, list[str]]] = []
    for slot in range(s.run.shape[1]):
        low, high, wild, wild_at = (int(x) for x in s.run[team, slot])
        if low:
            melds.append(("run", slot, run_cards(slot // RUNS_PER_SUIT, low, high, wild, wild_at)))
    for slot in range(s.set.shape[1]):
        if s.set[team, slot].any():
            counts = s.set[team, slot, :SET_WILD]
            melds.append(("set", slot, set_cards(slot // SETS_PER_RANK, counts, int(s.set[team, slot, SET_WILD]))))
    return melds
