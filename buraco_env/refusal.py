"""Why an action is illegal, in words."""

from __future__ import annotations

from buraco_env.cards import card_text, is_wild
from buraco_env.kernel import actions as A
from buraco_env.kernel.state import EXTRA, RUN_SLOTS, Record
from buraco_env.notation import meld_names
from buraco_env.rules import Rules


def why_no_draw(s: Record, rules: Rules, take: bool) -> str:
    """Why the stock or the pile may not be drawn from."""
    if not take:
        return "the stock is empty"
    if not s.pile_size:
        return "the pile is empty"
    top = card_text(int(s.pile[s.pile_size - 1]))
    how = "first of all" if rules.pile_take == "use_top_first" else "in this turn"
    return f"its top card {top} would have to be melded {how}, and the turn could not be completed so"


def why_no_meld(s: Record, rules: Rules, action: int, is_move: bool) -> str:
    """Why a meld, lay-off, discard or end of turn is illegal after drawing."""
    missing = _missing_card(s, action)
    if missing:
        return missing
    kind = int(A.ARGS[action, A.KIND])
    ends = kind in (A.K_DISCARD, A.K_END_TURN)
    first = action in (int(A.DISCARD) + int(s.top),)
    duty = _open_duty(s, rules)
    if duty and (ends or first or not is_move):
        return duty
    if kind == A.K_END_TURN:
        return "a turn ends with a discard; only after a morto taken by a discard it ends so"
    if kind == A.K_DISCARD:
        return _why_no_discard(s, rules, int(A.ARGS[action, A.SLOT]))
    if is_move:
        return "the turn could not be completed after it" + (f": {duty}" if duty else _what_is_lacking(s, rules))
    return "the rules allow no such meld here"


def _missing_card(s: Record, action: int) -> str:
    """The card of the action that the hand does not hold, or holds only among the buried cards."""
    for card in range(s.hand.shape[1]):
        wanted = (int(A.USES[action]) >> card & 1) + (int(A.USES_TWICE[action]) >> card & 1)
        held = int(s.hand[s.seat, card])
        if wanted > held:
            return f"the hand holds {'only one' if held else 'no'} {card_text(card)}"
    return ""


def _open_duty(s: Record, rules: Rules) -> str:
    if s.top >= 0:
        first = rules.pile_take == "use_top_first"
        buried = ", with cards held before" if rules.pile_justify == "hand_and_table" else ""
        return f"the pile's top card {card_text(int(s.top))} must be melded{' first' if first else ''}{buried}"
    if s.opening >= 0:
        kind, slot = ("run", int(s.opening)) if s.opening < RUN_SLOTS else ("set", int(s.opening) - RUN_SLOTS)
        names = {(k, n): " ".join(cards) for k, n, cards in meld_names(s, int(s.seat) % 2)}
        return f"the first meld {names[kind, slot]} must be worth {rules.first_meld_min} points before anything else"
    return ""


def _why_no_discard(s: Record, rules: Rules, card: int) -> str:
    if s.phase == EXTRA:
        return "the discard has been made: meld, lay off or end the turn"
    if card == s.single and s.hand[s.seat, card] < 2:
        return "it was the whole pile; it may go back only with a twin in hand"
    if is_wild(card) and rules.final_discard_wild != "allowed" and s.hand_size[s.seat] == 1:
        return "a wild may not be the discard that empties the hand here"
    return "it would empty the hand" + _what_is_lacking(s, rules)


def _what_is_lacking(s: Record, rules: Rules) -> str:
    clean = " clean" if rules.close_with == "clean" else ""
    return f": a card must be kept after the discard, unless a morto comes or the team goes out with a{clean} canasta"
