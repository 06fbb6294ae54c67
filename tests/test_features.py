"""The features of every legal action against a slow twin: it plays the action on a copy and compares texts."""

import random
from collections import Counter
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

from buraco_env import FEATURES, Game, Meld, PositionError, Rules, rule_names
from buraco_env.cards import RANKS, SUITS, parse_card
from buraco_env.kernel import actions as A
from tests.conftest import deals
from tests.details import at, legal
from tests.positions import random_meld, random_moments, random_position
from tests.reference_styles import is_near, places
from tests.test_view import decoded, features

pytestmark = pytest.mark.kernel

WILDS = ["JK*", "2C*", "2D*", "2H*", "2S*"]

# ---------------------------------------------------------------- the twin


def bare(card: str) -> str:
    return card.removesuffix("*")


class Step(NamedTuple):
    """An action played on a copy; the tables of both teams before, and that of the team to move afterwards."""

    game: Game
    text: str
    after: Game
    mine: list[Meld]
    theirs: list[Meld]
    then: list[Meld]

    @property
    def used(self) -> list[str]:
        """The cards that leave the hand; one laid as a wild has its star."""
        verb, *words = self.text.split()
        return {"meld": words, "lay": words[1:2], "swap": words[:1], "discard": words}.get(verb, [])

    @property
    def before_after(self) -> tuple[Meld | None, Meld | None]:
        """The one meld that changes, before and afterwards; None where there is none."""
        old, new = Counter(self.mine), Counter(self.then)
        [before] = list((old - new).elements()) or [None]
        [after] = list((new - old).elements()) or [None]
        return before, after


def steps(game: Game) -> list[Step]:
    """Every legal action, played."""
    team, found = game.seat % 2, []
    mine, theirs = game.melds(team), game.melds(1 - team)
    for action in game.legal_actions():
        after = game.copy()
        after.play(action)
        found.append(Step(game, game.describe(action), after, mine, theirs, after.melds(team)))
    return found


def kind_name(step: Step) -> str:
    _, meld = step.before_after
    if meld is None:
        return "discard" if step.text.startswith("discard") else step.text
    wild = "wild " if "*" in step.text else ""
    if not step.text.startswith("meld"):
        return f"lay {wild}on {meld.kind}"
    return f"wild run of {len(meld.cards)}" if wild and meld.kind == "run" else wild + meld.kind


def suit_and_rank(meld: Meld | None) -> tuple[int, int]:
    """Suit + 1 of a run and 0, or 0 and the rank of a set."""
    if meld is None:
        return 0, 0
    card = next(card for card in meld.cards if not card.endswith("*"))
    return (SUITS.index(card[1]) + 1, 0) if meld.kind == "run" else (0, RANKS.index(card[0]) + 1)


def low_high_wild_at(meld: Meld | None) -> tuple[int, int, int]:
    """Lowest and highest position of a run and that of its wild; 0 for what there is not."""
    if meld is None or meld.kind == "set":
        return 0, 0, 0
    starred = [card.endswith("*") for card in meld.cards]
    index = next(i for i, card in enumerate(meld.cards) if not starred[i] and card[0] != "A")
    low = places(meld.cards[index])[0] - index
    return low, low + len(starred) - 1, low + starred.index(True) if any(starred) else 0


def length_form_canasta(meld: Meld | None) -> tuple[int, int, int]:
    if meld is None:
        return 0, 0, 0
    form = 2 if meld.is_clean else 1
    return len(meld.cards), form, form if meld.is_canasta else 0


def freed(before: Meld | None, after: Meld | None) -> int:
    """How many cards left a meld."""
    return (Counter(map(bare, before.cards)) - Counter(map(bare, after.cards))).total() if before and after else 0


def on_the_table(step: Step) -> dict[str, int]:
    """What the action makes of the table."""
    before, after = step.before_after
    wanted = {"kind": A.KINDS.index(kind_name(step)), "swap": freed(before, after)}
    wanted["wild"] = next((WILDS.index(card) + 1 for card in step.used if card.endswith("*")), 0)
    wanted["points"] = sum(m.points + m.bonus for m in step.then) - sum(m.points + m.bonus for m in step.mine)
    wanted["suit"], wanted["rank"] = suit_and_rank(after)
    wanted["low"], wanted["high"], wanted["wild_at"] = low_high_wild_at(after)
    for when, meld in (("before", before), ("after", after)):
        names = [f"{name}_{when}" for name in ("length", "form", "canasta")]
        wanted |= zip(names, length_form_canasta(meld))
    return wanted


def in_the_hand(step: Step) -> dict[str, int]:
    """What the action leaves in the hand and brings there, and what the hand held beside its card."""
    game, team = step.game, step.game.seat % 2
    mortos = step.after.morto_taken(team) - game.morto_taken(team)
    used = [bare(card) for card in step.used]
    card = game.pile[-1] if step.text == "take pile" else min(used, key=parse_card, default="")
    beside = game.hand(game.seat)
    for _ in range(used.count(card)):
        beside.remove(card)
    left = len(step.after.hand(game.seat)) - mortos * game.rules.morto_size
    return {
        "card": parse_card(card) + 1 if card else 0,
        "cards_left": left,
        "takes_morto": mortos,
        "goes_out": int(step.after.end_reason == "out"),
        "pile_gain": len(game.pile) if step.text == "take pile" else 0,
        "copies_left": beside.count(card),
        "hand_near": sum(is_near(card, other) for other in beside) if card else 0,
    }


@cache
def could_take(preset: str, melds: tuple[str, ...], card: str) -> bool:
    """A table could take a card: in a position made for this, a seat that holds it and four more may lay it there."""
    if not melds:
        return False
    taken = f"{Rules.load(preset).mortos_per_team} 1"  # all: a long table leaves too few cards for mortos
    hands = f"hand 0: {card} +4; hand 1: +1"
    table = f"team 0: {' | '.join(melds)}; mortos taken: {taken}"
    ways = (f"lay off {card} ", f"lay off {card}* ", f"swap {card} ")
    game = at(f"rules {preset} num_seats=2; phase meld; {hands}; {table}")
    return any(text.startswith(ways) for text in legal(game))


def on_the_pile(step: Step) -> dict[str, int]:
    """What a discard does for the others; 0 for every other action."""
    if not step.text.startswith("discard"):
        return {"fits_mine": 0, "fits_theirs": 0, "next_near": 0}
    [card], seat, preset = step.used, step.game.seat, str(step.game.rules).split()[0]
    known = step.game.view(seat).known((seat + 1) % step.game.rules.num_seats)
    return {
        "fits_mine": int(could_take(preset, tuple(map(str, step.mine)), card)),
        "fits_theirs": int(could_take(preset, tuple(map(str, step.theirs)), card)),
        "next_near": sum(is_near(card, other) for other in known),
    }


def by_name(row: np.ndarray) -> dict[str, int]:
    """A row of features [FEATURES.size] as numbers; hundreds and rest of the points are one."""
    values = {piece.name: row[piece.slice] for piece in FEATURES}
    return {name: decoded(x)[0] if name == "points" else int(x[0]) for name, x in values.items()}


def check_features(game: Game) -> None:
    """Every feature of every legal action here is what the twin says."""
    rows = features(game)
    assert len(rows) == len(game.legal_actions())
    for step, row in zip(steps(game), rows):
        found, wanted = by_name(row), on_the_table(step) | in_the_hand(step) | on_the_pile(step)
        assert found.keys() == wanted.keys()
        for name, value in found.items():
            assert value == wanted[name], f"{name} of {step.text!r} in\n{game}"


@pytest.mark.parametrize("seats", [2, 4])
@pytest.mark.parametrize("preset", rule_names())
def test_every_feature_means_what_its_table_says_in_random_deals(preset: str, seats: int) -> None:
    for game in random_moments(preset, 41, 0.02 / (1 if deals(50) > 1 else 10), num_seats=seats):
        if not game.over:
            check_features(game)


def one_meld(rng: random.Random, preset: str, seats: int) -> Game:
    """A position with one meld on the table and cards of its suits in the hand."""
    while True:
        meld = random_meld(rng, 9)
        suits = sorted({card[1] for card in meld.split() if not card.endswith("*")})
        hand = [*rng.sample([rank + suit for suit in suits for rank in RANKS], 5), rng.choice(WILDS).rstrip("*")]
        try:
            return at(f"rules {preset} num_seats={seats}; phase meld; hand 0: {' '.join(hand)}; team 0: {meld}")
        except PositionError:
            continue  # the rules allow no such meld, or the deck has not so many cards of a kind


@pytest.mark.parametrize("seats", [2, 4])
@pytest.mark.parametrize("preset", rule_names())
def test_every_feature_means_what_its_table_says_in_small_positions(preset: str, seats: int) -> None:
    """Where canastas, swaps, mortos and the end are near."""
    rng = random.Random(42)
    for _ in range(deals(8)):
        check_features(one_meld(rng, preset, seats))
        check_features(random_position(rng, preset, rng.randint(1, 4), melds=6, num_seats=seats))


# ---------------------------------------------------------------- one position, one claim

CLAIMS = {
    "a canasta is made": (
        "rules classic; phase meld; hand 0: TH KC QD; team 0: 4H 5H 6H 7H 8H 9H",
        "lay off TH on 4H-9H",
        {"canasta_before": 0, "canasta_after": 2, "length_after": 7, "points": 10 + 200},
    ),
    "a clean canasta is spoilt": (
        "rules classic; phase meld; hand 0: JK KC QD; team 0: 4H 5H 6H 7H 8H 9H TH",
        "lay off JK* on 4H-TH high",
        {"canasta_before": 2, "canasta_after": 1, "form_before": 2, "form_after": 1, "points": 30 + 100 - 200},
    ),
    "the last card laid off brings a morto": (
        "rules classic; phase meld; hand 0: 7H; team 0: 4H 5H 6H",
        "lay off 7H on 4H-6H",
        {"takes_morto": 1, "goes_out": 0, "cards_left": 0, "points": 5},
    ),
    "the last card discarded brings a morto": (
        "rules online; phase meld; hand 0: 7H; team 0: 4C 5C 6C",
        "discard 7H",
        {"takes_morto": 1, "goes_out": 0, "cards_left": 0, "points": 0},
    ),
    "the last card laid off goes out": (
        "rules classic; phase meld; hand 0: JH; team 0: 4H 5H 6H 7H 8H 9H TH; mortos taken: 1 0",
        "lay off JH on 4H-TH",
        {"takes_morto": 0, "goes_out": 1, "cards_left": 0, "points": 10},
    ),
    "a swap frees a wild": (
        "rules classic; phase meld; hand 0: 6H KC QD; team 0: 4H 5H JK* 7H",
        "swap 6H into 4H-7H",
        {"swap": 1, "cards_left": 3, "length_after": 4, "form_before": 1, "form_after": 2, "points": 5 - 30},
    ),
    "the pile comes to the hand": (
        "rules online; phase draw; hand 0: 9H 9H JH KC; pile: 3C 9C TH",
        "take pile",
        {"pile_gain": 3, "cards_left": 7, "card": parse_card("TH") + 1, "copies_left": 0, "hand_near": 3},
    ),
    "the two goes home and the canasta turns clean": (
        "rules aberto; phase meld; hand 0: 8H KC QD; team 0: 3H 4H 5H 6H 7H 2H* 9H",
        "lay off 8H on 3H-9H",
        {"canasta_before": 1, "canasta_after": 2, "low": 2, "high": 9, "wild_at": 0, "points": 10 + 200 - 100},
    ),
    "an ace is near the queen and near the three": (
        "rules classic; phase meld; hand 0: AH AH AC 3H QH 4H JH JK",
        "discard AH",
        {"copies_left": 1, "hand_near": 4},
    ),
    "a card fits one table and not the other": (
        "rules classic; phase meld; hand 0: 7H KC QD; team 0: 4H 5H 6H; team 1: 7C 8C 9C",
        "discard 7H",
        {"fits_mine": 1, "fits_theirs": 0},
    ),
    "the next seat is known to hold what could meld with the card": (
        "rules classic; phase meld; hand 0: 7H KC QD; hand 1: 7S 9H TH JK +3; known 1: 7S 9H TH JK",
        "discard 7H",
        {"next_near": 2},
    ),
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_features_say_that(claim: str) -> None:
    text, action, wanted = CLAIMS[claim]
    game = at(text)
    row = by_name(features(game)[game.legal_actions().index(game.parse(action))])
    assert {name: row[name] for name in wanted} == wanted
