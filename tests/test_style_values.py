"""What scripted players think of every legal action, against the slow twin `tests/reference_styles.py`."""

import random
from collections.abc import Iterator

import numpy as np
import pytest

import agents
from agents.base import STYLES
from agents.scripted import weights_of
from buraco_env import Game, PositionError, rule_names
from tests.bridge import action_tuple
from tests.conftest import deals
from tests.details import at, presets
from tests.positions import random_moments, random_position
from tests.reference_styles import mind_of
from tests.test_styles import NAMES, asked, kernel


def any_weights(rng: random.Random) -> np.ndarray:
    """Weights that no style has, so that a part forgotten, or counted twice, shows."""
    weights = np.array([rng.randint(-300, 300) for _ in NAMES], np.int64)
    weights[NAMES.index("urgent")] = rng.randint(0, 60)
    return weights


def check(game: Game, weights: np.ndarray) -> None:
    """The compiled values of all legal actions are the twin's."""
    mind, legal = mind_of(game, dict(zip(NAMES, weights.tolist()))), game.legal_actions()
    found = game.view(game.seat).values(weights[None])[0].tolist()
    for action, value in zip(legal, found):
        assert value == mind.value(action_tuple(action)), f"{game.describe(action)!r}\n{weights.tolist()}\n{game}"


def moments(preset: str, seats: int, seed: int) -> Iterator[Game]:
    """Positions of a style's deal, and small ones: in a turn, and before one with a pile."""
    rng = random.Random(seed)
    yield from (game for game in random_moments(preset, seed, 0.03, num_seats=seats) if not game.over)
    for _ in range(deals(6)):
        yield random_position(rng, preset, rng.randint(1, 5), melds=6, num_seats=seats)
        yield random_position(rng, preset, rng.randint(1, 5), pile=rng.randint(1, 4), num_seats=seats)


@pytest.mark.parametrize("seats", [2, 4])
@pytest.mark.parametrize("preset", rule_names())
def test_values_are_those_of_the_slow_twin(preset: str, seats: int) -> None:
    rng = random.Random(seats)
    for game in moments(preset, seats, 61):
        for weights in (weights_of("steady", game.rules), any_weights(rng)):
            check(game, weights)


@pytest.mark.parametrize("preset", ["classic", "fechado", "aberto_sujo", "online"])
def test_a_style_plays_what_the_slow_twin_plays(preset: str) -> None:
    for game in moments(preset, 4, 62):
        style = STYLES[game.turn % len(STYLES)]
        mind = mind_of(game, dict(zip(NAMES, weights_of(style, game.rules).tolist())))
        wanted = mind.choice([action_tuple(action) for action in game.legal_actions()])
        assert action_tuple(asked(agents.make(style), game)) == wanted, f"{style}\n{game}"


@kernel
@pytest.mark.parametrize("preset", presets(wild_moves="fixed"))
def test_an_ace_counts_where_it_makes_most_of_a_run(preset: str) -> None:
    """Above the king it may give the seven naturals in a row that it does not give below the two."""
    try:
        game = at(f"rules {preset}; phase meld; hand 0: AH AC 9S; team 1: 2H 3H 4H 5H 6H JK* 8H 9H TH JH QH KH")
    except PositionError:
        pytest.skip("so long a run is no meld here")
    check(game, any_weights(random.Random(3)))
