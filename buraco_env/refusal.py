"""Why an action is illegal, in words."""

from __future__ import annotations

from buraco_env.cards import JOKER, card_text, is_wild
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
    duty = _open_duty(s, rules)
    if kind in (A.K_DISCARD, A.K_END_TURN):
        return duty or _why_no_end(s, rules, kind, int(A.ARGS[action, A.SLOT]))
    if is_move:
        return "the turn could not be completed after it: " + (duty or _what_is_lacking(s, rules, False))
    if duty and not _answers_duty(s, rules, action):
        return duty
    if _is_lay_off(kind) and not _names_a_meld(s, kind, int(A.ARGS[action, A.SLOT])):
        return "your team has no such meld"
    if kind == A.K_LAY_WILD_RUN and rules.wild_moves != "fixed" and A.ARGS[action, A.PLACE] == A.LOW_END:
        return "where wilds move, a wild is laid on the high end and goes where it is needed"
    return "the rules allow no such meld here"


def _is_lay_off(kind: int) -> bool:
    return A.K_LAY_RUN <= kind <= A.K_LAY_WILD_SET


def _names_a_meld(s: Record, kind: int, slot: int) -> bool:
    """A lay-off's slot holds a meld of the team to move."""
    table = s.run if kind in (A.K_LAY_RUN, A.K_LAY_WILD_RUN) else s.set
    return bool(table[int(s.seat) % 2, slot].any())


def _answers_duty(s: Record, rules: Rules, action: int) -> bool:
    """The action is aimed at what the open duty asks: the top card at once, the first meld below its minimum."""
    if s.top >= 0 and rules.pile_take == "use_top_first" and not int(A.USES[action]) >> int(s.top) & 1:
        return False
    kind, slot = int(A.ARGS[action, A.KIND]), int(A.ARGS[action, A.SLOT])
    on_run = kind in (A.K_LAY_RUN, A.K_LAY_WILD_RUN)
    return s.opening < 0 or (_is_lay_off(kind) and s.opening == (slot if on_run else RUN_SLOTS + slot))


def _missing_card(s: Record, action: int) -> str:
    """The card of the action that the hand does not hold, or holds only among the buried cards."""
    for card in range(s.hand.shape[1]):
        wanted = (int(A.USES[action]) >> card & 1) + (int(A.USES_TWICE[action]) >> card & 1)
        held = int(s.hand[s.seat, card])
        if wanted > held:
            return f"the hand holds {'only one' if held else 'no'} {card_text(card)}"
        buried = (int(s.locked) >> card & 1) + (int(s.locked_twin) >> card & 1)
        if wanted > held - buried and card != JOKER and int(A.ARGS[action, A.KIND]) != A.K_DISCARD:
            return f"{card_text(card)} lies among the buried cards, barred until {card_text(int(s.top))} is used"
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


def _why_no_end(s: Record, rules: Rules, kind: int, card: int) -> str:
    """Why a turn may not end by this discard, or without one."""
    if kind == A.K_END_TURN:
        return "a turn ends with a discard; only after a morto taken by a discard it ends so"
    if s.phase == EXTRA:
        return "the discard has been made: meld, lay off or end the turn"
    if card == s.single and s.hand[s.seat, card] < 2:
        return "it was the whole pile; it may go back only with a twin in hand"
    if is_wild(card) and _wild_may_not_be_last(s, rules):
        only = " while a meld could use it" if rules.final_discard_wild == "only_if_unplayable" else " and go out"
        return "a wild may not be the discard that empties the hand" + only
    return "it would empty the hand: " + _what_is_lacking(s, rules, True)


def _morto_to_come(s: Record, rules: Rules) -> bool:
    return bool(s.mortos_left and s.taken[s.seat % 2] < rules.mortos_per_team)


def _may_go_out(s: Record, rules: Rules) -> bool:
    """The team has the canasta that going out asks for."""
    team = s.seat % 2
    return bool(s.clean[team] or (s.dirty[team] and rules.close_with == "any"))


def _wild_may_not_be_last(s: Record, rules: Rules) -> bool:
    """It is the rule for the last discard, and no other, that refuses a wild."""
    if rules.final_discard_wild == "forbidden_closing":
        return not _morto_to_come(s, rules)
    may_empty = _morto_to_come(s, rules) or _may_go_out(s, rules)
    return rules.final_discard_wild == "only_if_unplayable" and may_empty


def _what_is_lacking(s: Record, rules: Rules, by_discard: bool) -> str:
    """What would have to be so for the hand to be emptied."""
    morto = _morto_to_come(s, rules)
    if not by_discard and s.phase != EXTRA and not (rules.meld_out_morto if morto else rules.meld_out_close):
        return "a card must be left to discard" + ("" if morto or _may_go_out(s, rules) else ", and one to keep")
    clean = "clean canasta" if rules.close_with == "clean" else "canasta"
    kept = "a card must be kept" + ("" if s.phase == EXTRA else " after the discard")
    return f"{kept}, unless a morto comes or the team goes out with a {clean}"
