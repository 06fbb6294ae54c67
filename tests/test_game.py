"""`Game`: what it shows, and that it refuses what is illegal with a reason that is true, and changes nothing."""

import copy
import pickle
import random

import numpy as np
import pytest

from buraco_env import NUM_ACTIONS, Game, IllegalAction, Rules, RulesError, rule_names
from buraco_env.kernel.deal import MAX_SEED
from tests.conftest import deals
from tests.positions import random_moments


def at(rules: str, hand: str, *melds: str, phase: str = "meld", more: str = "") -> Game:
    """A position of seat 0."""
    melds_line = f"team 0: {' | '.join(melds)}"
    return Game.from_position(f"rules {rules}\nphase {phase}\nhand 0: {hand}\n{melds_line}\n{more}", seed=1)


MORTO_GONE = "mortos taken: 1 0"


def test_a_fresh_classic_deal() -> None:
    game = Game("classic", seed=7)
    assert (game.seat, game.starter, game.turn, game.phase) == (0, 0, 0, "draw")
    assert (game.over, game.end_reason) == (False, None)
    assert [len(game.hand(seat)) for seat in range(4)] == [11] * 4
    assert (game.mortos_left, game.morto_taken(0), game.melds(0), game.melds(1)) == (2, 0, [], [])
    assert game.stock_size + len(game.pile) == 108 - 44 - 22


def test_repr_names_rules_turn_seat_and_phase() -> None:
    assert repr(Game("classic", seed=7, target=2000)) == "<Game classic target=2000, turn 0, seat 0, draw>"


def test_the_same_seed_deals_the_same_cards() -> None:
    assert str(Game("online", seed=3)) == str(Game("online", seed=3)) != str(Game("online", seed=4))


@pytest.mark.parametrize("starter", range(4))
def test_the_starter_begins(starter: int) -> None:
    game = Game("classic", seed=7, starter=starter)
    assert (game.seat, game.starter) == (starter, starter)
    assert [game.hand(seat) for seat in range(4)] == [Game("classic", seed=7).hand(seat) for seat in range(4)]


CANASTA = "4H 5H 6H 7H 8H 9H TH"


@pytest.mark.parametrize(
    ("meld", "kind", "clean", "canasta", "points", "bonus"),
    [
        ("4H 5H 6H", "run", True, False, 15, 0),
        (CANASTA, "run", True, True, 50, 200),
        ("4H 5H 6H 7H 8H 9H JK*", "run", False, True, 70, 100),
        ("KC KD 2S*", "set", False, False, 40, 0),
        ("2C 2C 2D 2D 2H 2H 2S", "set", True, True, 140, 200),
    ],
)
def test_a_meld_shows_its_kind_cards_and_worth(meld, kind, clean, canasta, points, bonus) -> None:
    [found] = at("classic", "3C 4C 5D", meld).melds(0)
    assert (found.kind, found.cards, str(found)) == (kind, tuple(meld.split()), meld)
    assert (found.is_clean, found.is_canasta, found.points, found.bonus) == (clean, canasta, points, bonus)


def test_scores_are_melds_and_bonuses_less_hands_and_penalties() -> None:
    game = at("classic", "3C 4C", CANASTA, more="hand 1: JK\nhand 2: AS\nhand 3: KS")
    assert game.scores() == (50 + 200 - 10 - 15 - 100, -30 - 10 - 100)


def test_going_out_ends_the_deal() -> None:
    game = at("classic", "3C", CANASTA, more=MORTO_GONE)
    game.play("discard 3C")
    assert (game.over, game.end_reason, game.phase, game.legal_actions()) == (True, "out", "over", [])
    with pytest.raises(IllegalAction, match="the deal is over"):
        game.play("draw")


def test_the_turn_cap_ends_the_deal() -> None:
    game = Game("classic", seed=1, max_turns=1)
    while not game.over:
        game.play(game.legal_actions()[-1])
    assert (game.turn, game.end_reason) == (1, "turn cap")


@pytest.mark.parametrize(
    "duplicate", [Game.copy, copy.copy, copy.deepcopy, lambda game: pickle.loads(pickle.dumps(game))]
)
def test_a_copy_goes_on_alike_and_alone(duplicate) -> None:
    for game in random_moments("classic", 3, 0.05):
        before, other = str(game), duplicate(game)
        assert str(other) == before and other.legal_actions() == game.legal_actions() and other.rules == game.rules
        if not game.over:
            other.play(other.legal_actions()[-1])
            assert str(game) == before != str(other)
            twin = game.copy()
            twin.play(game.legal_actions()[-1])
            assert twin.record.tobytes() == other.record.tobytes()


def test_a_list_of_legal_actions_is_the_callers() -> None:
    game = Game("classic", seed=1)
    game.legal_actions().clear()
    assert game.legal_actions() and game.action_mask().nonzero()[0].tolist() == game.legal_actions()
    assert game.action_mask().shape == (NUM_ACTIONS,) and game.action_mask().dtype == np.int8


# the position, the action, and the reason; each branch of the refusals
UNTIL = "the turn could not be completed after it: "
TOP = "phase meld\ntaken: 9D, use 9D"
REFUSALS = [
    (at("classic", "3C 4C", phase="draw"), "discard 3C", "draw a card or take the pile first"),
    (at("classic", "3C 4C", phase="draw"), "end turn", "draw a card or take the pile first"),
    (at("classic", "3C 4C", phase="draw"), "take pile", "the pile is empty"),
    (at("classic", "3C 4C", phase="draw", more="pile: 9D"), "take pile", "9D would have to be melded in this turn"),
    (at("fechado", "3C 4C", phase="draw", more="pile: 9D"), "take pile", "9D would have to be melded first of all"),
    (at("classic", "3C 4C"), "draw", "you have drawn already"),
    (at("classic", "3C 4C"), "take pile", "you have drawn already"),
    (at("classic", "3C 4C"), "discard 5C", "the hand holds no 5C"),
    (at("classic", "3C 4C"), "meld 3C 4C 5C", "the hand holds no 5C"),
    (at("classic", "3C 4C KD KS"), "meld KD KD KS", "the hand holds only one KD"),
    (at("classic", "3C 4C"), "end turn", "a turn ends with a discard"),
    (at("classic", "7H 3C 4C", "4H 5H JK* 7H"), "lay off 7H on 4H-7H", "the rules allow no such meld here"),
    (at("classic", "3H 4H JK 9C 8C"), "meld 3H 4H JK*", "the rules allow no such meld here"),
    (at("aberto", "KC KD KH 3C 4C"), "meld KC KD KH", "the rules allow no such meld here"),
    (at("classic", "9H 3C 4C", "4H 5H 6H"), "lay off 9H on 4H-6H", "the rules allow no such meld here"),
    (at("classic", "4H 5H 9D JD QD KD", more="taken: 4H 9D KD, use KD"), "discard 4H", "top card KD must be melded"),
    (at("classic", "9D KD KS KC 3C", "4D 5D 6D", more="taken: 4H 9D KD, use KD"), "lay off 9D on 4D-6D", "no such"),
    (at("classic", "3H 4H 5H KD KS KC", more="taken: 3S KD, use KD"), "meld KC KD KS", None),
    (at("classic", "KH KS KC KD 3C", more="taken: 3S KD, use KD"), "meld KC KH KS", None),
    (
        at("classic_brazilian", "KS KD JK 5C 6C 3H 9S", more="taken: 3S KD, use KD"),
        "meld 5C 6C JK*",
        f"{UNTIL}the pile's top card KD",
    ),
    (
        at("fechado", "3H 4H 5H KD JD QD", more="taken: KD, use KD"),
        "meld 3H 4H 5H",
        "top card KD must be melded first, with cards held before",
    ),
    (
        at("fechado", "9H 7H JH TH 3C", "4H 5H 6H", more="taken: 7H 9H, use 9H"),
        "lay off 7H on 4H-6H",
        "7H lies among the buried cards, barred until 9H is used",
    ),
    (at("fechado", "9H TH JH KH 3C", "4H 5H 6H", more="taken: 9H, use 9H"), "lay off 9H on 4H-6H", "no such meld"),
    (
        at("classic_italian", "AS JK 3C 4D", "AC AD AH", more="opening: AC AD AH"),
        "discard 3C",
        "the first meld AC AD AH must be worth 50 points",
    ),
    (
        at("classic_italian", "AS JK 3C 4C 5C", "AC AD AH", more="opening: AC AD AH"),
        "meld 3C 4C 5C",
        "the first meld AC AD AH must be worth 50 points",
    ),
    (at("classic_italian", "AC AD AH 3C 4D"), "meld AC AD AH", UNTIL),
    (at("classic", "3C 3D 3H 4S", more=MORTO_GONE), "meld 3C 3D 3H", f"{UNTIL}a card must be kept after the discard"),
    (at("fechado", "3C 3D 3H 4S", more=MORTO_GONE), "meld 3C 3D 3H", "unless .* goes out with a clean canasta"),
    (at("aberto_sujo", "3C 4C 5C"), "meld 3C 4C 5C", f"{UNTIL}a card must be left to discard"),
    (at("burraco", "3C 4C 5C", CANASTA, more=MORTO_GONE), "meld 3C 4C 5C", f"{UNTIL}a card must be left to discard"),
    (at("classic", "3C 3D 3H", phase="extra", more=MORTO_GONE), "meld 3C 3D 3H", f"{UNTIL}a card must be kept, unless"),
    (at("classic", "3C 4D", phase="extra", more=MORTO_GONE), "discard 3C", "the discard has been made"),
    (at("classic", "JK 3C 4D", "4H 5H 6H"), "lay off JK* on 4H-6H low", "the rules allow no such meld here"),
    (at("online", "3C 4D", more="taken: 3C"), "discard 3C", "it was the whole pile; it may go back only with a twin"),
    (at("online", "JK", "4H 5H 6H"), "discard JK", "a wild may not be the discard that empties the hand while a meld"),
    (
        at("burraco", "JK 3C", CANASTA, "JH QH KH 2S*", more=MORTO_GONE),
        "discard 3C",
        None,
    ),
    (at("online", "3C 4D"), "meld 4h 5H 6H", "write '4H'"),
]  # fmt: skip


@pytest.mark.parametrize(("game", "action", "reason"), REFUSALS, ids=[f"{g.rules}: {a}, {r}" for g, a, r in REFUSALS])
def test_a_refusal_says_why_and_changes_nothing(game: Game, action: str, reason: str | None) -> None:
    before = game.record.tobytes()
    if reason is None:
        assert game.parse(action) in game.legal_actions()
        return
    with pytest.raises(IllegalAction, match=reason):
        game.play(action)
    assert game.record.tobytes() == before


def test_the_last_card_stays_where_no_canasta_allows_going_out() -> None:
    game = at("classic", "9H 4S", "4H 5H 6H 7H 8H", "4C 5C 6C", more=MORTO_GONE)
    with pytest.raises(IllegalAction, match="the hand holds no"):
        game.play("discard 3C")
    game = at("classic", "9H TH", "4H 5H 6H 7H 8H", more=MORTO_GONE)
    game.play("lay off 9H on 4H-8H")
    with pytest.raises(IllegalAction, match="it would empty the hand: a card must be kept after the discard, unless"):
        game.play("discard TH")
    game.play("lay off TH on 4H-9H")
    assert game.end_reason == "out"


def test_an_id_of_an_empty_slot_is_refused_as_no_meld() -> None:
    game = at("classic", "7H 3C 4C", "4H 5H 6H")
    action = game.parse("lay off 7H on 4H-6H") + 14  # the next slot of the suit
    with pytest.raises(IllegalAction, match="lay off 7H on run 2 of H: your team has no such meld"):
        game.play(action)


def test_where_wilds_move_the_low_end_is_no_place_to_lay_one() -> None:
    game = at("online", "JK 3C 4C", "4H 5H 6H")
    action = game.parse("lay off JK* on 4H-6H") - 5  # the id of the low end
    with pytest.raises(IllegalAction, match="is laid on the high end"):
        game.play(action)


@pytest.mark.parametrize("preset", rule_names())
def test_every_illegal_id_is_refused_and_changes_nothing(preset: str) -> None:
    rng = random.Random(5)
    for game in random_moments(preset, 8, 0.04):
        before, legal = game.record.tobytes(), set(game.legal_actions())
        for action in rng.sample(range(NUM_ACTIONS), deals(60)):
            if action not in legal:
                with pytest.raises(IllegalAction):
                    game.play(action)
        assert game.record.tobytes() == before and set(game.legal_actions()) == legal


@pytest.mark.parametrize("action", [-1, NUM_ACTIONS, 1.0, None, True, "nonsense", b"draw"])
def test_what_is_no_action_is_refused(action: object) -> None:
    game = Game("classic", seed=1)
    with pytest.raises(IllegalAction):
        game.play(action)  # type: ignore[arg-type]


def test_unknown_names_are_answered_with_the_nearest() -> None:
    with pytest.raises(RulesError, match="unknown rules 'clasic', did you mean 'classic'"):
        Game("clasic")
    with pytest.raises(RulesError, match="unknown field 'num_seat', did you mean 'num_seats'"):
        Game("classic", num_seat=2)
    with pytest.raises(RulesError, match="num_seats = 3 is not allowed; allowed: 2, 4"):
        Game("classic", num_seats=3)


@pytest.mark.parametrize("seed", [-1, MAX_SEED + 1, 1.5, "7", True])
def test_a_seed_that_is_none_is_refused(seed: object) -> None:
    with pytest.raises(ValueError, match=r"seed = .* allowed: an int from 0"):
        Game("classic", seed=seed)  # type: ignore[arg-type]


@pytest.mark.parametrize("seat", [-1, 4, 1.0, "0", True])
def test_a_seat_that_is_not_there_is_refused(seat) -> None:
    game = Game("classic", seed=1)
    for ask in (game.hand, game.view, game.observation, lambda seat: Game("classic", seed=1, starter=seat)):
        with pytest.raises(ValueError, match="seats: 0 to 3"):
            ask(seat)


@pytest.mark.parametrize("team", [-1, 2, "0", True])
def test_a_team_that_is_not_there_is_refused(team) -> None:
    game = Game("classic", seed=1)
    for ask in (game.melds, game.morto_taken):
        with pytest.raises(ValueError, match="teams: 0 and 1"):
            ask(team)


def test_rules_are_a_name_a_path_or_a_record(tmp_path) -> None:
    rules = Rules.load("classic", target=2000)
    path = tmp_path / "mine.toml"
    path.write_text(rules.to_toml(), encoding="utf-8")
    assert str(Game(rules, seed=1)) == str(Game(path, seed=1)) == str(Game("classic", seed=1, target=2000))
