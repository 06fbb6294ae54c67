"""The PettingZoo environment: its own tests, rewards, illegal actions, the end, copies."""

import copy
import pickle

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, render_test, seed_test

import buraco_env
from buraco_env import NUM_ACTIONS, OBSERVATION, STATE, Game, IllegalAction, RulesError


def play(env, seed: int, steps: int = 10**9, choose=None) -> dict[str, list[float]]:
    """Play random legal actions; what each agent was paid at each step."""
    env.reset(seed=seed)
    return go_on(env, seed, steps)


def go_on(env, seed: int, steps: int = 10**9) -> dict[str, list[float]]:
    rng, paid = np.random.default_rng(seed), {agent: [] for agent in env.possible_agents}
    while env.agents and not (env.terminations[env.agents[0]] or env.truncations[env.agents[0]]) and steps:
        mask = env.infos[env.agent_selection]["action_mask"]
        env.step(int(rng.choice(np.flatnonzero(mask))))
        for agent in env.agents:
            paid[agent].append(env.rewards[agent])
        steps -= 1
    return paid


@pytest.mark.parametrize("rules", ["classic", "fechado", "online", "classic_two_player"])
def test_pettingzoo_api_test(rules: str) -> None:
    api_test(buraco_env.env(rules), num_cycles=300)


def test_pettingzoo_seed_test() -> None:
    seed_test(buraco_env.env, num_cycles=60)


def test_pettingzoo_render_test(capsys: pytest.CaptureFixture[str]) -> None:
    render_test(lambda render_mode=None: buraco_env.env("mini", render_mode=render_mode))


@pytest.mark.skipif(not hasattr(pettingzoo, "make"), reason="this PettingZoo has no registry")
def test_it_is_registered() -> None:
    env = pettingzoo.make("aec", "buraco/buraco-v0")
    env.reset(seed=1)
    assert env.agents == [f"player_{seat}" for seat in range(4)]
    assert buraco_env.buraco_v0.env().metadata["name"] == "buraco_v0"


def test_the_ten_line_program() -> None:
    env = buraco_env.env(rules="classic", render_mode=None)
    env.reset(seed=7)
    for agent in env.agent_iter():
        observation, _, termination, truncation, _ = env.last()
        action = None if termination or truncation else env.action_space(agent).sample(observation["action_mask"])
        env.step(action)
    assert env.agents == []


@pytest.mark.parametrize("seats", [2, 4])
def test_a_reset_deals_what_game_deals(seats: int) -> None:
    env, game = buraco_env.env(num_seats=seats), Game("classic", seed=9, num_seats=seats)
    env.reset(seed=9, options={"unknown": 1})
    assert env.possible_agents == [f"player_{seat}" for seat in range(seats)]
    rng = np.random.default_rng(1)
    while not game.over:
        agent = env.agent_selection
        assert agent == f"player_{game.seat}"
        seen, _, _, _, info = env.last()
        assert (seen["observation"] == game.observation()).all() and (seen["action_mask"] == game.action_mask()).all()
        assert seen["action_mask"] is info["action_mask"] and seen["action_mask"].dtype == np.int8
        assert (env.state() == game.state()).all() and env.state().shape == (STATE.size,)
        action = int(rng.choice(game.legal_actions()))
        env.step(action)
        game.play(action)
    difference = game.scores()[0] - game.scores()[1]
    assert [env.rewards[a] for a in env.agents] == [difference, -difference] * (seats // 2)


def test_without_a_seed_the_next_deal_follows_from_the_last() -> None:
    states = []
    for _ in range(2):
        env = buraco_env.env()
        env.reset(seed=9)
        env.reset()
        states.append(env.state())
    env.reset(seed=9)
    assert (states[0] == states[1]).all() and (env.state() != states[0]).any()


@pytest.mark.parametrize("rules", ["classic", "online", "mini"])
@pytest.mark.parametrize("reward", ["score_difference", "dense", "win"])
def test_rewards_sum_to_the_deals_difference(rules: str, reward: str) -> None:
    for seed in range(3):
        env = buraco_env.env(rules, reward=reward, reward_scale=0.01)
        paid = play(env, seed)
        zero, one = env._game().scores()
        wanted = np.sign(zero - one) * 0.01 if reward == "win" else (zero - one) * 0.01
        assert np.isclose(sum(paid["player_0"]), wanted)
        assert paid["player_0"] == paid["player_2"] and paid["player_1"] == paid["player_3"]
        assert paid["player_0"] == [-points for points in paid["player_1"]]
        assert reward == "dense" or not any(paid["player_0"][:-1])
        assert sum(map(bool, paid["player_0"])) > 1 or reward != "dense"


def test_what_an_agent_is_told_at_its_turns_sums_to_its_rewards() -> None:
    env = buraco_env.env("mini", reward="dense")
    env.reset(seed=4)
    told, rng = dict.fromkeys(env.possible_agents, 0.0), np.random.default_rng(4)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, _ = env.last()
        told[agent] += reward
        done = termination or truncation
        env.step(None if done else int(rng.choice(np.flatnonzero(observation["action_mask"]))))
    zero, one = env._game().scores()
    assert told == {"player_0": zero - one, "player_1": one - zero, "player_2": zero - one, "player_3": one - zero}


BAD = [NUM_ACTIONS, -1, None, 1.0, "draw", 17]


@pytest.mark.parametrize("action", BAD)
def test_an_illegal_action_raises_and_changes_nothing(action: object) -> None:
    env = buraco_env.env()
    play(env, 2, 30)
    before, agent, rewards = env.state(), env.agent_selection, dict(env._cumulative_rewards)
    with pytest.raises(IllegalAction):
        env.step(action)
    assert (env.state() == before).all() and env.agent_selection == agent and env._cumulative_rewards == rewards
    go_on(env, 2)


@pytest.mark.parametrize(("reward", "pays"), [("score_difference", 500), ("dense", 500), ("win", 1)])
@pytest.mark.parametrize("action", BAD)
def test_an_illegal_action_loses(action: object, reward: str, pays: int) -> None:
    env = buraco_env.env(illegal="lose", illegal_penalty=500, reward=reward)
    play(env, 2, 30)
    agent = env.agent_selection
    mine = int(agent[-1]) % 2
    env.step(action)
    assert all(env.terminations.values()) and not any(env.truncations.values())
    assert all(env.infos[other]["illegal"] == agent for other in env.agents)
    assert env.rewards == {f"player_{seat}": -pays if seat % 2 == mine else pays for seat in range(4)}
    assert not any(env.infos[other]["action_mask"].any() for other in env.agents)
    while env.agents:
        env.step(None)


def test_the_turn_cap_truncates() -> None:
    env = buraco_env.env(max_turns=3)
    play(env, 1)
    assert all(env.truncations.values()) and not any(env.terminations.values())
    assert env._game().end_reason == "turn cap"
    with pytest.raises(ValueError, match="None"):
        env.step(0)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_goes_on_alike_and_alone(duplicate) -> None:
    for steps in (0, 1, 17, 60, 150, 10**9):
        env = buraco_env.env("fechado", reward="dense")
        play(env, 3, steps)
        other, before = duplicate(env), env.state()
        paid = go_on(other, 5)
        assert (env.state() == before).all() and (steps > 10**6 or other.state().tobytes() != before.tobytes())
        assert go_on(env, 5) == paid and (env.state() == other.state()).all()
        env.reset()
        other.reset()
        assert (env.state() == other.state()).all() and env.state() is not other.state()


def test_an_environment_is_copied_before_its_first_reset() -> None:
    other = copy.deepcopy(buraco_env.env())
    with pytest.raises(RuntimeError, match="reset"):
        other.step(0)
    other.reset(seed=1)


def test_only_the_seat_that_decides_has_a_mask() -> None:
    env = buraco_env.env()
    play(env, 5, 40)
    for agent in env.agents:
        seen = env.observe(agent)
        assert seen["action_mask"].any() == (agent == env.agent_selection)
        assert (seen["observation"] == env._game().observation(int(agent[-1]))).all()
        assert env.observation_space(agent).contains(seen)
    with pytest.raises(ValueError, match="unknown agent 'player_9'; agents: player_0"):
        env.observe("player_9")


def test_observations_are_fresh_copies() -> None:
    env = buraco_env.env()
    play(env, 5, 3)
    seen = env.last()[0]
    before = seen["observation"].copy(), seen["action_mask"].copy()
    again = env.last()[0]["observation"]
    again[:] = 9
    env.step(int(np.flatnonzero(seen["action_mask"])[0]))
    assert (seen["observation"] == before[0]).all() and (seen["action_mask"] == before[1]).all()


@pytest.mark.parametrize("use", ["step", "observe", "state", "render", "last"])
def test_before_reset_it_says_to_reset(use: str) -> None:
    env = buraco_env.env(render_mode="ansi")
    arguments = {"step": [0], "observe": ["player_0"]}.get(use, [])
    with pytest.raises((RuntimeError, AttributeError), match=r"reset|agent_selection"):
        getattr(env, use)(*arguments)


def test_after_the_end_it_says_to_reset() -> None:
    env = buraco_env.env("mini")
    play(env, 1)
    while env.agents:
        env.step(None)
    with pytest.raises(RuntimeError, match="call reset"):
        env.step(0)
    assert env.observe("player_0")["observation"].shape == (OBSERVATION.size,)
    env.reset(seed=1)
    assert len(env.agents) == 4


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"rules": "clasic"}, "did you mean 'classic'"),
        ({"targt": 5}, "did you mean 'target'"),
        ({"render_mode": "rgb"}, "render_mode = 'rgb' is not allowed; allowed: None, human, ansi"),
        ({"reward": "sparse"}, "reward = 'sparse' is not allowed"),
        ({"illegal": "ignore"}, "illegal = 'ignore' is not allowed"),
    ],
)
def test_unknown_options_are_named(options: dict, told: str) -> None:
    with pytest.raises((ValueError, RulesError), match=told):
        buraco_env.env(**options)


def test_ansi_shows_the_hand_to_move_and_no_other() -> None:
    env = buraco_env.env(render_mode="ansi")
    play(env, 5, 40)
    text, game = env.render(), env._game()
    holds = text.splitlines()[-1].split("holds")[1].split()
    signs = str.maketrans("CDHS", "♣♦♥♠")
    assert holds == [card if card == "JK" else card.translate(signs) for card in game.hand(game.seat)]
    assert text.count("holds") == 1
