"""Rules in words that a player understands: one game, what differs between games, the table of all presets."""

from collections.abc import Sequence
from typing import Any

from buraco_env.rules import RULE_FIELDS, Rules, rule_names

# Heading -> field -> what it means: a sentence for any value, {}, or one for each value, under None for the rest.
_Sentence = str | dict[Any, str]
_SENTENCES: dict[str, dict[str, _Sentence]] = {
    "The deal": {
        "num_seats": {2: "Two play, each alone.", 4: "Four play, partners opposite each other."},
        "num_jokers": {
            0: "Two packs without jokers, 104 cards; the twos are the only wilds.",
            4: "Two packs and four jokers, 108 cards; jokers and twos are wild.",
        },
        "hand_size": "Each hand is dealt {} cards.",
        "num_mortos": "{} mortos lie face down.",
        "morto_size": "Each morto has {} cards.",
        "max_runs_per_suit": "A team may have up to {} runs of one suit on the table.",
        "mortos_per_team": {1: "A team may take one morto.", 2: "A team may take up to two mortos."},
        "upcard": {
            "none": "The discard pile starts empty.",
            "bury_wilds": "A card starts the pile; a wild is put under the stock and the next one is turned up.",
            "redeal_joker": "A card starts the pile; a joker means a new deal, a two is put under the stock.",
            "any": "A card starts the pile, whatever it is.",
        },
    },
    "Taking the discard pile": {
        "pile_take": {
            "free": "The pile is open: take it whenever you like.",
            "use_top_this_turn": "Whoever takes the pile must meld its top card in the same turn.",
            "use_top_first": "The pile is closed: whoever takes it must meld its top card before anything else.",
        },
        "pile_justify": {
            "hand_and_table": "Where the top card must be used, only your hand and your team's melds may help.",
            "whole_pile": "Where the top card must be used, the other cards of the pile may help.",
        },
        "single_card_rediscard": {
            "allowed": "A card taken as a pile of one may be discarded in that turn.",
            "twin_only": "A card taken as a pile of one may be discarded in that turn only if you hold two of it.",
        },
    },
    "Melds": {
        "sets": {True: "Sets of one rank are allowed as well as runs.", False: "Only runs may be melded, no sets."},
        "sets_of_twos": {True: "Twos may form a set of their own.", False: "Twos can't form a set of their own."},
        "max_set": {0: "A set may grow without limit.", None: "A set has at most {} cards."},
        "max_run": "A run has at most {} cards.",
        "ace_to_ace": {
            "forbidden": "No run goes from ace to ace.",
            "wild_only": "A run may go from ace to ace only if a wild stands at one of its ends.",
            "allowed": "A run may go from ace to ace.",
        },
        "wild_min_run": {
            0: "No wild may be in a run.",
            None: "A run with a wild has at least {} cards, the wild included.",
        },
        "wild_low_end": {
            "any": "A wild may be the lowest card of a run.",
            "ace_only": "A wild may be the lowest card of a run only as the ace.",
        },
        "wild_moves": {
            "fixed": "A wild stays where it was laid; in a run, the card it stands for takes it back into the hand.",
            "slides": "A wild moves to wherever the meld needs it; a two that gets to its own place stays there.",
            "resolves": "A wild moves to wherever the meld needs it, and a two in its own place may become wild again.",
        },
        "first_meld_min": {
            0: "A team's first meld may be worth anything.",
            None: "A team's first meld must be worth {} points.",
        },
    },
    "Mortos and going out": {
        "close_with": {
            "any": "A team needs a canasta, clean or dirty, to go out.",
            "clean": "A team needs a clean canasta to go out.",
        },
        "meld_out_morto": {
            True: "Melding the last card takes a morto, and the turn goes on.",
            False: "A morto can't be taken by melding the last card: one must be left to discard.",
        },
        "meld_out_close": {
            True: "Melding the last card may go out.",
            False: "Nobody goes out by melding the last card: one must be left to discard.",
        },
        "morto_after_discard": {
            "next_turn": "A morto taken by discarding the last card waits for the next turn.",
            "immediate": "A morto taken by discarding the last card can be played at once, with no other discard.",
        },
        "final_discard_wild": {
            "allowed": "The discard that empties the hand may be a wild.",
            "only_if_unplayable": "The discard that empties the hand may be a wild only if no meld could use it.",
            "forbidden_closing": "The discard that goes out may not be a wild.",
        },
        "stock_end": {
            "after_turn": "The turn in which the last stock card was drawn is the last of the deal.",
            "at_last_draw": "The deal ends the moment the last stock card is drawn.",
            "mortos_join": "The mortos on the table follow the stock; the turn that draws their last card is the last.",
            "last_two": "When two stock cards are left, that turn is the last of the deal.",
        },
    },
    "Points": {
        "points_joker": "A joker counts {}.",
        "points_two": "A two counts {}.",
        "points_ace": "An ace counts {}.",
        "points_high": "Eight to king count {} each.",
        "points_low": "Three to seven count {} each.",
        "bonus_clean": "A clean canasta gives {}.",
        "bonus_dirty": "A dirty canasta gives {}.",
        "bonus_semi_clean": {
            0: "A dirty canasta with seven natural cards in a row gives no more than any other.",
            None: "A dirty canasta with seven natural cards in a row, or a set of eight with a wild, gives {}.",
        },
        "bonus_royal": {
            0: "A clean run of thirteen gives no more than another clean canasta.",
            None: "A royal canasta (a clean run of thirteen) gives {}.",
        },
        "bonus_ace_to_ace": {
            0: "A clean run from ace to ace gives no more than another clean canasta.",
            None: "A clean run from ace to ace gives {}.",
        },
        "bonus_out": "Going out gives {}.",
        "bonus_morto": {0: "Taking a morto gives no points.", None: "Taking a morto gives {}."},
        "penalty_no_morto": {0: "A team without a morto pays nothing.", None: "A team that took no morto pays {}."},
        "penalty_unused_morto": {
            0: "A morto not played from yet costs only the cards in it.",
            None: "A morto taken by a discard and not played from yet costs {}, and the cards in it.",
        },
    },
    "The match": {
        "target": "The match ends when a team has {} points at the end of a deal.",
        "tie": {
            "extra_deal": "If both teams have the same total then, another deal is played.",
            "starter": "If both teams have the same total then, the team that started the match wins.",
        },
        "max_turns": "A deal is cut off after {} turns, counted over all seats, and scored as it stands.",
    },
}


def sentence(field: str, value: object) -> str:
    """What one value of one rule field means."""
    meaning = next(fields[field] for fields in _SENTENCES.values() if field in fields)
    if isinstance(meaning, dict):
        meaning = meaning[value] if value in meaning else meaning[None]
    return meaning.format(value)


def title(rules: Rules) -> str:
    """The English title, or the name where there is none."""
    return rules.titles.get("en") or rules.name


def describe(rules: Rules) -> str:
    """One game, a sentence for every field that matters in it."""
    other_titles = [text for language, text in rules.titles.items() if language != "en"]
    lines = [f"{title(rules)} ({rules.name})", *([" / ".join(other_titles)] if other_titles else [])]
    for heading, fields in _SENTENCES.items():
        asked = [field for field in fields if field not in _moot(rules)]
        lines += ["", heading, *(f"  {sentence(field, getattr(rules, field))}" for field in asked)]
    return "\n".join(lines)


def _moot(rules: Rules) -> list[str]:
    """The fields that make no difference beside the values of others."""
    without_sets = [] if rules.sets else ["sets_of_twos", "max_set"]
    return without_sets + (["pile_justify"] if rules.pile_take == "free" else [])


def compare(games: Sequence[Rules]) -> str:
    """What differs between games, a sentence for each game and field."""
    width = max(len(rules.name) for rules in games)
    lines: list[str] = []
    for field in _varying(games):
        lines += ["", field, *(f"  {rules.name:{width}}  {sentence(field, getattr(rules, field))}" for rules in games)]
    return "\n".join(lines[1:]) or "These are the same game."


def listing() -> str:
    """The presets, a line each: name, English title, other names."""
    width = max(map(len, rule_names()))
    lines = []
    for rules in map(Rules.load, rule_names()):
        also = f" (also {', '.join(rules.aliases)})" if rules.aliases else ""
        lines.append(f"{rules.name:{width}}  {title(rules)}{also}")
    return "\n".join(lines)


def markdown() -> str:
    """Two tables of the presets: those that differ much, field by field, and the small variants of them."""
    presets = {name: Rules.load(name) for name in rule_names()}
    base = {name: _base(rules, presets) for name, rules in presets.items()}
    main = [rules for name, rules in presets.items() if base[name] is None]
    varying = _varying(main)
    rows = [[field, *(_cell(rules, field) for rules in main)] for field in varying]
    same = ", ".join(f"`{field}` {_cell(main[0], field)}" for field in RULE_FIELDS if field not in varying)
    variants = [
        [
            name,
            title(rules),
            f"`{of.name}`",
            ", ".join(f"`{field}` {_cell(rules, field)}" for field in of.differences(rules)),
        ]
        for name, rules in presets.items()
        if (of := base[name])
    ]
    return "\n".join(
        [
            *_table(["", *(f"`{rules.name}`" for rules in main)], [["", *map(title, main)], *rows]),
            "",
            f"The same in all of these: {same}.",
            "",
            *_table(["variant", "", "of", "differs in"], [[f"`{name}`", *cells] for name, *cells in variants]),
        ]
    )


def _varying(games: Sequence[Rules]) -> list[str]:
    """The fields that are not the same in all of these games."""
    return [field for field in RULE_FIELDS if len({getattr(rules, field) for rules in games}) > 1]


def _base(rules: Rules, presets: dict[str, Rules]) -> Rules | None:
    """The preset whose name this one's extends, where few enough fields differ to be listed in a line."""
    found = presets.get(rules.name.partition("_")[0])
    return found if found and 0 < len(found.differences(rules)) <= 3 else None


def _cell(rules: Rules, field: str) -> str:
    """A value as a short word: yes, no, `any`, 11."""
    value = getattr(rules, field)
    return ("yes" if value else "no") if isinstance(value, bool) else str(value).replace("_", " ")


def _table(head: list[str], rows: list[list[str]]) -> list[str]:
    """The lines of a markdown table."""
    return [f"| {' | '.join(cells)} |" for cells in [head, ["---"] * len(head), *rows]]
