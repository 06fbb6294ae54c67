"""Positions worth a case of the conformance suite: chosen by hand, or found in random play by what they show."""

import random
from collections.abc import Iterator
from typing import NamedTuple

from buraco_env import Game, PositionError
from buraco_env.cards import card_text
from buraco_env.kernel import actions as A
from tests import reference as ref
from tests.bridge import to_reference
from tests.positions import random_position

# What a case can show -> the sections of rules.md that decide it.
SECTIONS = {
    "draw": ("1",),
    "take pile": ("1", "2"),
    "run": ("1", "3"),
    "wild run of 3": ("1", "3"),
    "wild run of 4": ("1", "3"),
    "set": ("1",),
    "wild set": ("1",),
    "lay off on run": ("3",),
    "lay off wild on run": ("3",),
    "lay off on set": ("1",),
    "lay off wild on set": ("1",),
    "swap": ("3", "7.4", "7.20"),
    "discard": ("1",),
    "end turn": ("4",),
    "a morto by melding": ("1", "4"),
    "a morto by discarding": ("1", "4"),
    "out by melding": ("1", "7.13"),
    "out by discarding": ("1",),
    "the stock ends": ("5",),
    "the mortos join the stock": ("5",),
    "a clean canasta": ("1", "2"),
    "a dirty canasta": ("1", "2"),
    "a canasta turns clean": ("3", "7.4"),
    "a canasta turns dirty": ("3", "7.7"),
    "the wild moves": ("3", "7.5"),
    "the two goes home": ("3", "7.4"),
    "a natural two becomes the wild": ("3",),
    "an ace at either end": ("3",),
    "the pile may not be taken": ("2", "7.8", "7.17"),
    "the pile for its top card": ("2", "7.9", "7.10"),
    "a top card to be used": ("2", "7.9", "7.10"),
    "a first meld below its minimum": ("2", "7.15"),
    "first melds that could not reach the minimum": ("2", "7.15"),
    "a one-card pile": ("2", "7.11"),
    "the extra phase": ("4", "7.22"),
    "a meld that would strand": ("1", "7.12", "7.13"),
    "a last wild not to be discarded": ("2", "7.14"),
    "a hand of one card": ("1", "7.13"),
    "a morto waiting": ("2", "4"),
    "the last stock cards": ("5",),
}
DULL = {"draw", "take pile", "discard"}  # not worth a case of their own
PLAYS = 3  # most actions played from one position


class Found(NamedTuple):
    """A position, what it shows, and the actions to be played from it."""

    game: Game
    shows: list[str]
    plays: list[int]


def _canastas(game: Game, team: int) -> tuple[int, int]:
    """Clean and dirty canastas of a team."""
    clean = [meld.is_clean for meld in game.melds(team) if meld.is_canasta]
    return sum(clean), len(clean) - sum(clean)


def _kind(game: Game, action: int) -> str:
    names = {A.K_RUN: "run", A.K_WILD_RUN: "wild run of 3", A.K_WILD_RUN_OF_4: "wild run of 4", A.K_SET: "set"}
    names |= {A.K_WILD_SET: "wild set", A.K_LAY_RUN: "lay off on run", A.K_LAY_WILD_RUN: "lay off wild on run"}
    names |= {A.K_LAY_SET: "lay off on set", A.K_LAY_WILD_SET: "lay off wild on set"}
    text = game.describe(action)
    verb = {"draw": "draw", "take": "take pile", "swap": "swap", "discard": "discard", "end": "end turn"}
    return verb.get(text.split()[0]) or names[int(A.ARGS[action, A.KIND])]


def _run_changes(before: ref.State, after: ref.State, team: int, fixed: bool) -> Iterator[str]:
    """What has become of the wild of the run on which a card was laid."""
    for suit in ref.SUITS:
        for old, new in zip(before.runs[team][suit], after.runs[team][suit]):
            if old == new or fixed:
                continue
            if old.wild and not new.wild:
                yield "the two goes home"
            elif old.wild and old.wild_pos != new.wild_pos:
                yield "the wild moves"
            elif new.wild and ref.HOME_OF_TWO in old.natural_positions() and new.low > ref.HOME_OF_TWO:
                yield "a natural two becomes the wild"


def action_tags(game: Game, action: int, after: Game) -> list[str]:
    """What an action shows."""
    kind, team = _kind(game, action), game.seat % 2
    found = [kind]
    discards = kind == "discard"
    if after.morto_taken(team) > game.morto_taken(team):
        found.append("a morto by discarding" if discards else "a morto by melding")
    if after.end_reason == "out":
        found.append("out by discarding" if discards else "out by melding")
    if after.end_reason == "stock":
        found.append("the stock ends")
    if sum(after.morto_taken(t) for t in (0, 1)) + after.mortos_left < game.rules.num_mortos and game.mortos_left:
        found.append("the mortos join the stock")
    (clean, dirty), (clean_now, dirty_now) = _canastas(game, team), _canastas(after, team)
    if clean_now > clean:
        found.append("a canasta turns clean" if dirty_now < dirty else "a clean canasta")
    elif dirty_now > dirty:
        found.append("a canasta turns dirty" if clean_now < clean else "a dirty canasta")
    if kind.startswith("lay off") and kind.endswith("run"):
        fixed = game.rules.wild_moves == "fixed"
        found += _run_changes(to_reference(game), to_reference(after), team, fixed)
    return found


def position_tags(game: Game) -> list[str]:
    """What a position shows in its legal list."""
    s, texts, hand = game.record, [game.describe(a) for a in game.legal_actions()], game.hand(game.seat)
    found = []
    if game.phase == "draw":
        if game.pile and "take pile" not in texts:
            found.append("the pile may not be taken")
        if "take pile" in texts and game.rules.pile_take != "free":
            found.append("the pile for its top card")
        if game.stock_size <= 3:
            found.append("the last stock cards")
    if s.top >= 0:
        found.append("a top card to be used")
    if s.opening >= 0:
        found.append("a first meld below its minimum")
    if s.single >= 0 and s.top < 0 and f"discard {card_text(int(s.single))}" not in texts:
        found.append("a one-card pile")
    if game.phase == "extra":
        found.append("the extra phase")
    if s.waiting.any():
        found.append("a morto waiting")
    if game.phase in ("meld", "extra") and len(hand) == 1:
        found.append("a hand of one card")
    return found + _refusals(game, texts)


def _refusals(game: Game, texts: list[str]) -> list[str]:
    """What the guard or the rule for the last discard refuses."""
    hand = game.hand(game.seat)
    if game.phase not in ("meld", "extra") or len(hand) > 6:
        return []
    found, state = [], to_reference(game)
    allowed = sum(text.startswith(("meld", "lay off", "swap")) for text in texts)
    if len(ref.table_moves(state)) > allowed:
        late = ref.must_open(state) and not state.opening
        found.append("first melds that could not reach the minimum" if late else "a meld that would strand")
    wild_last = len(hand) == 1 and ref.is_wild(hand[0]) and game.phase == "meld"
    if wild_last and not any(text.startswith("discard") for text in texts):
        found.append("a last wild not to be discarded")
    return found


def _aces(game: Game) -> list[str]:
    """A legal ace that has two places."""
    texts = [game.describe(a) for a in game.legal_actions()]
    has_end = any(text.startswith("lay off A") and text.endswith((" low", " high")) for text in texts)
    return ["an ace at either end"] if has_end else []


def decisions(preset: str, rng: random.Random) -> Iterator[Game]:
    """The end of two deals, then in turn small positions and random deals, in which players rather meld than not."""
    for _ in range(2):
        yield from _last_turns(preset, rng)
    while True:
        for _ in range(12):
            pile = rng.choice([0, 0, 1, 2, 3])
            how = {"morto_gone": rng.random() < 0.5, "canasta": rng.random() < 0.7}
            game = random_position(rng, preset, rng.randint(1, 6), pile, **how)
            turn = game.turn
            while not game.over and game.turn == turn:
                yield game.copy()
                game.play(_rather_meld(game, rng))
        seats = rng.choice([2, 4])
        game = Game(preset, seed=rng.randrange(1 << 30), starter=rng.randrange(seats), num_seats=seats)
        while not game.over:
            yield game.copy()
            game.play(_rather_meld(game, rng))


def _last_turns(preset: str, rng: random.Random) -> Iterator[Game]:
    """A deal in which nobody melds, from where the last stock cards are drawn."""
    game = Game(preset, seed=rng.randrange(1 << 30))
    while not game.over:
        if game.stock_size <= 3:
            yield game.copy()
        legal = game.legal_actions()
        ends = [action for action in legal if game.describe(action).startswith(("draw", "discard"))]
        game.play(rng.choice(ends or legal))


def _rather_meld(game: Game, rng: random.Random) -> int:
    legal = game.legal_actions()
    rather = [a for a in legal if game.describe(a).startswith(("meld", "lay off", "swap", "take"))]
    return rng.choice(rather if rather and rng.random() < 0.75 else legal)


def find(preset: str, wanted: int, tries: int = 2500) -> list[Found]:
    """Up to `wanted` positions of a preset of which each shows something none before it does; seeded."""
    rng, shown, found = random.Random(f"conformance {preset}"), set(), []
    for tried, game in enumerate(decisions(preset, rng)):
        if len(found) == wanted or tried == tries:
            break
        case = _case(game, shown, rng)
        if not DULL.issuperset(case.shows):
            found.append(case)
            shown.update(case.shows)
    return found


def _case(game: Game, shown: set[str], rng: random.Random) -> Found:
    """A position with what it shows for the first time; its plays are the actions that do."""
    shows = [tag for tag in [*position_tags(game), *_aces(game)] if tag not in shown]
    plays: list[int] = []
    legal = game.legal_actions()
    for action in rng.sample(legal, len(legal)):
        after = game.copy()
        after.play(action)
        new = [tag for tag in action_tags(game, action, after) if tag not in shown and tag not in shows]
        if new and len(plays) < PLAYS:
            shows += new
            plays.append(action)
    return Found(game, shows, plays or [rng.choice(legal)])


# ---------------------------------------------------------------- positions chosen by hand

GONE = "phase meld\nmortos taken: 1 0\n"
BY_HAND = {
    "a two that cannot stand low stands high": (("7.1",), "phase meld\nhand 0: 2S KC QD\nteam 0: 3H 4H 5H"),
    "king, ace and two": (("7.2",), "phase meld\nhand 0: KH AH 2H 9C 8D\nteam 0: 8S 9S TS JS"),
    "a two at home": (("7.3",), "phase meld\nhand 0: 2H 2S KC QD\nteam 0: 3H 4H 5H 6H 7H 8H"),
    "a two in the gap and the card it stands for": (
        ("7.4",),
        "phase meld\nhand 0: 8H KC QD\nteam 0: 3H 4H 5H 6H 7H 2H* 9H",
    ),
    "a wild that can become a gap": (("7.5",), "phase meld\nhand 0: 8H 3H KC QD\nteam 0: 4H 5H 6H 2S*"),
    "thirteen clean cards, an ace and a wild": (
        ("7.7",),
        "phase meld\nhand 0: AH 2S KC QD\nteam 0: 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH AH",
    ),
    "buried cards and the top card": (("7.8",), "hand 0: 3C 4D 9S\nteam 0: TD JD QD\npile: 5H 6H 7H"),
    "the top card on the own table": (("7.9",), "hand 0: 8H 3C KC QS\nteam 0: 4H 5H 6H 7H\npile: TH 9H"),
    "the top card after another lay-off": (("7.10",), "hand 0: 6H KC QS\nteam 0: 3H 4H 5H\npile: 7H"),
    "a pile of one card": (("7.11",), "phase meld\nhand 0: 7H QS KC\nteam 0: TC JC QC\ntaken: 7H"),
    "the last card could be melded": (
        ("7.12",),
        GONE + "hand 0: JH KC\nteam 0: 4H 5H 6H 7H 8H 9H TH",
    ),
    "two lay-offs complete the canasta": (("7.13",), GONE + "hand 0: 9H TH\nteam 0: 4H 5H 6H 7H 8H"),
    "a last wild and a clean canasta": (("7.14",), GONE + "hand 0: 2S KH\nteam 0: 4H 5H 6H 7H 8H 9H TH"),
    "aces and tens as a first meld": (("7.15",), "phase meld\nhand 0: TC JC QC KC AC AD AH AS 9H 8S"),
    "a pile that would strand": (("7.17",), "mortos taken: 1 0\nhand 0: KC\nteam 0: 4H 5H 6H\npile: 7H"),
    "a wild lowest on the way": (("7.21",), "phase meld\nhand 0: TC 2H QC KC AC 9D 8S\nteam 0: 4S 5S 6S"),
    "natural twos": (("3",), "phase meld\nhand 0: 6H 2C KC QD\nteam 0: 2H 3H 4H | 3C 2C* 5C 6C"),
    "a wild as the only card": (("7.14",), GONE + "hand 0: 2S\nteam 0: 4H 5H 6H 7H 8H 9H TH | 9S TS JS QS"),
    "a wild as the last card but one": (("7.14",), "phase meld\nhand 0: 2S\nteam 0: 4H 5H 6H 7H 8H 9H TH"),
    "the canasta that going out asks for": (("1", "2"), GONE + "hand 0: KH\nteam 0: 4H 5H 6H 7H 8H 9H 2S*"),
    "the last card in the extra phase": (
        ("4", "7.22"),
        "phase extra\nmortos taken: 1 0\nhand 0: JH\nteam 0: 4H 5H 6H 7H 8H 9H TH",
    ),
    "the last turn before the cap": (("2", "7.19"), "turn 399\nphase meld\nhand 0: KC QD\nteam 0: 4H 5H 6H"),
    "a full run table": (
        ("2", "7.22"),
        "hand 0: JH KH 3C 9D\npile: QH\nteam 0: AH 2H 3H | AH 2H 3H | 4H 5H 6H | 4H 5H 6H | 7H 8H 9H | 7H 8H 9H",
    ),
    "an ace with two places": (("3",), "phase meld\nhand 0: AH KC QD\nteam 0: 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH"),
    "a second two": (("3",), "phase meld\nhand 0: 2H KC QD\nteam 0: 3C 2C* 5C 6C"),
}


def by_hand(preset: str) -> Iterator[tuple[str, tuple[str, ...], Found]]:
    """The positions chosen by hand that this preset knows, with up to three of their melds as plays."""
    for number, (name, (sections, text)) in enumerate(BY_HAND.items()):
        lines = text.replace("mortos taken: 1 0", "mortos taken: 2 0") if preset == "classic_three_mortos" else text
        try:
            game = Game.from_position(f"rules {preset}\n{lines}", seed=number)
        except PositionError:
            continue
        legal = game.legal_actions()
        melds = [a for a in legal if game.describe(a).startswith(("meld", "lay off", "swap", "take"))]
        plays = melds or legal
        yield name, sections, Found(game, [], sorted({plays[0], plays[len(plays) // 2], plays[-1]}))
