"""What a person at the terminal answers, read as an action."""

from __future__ import annotations

import re

from agents.base import nearest
from buraco_env import View

VERBS = ("draw", "take pile", "meld", "lay off", "swap", "discard", "end turn")
SMALL = {*" ".join(VERBS).split(), "on", "into", "set", "low", "high"}  # words of an action that are no cards
LETTERS = str.maketrans("♣♦♥♠", "CDHS")
TEN = re.compile(r"\b10(?=[CDHS]\b)|(?<=set )10\b", re.IGNORECASE)  # elsewhere T is how a verb begins
COMMANDS = {
    "help": "this list (also ?); an empty line shows the table again",
    "hint": "what a search would play, and what it expects",
    "seen": "the whole pile, cards known to be in a hand, and what everybody has discarded",
    "rules": "the rules of this game in words",
    "undo": "take back your last meld, lay-off, swap or pile, until you draw from the stock or take a morto",
    "quit": "leave the table (also Ctrl-C)",
}


def read(view: View, answer: str) -> int:
    """The legal id that an answer means; a ValueError says what was given and what is allowed."""
    actions = view.legal_actions()
    if answer.isdecimal():
        if 1 <= int(answer) <= len(actions):
            return actions[int(answer) - 1]
        raise ValueError(f"{answer}: the actions are numbered from 1 to {len(actions)}")
    words, game = as_written(answer), view.resample(0)  # any game that the seat can't tell from the real one
    try:
        chosen = game.parse(words)
    except ValueError as error:
        return _by_beginning(view, answer, words, str(error))
    if chosen not in actions:
        game.play(chosen)  # raises IllegalAction, which is a ValueError, with the reason
    return chosen


def as_written(answer: str) -> str:
    """An answer as an action is written: the verb in full, where its beginning is clear, cards in capitals."""
    words = TEN.sub("T", answer.translate(LETTERS)).split()
    begun = [verb.split() for verb in VERBS if verb.startswith(words[0].lower())]
    if len(begun) == 1:
        (verb,) = begun
        twice = len(words) > 1 and len(verb) > 1 and verb[1].startswith(words[1].lower())
        words = verb + words[2 if twice else 1 :]
    return " ".join(word.lower() if word.lower() in SMALL else word.upper() for word in words)


def _by_beginning(view: View, answer: str, words: str, unread: str) -> int:
    """The one legal id whose words begin like these; `unread`: why they are no whole action."""
    actions, parts = view.legal_actions(), [word.replace("*", "") for word in words.split()]
    begun = re.compile(r"\S* ".join(map(re.escape, parts)), re.IGNORECASE)
    # a word of stars alone says nothing, and anything begins with nothing
    found = [action for action in actions if all(parts) and begun.match(view.describe(action))]
    if len(found) == 1:
        return found[0]
    if found:
        raise ValueError(f"{answer!r} may be several actions: {', '.join(map(view.describe, found))}")
    if words.startswith(VERBS):
        raise ValueError(f"no legal action begins so: {unread}")
    known = f"{nearest(answer.lower(), (*COMMANDS, *VERBS))}; or a number from 1 to {len(actions)}"
    raise ValueError(f"{answer!r} is no answer here; {known}, or an action in words")
