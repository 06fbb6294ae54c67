"""What a seat may know: everything a perfect memory holds, and nothing that lies hidden."""

import random
from collections import Counter

import numpy as np
import pytest

from buraco_env import FEATURES, OBSERVATION, BatchEnv, Game, PositionError, View, rule_names
from buraco_env.cards import NUM_CARD_TYPES, parse_card
from buraco_env.kernel import actions as A
from tests.conftest import deals
from tests.positions import random_moments

pytestmark = pytest.mark.kernel


def hidden_swapped(game: Game, seat: int, rng: random.Random) -> Game:
    """Another deal that is the same for this seat; a seat in the middle of its turn can complete it there too."""
    while True:
        try:
            return Game.from_position(shuffled_text(game, seat, rng), seed=1)
        except PositionError as error:
            assert "could not be completed" in str(error)


def shuffled_text(game: Game, seat: int, rng: random.Random) -> str:
    """The same game for this seat, with all that it can't see shuffled, by the position text and plain lists."""
    view, rules = game.view(seat), game.rules
    hands = {other: Counter(game.hand(other)) for other in range(rules.num_seats) if other != seat}
    loose = {other: list((cards - Counter(view.known(other))).elements()) for other, cards in hands.items()}
    lines = str(game).splitlines()
    head, _, bottom = next(line for line in lines if line.startswith("stock: ")).partition(", bottom ")
    stock, seen = head.removeprefix("stock: ").split(), bottom.split()
    mortos_line = next(line for line in lines if line.startswith("mortos: ")).removeprefix("mortos: ")
    mortos = [part.split() for part in mortos_line.split("/")] if mortos_line != "0" else []
    stock = [] if stock == ["0"] else stock
    pool = [card for cards in [*loose.values(), *mortos, stock[len(seen) :]] for card in cards]
    rng.shuffle(pool)
    changed = {}
    for other, cards in loose.items():
        mine = [pool.pop() for _ in cards]
        changed[f"hand {other}:"] = " ".join(view.known(other) + mine)
    if mortos:
        changed["mortos:"] = " / ".join(" ".join(pool.pop() for _ in morto) for morto in mortos)
    if stock:
        cards = seen + [pool.pop() for _ in stock[len(seen) :]]
        changed["stock:"] = " ".join(cards) + (f", bottom {bottom}" if bottom else "")
    out = []
    for line in lines:
        key = line[: line.index(":") + 1] if ":" in line else ""
        out.append(f"{key} {changed[key]}" if key in changed else line)
    return "\n".join(out)


def features(game: Game) -> np.ndarray:
    """The features of a game's legal actions, through a batch of one."""
    batch = BatchEnv(1, game.rules, seed=1)
    records = batch.records.copy()
    records[0] = game.record
    batch.restore(records)
    return batch.features.copy()


def public_face(view: View) -> dict:
    """Everything that a view shows in public attributes."""
    seats = range(view.rules.num_seats)
    face = {
        name: getattr(view, name)
        for name in (
            "hand",
            "melds",
            "team",
            "to_move",
            "phase",
            "turn",
            "pile",
            "sizes",
            "must_use",
            "seat",
            "rules",
            "waiting",
            "match_scores",
        )
    }
    face |= {f"known {seat}": view.known(seat) for seat in seats} | {
        f"out {seat}": view.discarded(seat) for seat in seats
    }
    face |= {"mortos": [view.morto_taken(team) for team in (0, 1)], "legal": view.legal_actions()}
    return face | {"words": [view.describe(a) for a in view.legal_actions()], "observation": view.observation.tobytes()}


@pytest.mark.parametrize("seats", [2, 4])
@pytest.mark.parametrize("preset", rule_names())
def test_cards_that_a_seat_cannot_see_change_nothing_for_it(preset: str, seats: int) -> None:
    rng = random.Random(7)
    for game in random_moments(preset, 31, 0.04 / (1 if deals(50) > 1 else 10), num_seats=seats):
        for seat in range(seats):
            other = hidden_swapped(game, seat, rng)
            assert (other.observation(seat) == game.observation(seat)).all()
            assert public_face(other.view(seat)) == public_face(game.view(seat))
            assert str(other.view(seat).resample(3)) == str(game.view(seat).resample(3))
            if game.seat == seat:
                assert (other.action_mask() == game.action_mask()).all()
                assert (features(other) == features(game)).all()


@pytest.mark.parametrize("reward", ["score_difference", "dense", "win"])
@pytest.mark.parametrize("preset", rule_names())
def test_no_reward_before_the_end_tells_of_a_hidden_card(preset: str, reward: str) -> None:
    """The seat's own turn, played alike in two deals that it can't tell apart, pays alike step by step."""
    rng = random.Random(5)
    for game in random_moments(preset, 32, 0.1 / (1 if deals(50) > 1 else 10)):
        if game.over or game.phase == "draw":
            continue
        batch = BatchEnv(2, game.rules, seed=1, reward=reward)
        records = batch.records.copy()
        records[0], records[1] = game.record, hidden_swapped(game, game.seat, rng).record
        batch.restore(records)
        taken = records["mortos_left"].copy()
        while not batch.end_reason.any() and (batch.records["turn"] == game.turn).all():
            if (batch.records["mortos_left"] != taken).any():
                break  # the hidden cards of the morto have come to the hand
            action = int(rng.choice(batch.legal[: batch.offsets[1]]))
            batch.step(np.array([action, action]))
            assert batch.end_reason.any() or batch.reward[0] == batch.reward[1], game.describe(action)


@pytest.mark.parametrize("preset", rule_names())
def test_a_resampled_game_looks_the_same_to_its_seat(preset: str) -> None:
    for game in random_moments(preset, 33, 0.05 / (1 if deals(50) > 1 else 10)):
        for seat in range(game.rules.num_seats):
            view = game.view(seat)
            other = view.resample(seed=9)
            assert public_face(other.view(seat)) == public_face(view)
            assert [len(other.hand(s)) for s in range(game.rules.num_seats)] == list(view.sizes.hands)
            for s in range(game.rules.num_seats):
                assert Counter(view.known(s)) <= Counter(other.hand(s))
            again = Game.from_position(str(other))  # which counts every card
            assert str(again) == str(other) == str(view.resample(seed=9))
            bottom = int(game.record.bottom)
            assert (other.record.stock[:bottom] == game.record.stock[:bottom]).all()
            assert str(game.view(seat).resample(seed=10)) != str(other) or game.over


def test_where_another_seat_has_a_duty_a_resampled_game_lets_it_be_met() -> None:
    text = "rules fechado\nphase meld\nhand 0: KD JD QD 3C 4C\ntaken: KD, use KD"
    view = Game.from_position(text, seed=1).view(2)
    games = [view.resample(seed) for seed in range(30)]
    assert all(game.legal_actions() and "KD" in game.hand(0) for game in games)
    assert len({str(game) for game in games}) == 30


def test_a_resampled_game_can_be_played_to_its_end() -> None:
    rng = random.Random(1)
    for game in random_moments("fechado", 34, 0.02):
        other = game.view(0).resample(seed=2)
        while not other.over:
            other.play(rng.choice(other.legal_actions()))


@pytest.mark.parametrize("preset", rule_names())
def test_a_view_holds_no_seed_and_no_hidden_card(preset: str) -> None:
    game = Game(preset, seed=12345)
    game.play("draw")
    for seat in range(game.rules.num_seats):
        record = game.view(seat)._game.record
        assert record.deal_seed == 0 and not record.rng.any()
        assert not record.stock[int(record.bottom) :].any() and not record.morto.any()
        assert [record.hand[s].any() for s in range(game.rules.num_seats)] == [
            s == seat for s in range(game.rules.num_seats)
        ]


def test_a_view_of_another_seat_has_no_legal_actions() -> None:
    game = Game("classic", seed=3)
    assert game.view(0).legal_actions() == game.legal_actions()
    assert [game.view(seat).legal_actions() for seat in (1, 2, 3)] == [[], [], []]


def test_a_view_tells_of_mortos_that_wait_and_of_the_match() -> None:
    text = "rules online\nseat 1\nmortos taken: 1 0\nwaiting: 0\nscores: 1250 -80"
    view = Game.from_position(text, seed=1).view(1)
    assert view.waiting == (True, False, False, False) and view.match_scores == (1250, -80)


def test_a_view_does_not_follow_the_game() -> None:
    game = Game("classic", seed=3)
    view = game.view(0)
    before = public_face(view)
    game.play("draw")
    assert public_face(view) == before != public_face(game.view(0))


# every piece of an observation, computed slowly from what a game shows


def count(cards) -> list[int]:
    counts = [0] * NUM_CARD_TYPES
    for card in cards:
        counts[parse_card(card.removesuffix("*"))] += 1
    return counts


def expected_pieces(game: Game, seat: int) -> dict:
    seats = game.rules.num_seats
    order = [(seat + i) % seats for i in range(seats)] + [None] * (4 - seats)
    teams, s, view = (seat % 2, 1 - seat % 2), game.record, game.view(seat)
    known = [count(view.known(other)) if other is not None else [0] * NUM_CARD_TYPES for other in order]
    bottom = count(str(game).partition(", bottom ")[2].partition("\n")[0].split())
    melded = count(card for team in teams for meld in game.melds(team) for card in meld.cards)
    deck = [2] * (NUM_CARD_TYPES - 1) + [game.rules.num_jokers]
    seen = zip(deck, count(game.hand(seat)), melded, count(game.pile), bottom, *known[1:])
    canastas = [[meld.is_clean for meld in game.melds(team) if meld.is_canasta] for team in teams]
    return {
        "hand": count(game.hand(seat)),
        "unseen": [all_of_it - sum(places) for all_of_it, *places in seen],
        "known": known,
        "discarded": [count(view.discarded(o)) if o is not None else [0] * NUM_CARD_TYPES for o in order],
        "pile": count(game.pile),
        "pile_top": count(game.pile[-1:]),
        "must_use": count([view.must_use] if view.must_use else []),
        "bottom": bottom,
        "hand_sizes": [len(game.hand(o)) if o is not None else 0 for o in order],
        "waiting": [int(s.waiting[o]) if o is not None else 0 for o in order],
        "starter": [int(o == game.starter) for o in order],
        "taken": [game.morto_taken(team) for team in teams],
        "clean": [sum(found) for found in canastas],
        "dirty": [len(found) - sum(found) for found in canastas],
        "phase": [int(game.phase == phase) for phase in ("draw", "meld", "extra")],
        "stock_size": [game.stock_size],
        "pile_size": [len(game.pile)],
        "mortos_left": [game.mortos_left],
    }


def decoded(piece: np.ndarray) -> list[int]:
    return [int(100 * int(hundreds) + int(rest)) for hundreds, rest in piece.reshape(-1, 2)]


@pytest.mark.parametrize("seats", [2, 4])
@pytest.mark.parametrize("preset", rule_names())
def test_every_piece_of_an_observation_means_what_its_table_says(preset: str, seats: int) -> None:
    for game in random_moments(preset, 35, 0.04 / (1 if deals(50) > 1 else 10), num_seats=seats):
        for seat in range(seats):
            row, teams = game.observation(seat), (seat % 2, 1 - seat % 2)
            pieces = {piece.name: row[piece.slice].reshape(piece.shape) for piece in OBSERVATION}
            for name, wanted in expected_pieces(game, seat).items():
                assert pieces[name].tolist() == wanted, f"{name} of seat {seat}\n{game}"
            assert decoded(pieces["turn"]) == [game.turn] and decoded(pieces["target"]) == [game.rules.target]
            assert decoded(pieces["open_score"]) == [open_points(game, team) for team in teams]
            assert (pieces["unseen"] >= 0).all()


def open_points(game: Game, team: int) -> int:
    points = sum(meld.points + meld.bonus for meld in game.melds(team))
    points += game.rules.bonus_morto * game.morto_taken(team)
    return points + game.rules.bonus_out * int(game.record.out_team == team)


@pytest.mark.parametrize("scores", [(1250, 980), (-250, -5), (0, 2995)])
def test_scores_of_the_match_decode(scores: tuple[int, int]) -> None:
    game = Game.from_position(f"scores: {scores[0]} {scores[1]}", seed=1)
    piece = OBSERVATION["match_score"]
    assert decoded(game.observation(0)[piece.slice]) == list(scores)
    assert decoded(game.observation(1)[piece.slice]) == list(scores[::-1])


def test_history_names_the_last_public_actions_newest_first() -> None:
    game = Game("online", seed=3)
    for _ in range(3):
        game.play("draw")
        game.play(game.legal_actions()[-1])
    piece = OBSERVATION["history"]
    rows = game.observation()[piece.slice].reshape(piece.shape)
    kinds = [A.KINDS[kind - 1] for _, kind, _ in rows if kind]
    assert kinds == ["discard", "draw"] * 3
    assert [int(seat) for seat, kind, _ in rows if kind] == [4, 4, 3, 3, 2, 2]
    assert int(rows[0, 2]) - 1 == parse_card(game.pile[-1]) and int(rows[1, 2]) == 0


def test_features_describe_the_action() -> None:
    game = Game.from_position("phase meld\nhand 0: KC KD JK 7H\nteam 0: 4H 5H 6H", seed=1)
    rows = {game.describe(a): row for a, row in zip(game.legal_actions(), features(game))}

    def value(text: str, name: str) -> list[int]:
        return rows[text][FEATURES[name].slice].tolist()

    assert value("lay off 7H on 4H-6H", "length_after") == [4] and value("lay off 7H on 4H-6H", "points") == [0, 5]
    assert value("meld KC KD JK*", "points") == [0, 50] and value("meld KC KD JK*", "cards_left") == [1]
    assert value("discard 7H", "card") == [parse_card("7H") + 1]


def test_a_card_that_went_back_alone_shows_its_twin_in_the_hand() -> None:
    game = Game.from_position("rules online\nseat 0\nphase draw\nhand 0: 7H 4C 9C KD 3S\npile: 7H", seed=1)
    game.play("take pile")
    game.play("discard 7H")
    assert game.view(1).known(0) == ["7H"]
    assert all("7H" in game.view(1).resample(seed).hand(0) for seed in range(20))
