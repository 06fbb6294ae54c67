"""A match goes on to the target, the start rotates, ties are settled as the preset says."""

import random

import pytest

import buraco_env
from buraco_env import Match, rule_names
from buraco_env.match import Ledger
from buraco_env.rules import Rules


def play_out(match: Match, deals: int, seed: int = 0) -> None:
    rng = random.Random(seed)
    while not match.over and match.deals < deals:
        match.play(rng.choice(match.game.legal_actions()))


def test_the_start_rotates_by_one_seat_a_deal() -> None:
    match, starters = Match("classic", seed=1), []
    for deals in range(5):
        play_out(match, deals)
        starters.append(match.starter)
    assert starters == [0, 1, 2, 3, 0]


def test_the_scores_of_a_match_are_the_sums_of_its_deals() -> None:
    match, totals = Match("mini", seed=2), [0, 0]
    rng = random.Random(1)
    while not match.over and match.deals < 8:
        game, deals = match.game, match.deals
        match.play(rng.choice(game.legal_actions()))
        if match.deals > deals:
            totals = [total + score for total, score in zip(totals, game.scores())]
            assert match.scores == tuple(totals)


def test_the_scores_so_far_stand_in_the_observation() -> None:
    match = Match("classic", seed=2)
    play_out(match, 1)
    piece = buraco_env.OBSERVATION["match_score"]
    seen = match.game.observation()[piece.slice].reshape(piece.shape)
    mine, theirs = (100 * int(row[0]) + int(row[1]) for row in seen)
    assert (mine, theirs) == (match.scores[match.game.seat % 2], match.scores[1 - match.game.seat % 2])


def test_the_same_seed_plays_the_same_match() -> None:
    first, second = Match("online", seed=5), Match("online", seed=5)
    play_out(first, 2)
    play_out(second, 2)
    assert str(first.game) == str(second.game)


@pytest.mark.parametrize(
    ("deals", "winner"),
    [([(3000, 0)], 0), ([(0, 3000)], 1), ([(3100, 3200)], 1), ([(2999, 0)], None), ([(1500, 0), (1500, 100)], 0)],
)
def test_reaching_the_target_ends_the_match_and_the_higher_total_wins(deals: list, winner: int | None) -> None:
    ledger = Ledger(Rules.load("classic"))
    for scores in deals:
        ledger.add(scores)
    assert ledger.winner == winner


def test_equal_totals_past_the_target_ask_for_another_deal() -> None:
    ledger = Ledger(Rules.load("classic", tie="extra_deal"))
    ledger.add((3000, 3000))
    assert not ledger.over
    ledger.add((-100, -50))
    assert not ledger.over, "nobody has the target any more"
    ledger.add((200, 100))
    assert ledger.winner == 0


def test_equal_totals_past_the_target_are_won_by_the_team_that_started() -> None:
    ledger = Ledger(Rules.load("fechado"))
    ledger.add((2000, 2000))
    assert ledger.winner == 0


@pytest.mark.parametrize("preset", rule_names())
def test_a_match_as_an_episode_pays_every_deal_and_ends_decided(preset: str) -> None:
    env = buraco_env.env(preset, episode="match", max_deals=3, target=300)
    env.reset(seed=4)
    rng, paid = random.Random(2), 0.0
    for agent in env.agent_iter():
        observation, reward, over, truncated, _ = env.last()
        paid += reward if agent == "player_0" else 0.0
        legal = observation["action_mask"].nonzero()[0]
        env.step(None if over or truncated else int(rng.choice(legal.tolist())))
        decided = over or (truncated and env.match.deals == 3)
        assert not (over or truncated) or decided
    assert paid == env.match.scores[0] - env.match.scores[1]


def test_a_match_that_is_won_pays_one_at_its_end() -> None:
    env = buraco_env.env("mini", episode="match", reward="win", target=100, max_deals=500)
    env.reset(seed=4)
    rng, paid = random.Random(2), dict.fromkeys(env.agents, 0.0)
    for agent in env.agent_iter():
        observation, reward, over, truncated, _ = env.last()
        paid[agent] += reward
        legal = observation["action_mask"].nonzero()[0]
        env.step(None if over or truncated else int(rng.choice(legal.tolist())))
    assert env.match.over
    assert [paid[f"player_{seat}"] for seat in range(4)] == [
        1.0 if seat % 2 == env.match.winner else -1.0 for seat in range(4)
    ]
