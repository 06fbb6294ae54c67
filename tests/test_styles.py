"""Scripted styles and search: they know what a seat knows, play every preset, and are data."""

import random
import time

import numpy as np
import pytest

import agents
from agents.base import STYLES, AgentError
from agents.scripted import duel, play_deals, play_out, weights_of
from agents.search import Clock, Count, halve, play_on, promising
from buraco_env import BatchEnv, Game, IllegalAction, Rules, rule_names
from buraco_env.kernel.weights import WEIGHTS
from tests.conftest import deals
from tests.positions import random_moments
from tests.test_view import hidden_swapped

kernel = pytest.mark.kernel  # of tests that plain Python plays too in a few seconds
NAMES = [name for name, _ in WEIGHTS]
PLAYERS = [*STYLES, "search:playouts=12"]


def asked(agent: agents.Agent, game: Game) -> int:
    """What an agent plays in a game."""
    batch = BatchEnv(1, game.rules)
    batch.restore(np.array([game.record], batch.records.dtype))
    agent.reset(3)
    return int(agent.act(batch.views())[0])


@pytest.mark.parametrize("preset", rule_names())
def test_hidden_cards_change_no_choice(preset: str) -> None:
    rng, players = random.Random(2), [agents.make(spec) for spec in PLAYERS]
    for game in random_moments(preset, 5, 0.03 / (1 if deals(50) > 1 else 10)):
        if game.over:
            continue
        other = hidden_swapped(game, game.seat, rng)
        for player in players:
            assert asked(player, game) == asked(player, other), f"{player}\n{game}"


@pytest.mark.parametrize("seats", [2, 4])
@pytest.mark.parametrize("preset", rule_names())
def test_every_style_plays_every_preset_to_its_end(preset: str, seats: int) -> None:
    rules = Rules.load(preset, num_seats=seats)
    for style in STYLES:
        both = np.stack([weights_of(style, rules), weights_of("steady", rules)])
        results, decisions = play_deals(both, rules, np.arange(deals(4)))
        assert (results["end_reason"] > 0).all() and decisions > 0


@pytest.mark.parametrize("seats", [2, 4])
@pytest.mark.parametrize("preset", rule_names())
def test_search_and_partners_play_every_preset_to_its_end(preset: str, seats: int) -> None:
    batch, ended = BatchEnv(2, preset, seed=4, num_seats=seats), np.zeros(2, bool)
    players = [agents.make(spec) for spec in ("search:playouts=12,candidates=2", "partners:lower=greedy,upper=random")]
    actions = np.zeros(2, np.int64)
    while not ended.all():
        for team, player in enumerate(players):
            mine = np.flatnonzero(batch.seat % 2 == team)
            if len(mine):
                actions[mine] = player.act(batch.views(mine))
        batch.step(actions)  # an illegal one raises
        ended |= batch.end_reason != 0


def test_played_out_deals_are_those_of_the_batch() -> None:
    """The compiled loop, and the agent asked at each decision, play the same deals."""
    seeds, agent = np.arange(deals(20), dtype=np.int64), agents.make("steady")
    rules = Rules.load("classic")
    batch, done = BatchEnv(len(seeds), rules), np.zeros((len(seeds), 2), np.int64)
    batch.deal(seeds)
    waiting = np.ones(len(seeds), bool)
    while waiting.any():
        batch.step(agent.act(batch.views()))
        ended = waiting & (batch.end_reason > 0)
        done[ended] = batch.final_scores[ended]
        waiting &= ~ended
    weights = np.stack([weights_of("steady", rules)] * 2)
    results = [play_deals(weights, rules, seeds[i : i + 1])[0] for i in range(len(seeds))]  # seat 0 starts each
    assert (np.concatenate(results)["final_scores"] == done).all()


def test_a_style_against_itself_is_even_and_a_duel_turns_round() -> None:
    rules, seeds = Rules.load("classic"), np.arange(deals(50))
    steady, greedy = weights_of("steady", rules), weights_of("greedy", rules)
    assert not duel(steady, steady, rules, seeds).any()
    leads = duel(steady, greedy, rules, seeds)
    assert (leads == -duel(greedy, steady, rules, seeds)).all() and (deals(50) == 1 or leads.mean() > 0)


@kernel
def test_a_play_out_is_the_same_compiled_and_interpreted() -> None:
    assert play_out("greedy", "mini", deals=2, seed=4)["final_scores"].tolist() == [[420, -100], [365, 90]]


def test_a_play_out_depends_on_its_seed_alone() -> None:
    first, again = (play_out("steady", deals=deals(10), seed=4) for _ in range(2))
    assert (first == again).all() and (first != play_out("steady", deals=deals(10), seed=5)).any()


def style_file(tmp_path, **changes) -> str:
    values = {name: 1 for name, _ in WEIGHTS} | changes
    path = tmp_path / "mine.toml"
    lines = [f"{name} = {value}" for name, value in values.items() if value is not None]
    path.write_text('title = "mine"\n' + "\n".join(lines) + "\n[free]\ntake = 7\n", encoding="utf-8")
    return str(path)


def test_a_style_is_data_and_may_differ_where_piles_are_free(tmp_path) -> None:
    path = style_file(tmp_path, take=5)
    take = NAMES.index("take")
    assert weights_of(path, Rules.load("classic"))[take] == 5 and weights_of(path, Rules.load("online"))[take] == 7
    assert isinstance(agents.make(f"scripted:style={path}"), agents.Agent)


def test_a_style_says_only_what_differs_from_its_base(tmp_path) -> None:
    path, take, near = tmp_path / "mine.toml", NAMES.index("take"), NAMES.index("near")
    path.write_text('base = "steady"\ntake = 5\n[use_top_first]\nnear = 6\n', encoding="utf-8")
    for preset, changes in (("classic", {take: 5}), ("online", {take: 5}), ("fechado", {take: 5, near: 6})):
        wanted = weights_of("steady", Rules.load(preset))
        for index, value in changes.items():
            wanted[index] = value
        assert (weights_of(str(path), Rules.load(preset)) == wanted).all()
    path.write_text('base = "steady"\ntake = 7\n', encoding="utf-8")
    assert weights_of(str(path), Rules.load("classic"))[take] == 7  # as the file is now


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('base = "stedy"', "no style 'stedy'; did you mean 'steady'"),
        ('base = "{path}"', "is its own base"),
        ('base = "steady"\n[fre]\ntake = 1', "no table [fre]; did you mean 'free'"),
        ('[free]\nbase = "steady"', "mine.toml: base belongs above the first table, not into [free]"),
        ("points = ", "mine.toml: "),
        (b"\xff\xfe\x00", "mine.toml: "),
    ],
)
def test_a_style_file_that_is_none_is_refused_in_a_line(tmp_path, text: str | bytes, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.replace("{path}", str(path)).encode())
    with pytest.raises(AgentError) as caught:
        agents.make(f"scripted:style={path}")
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_weights_that_are_changed_are_a_copy() -> None:
    rules = Rules.load("classic")
    weights_of("steady", rules)[:] = 0
    assert weights_of("steady", rules).any()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"point": 1}, "no weight 'point'; did you mean 'points'?"),
        ({"points": None}, "no value for points"),
        ({"points": 1.5}, "points = 1.5 is not allowed"),
        ({"points": 10**9}, "allowed: a whole number up to"),
    ],
)
def test_a_style_file_with_a_mistake_is_refused(tmp_path, changes: dict, message: str) -> None:
    with pytest.raises(AgentError, match=message.replace("?", r"\?")):
        agents.make(f"scripted:style={style_file(tmp_path, **changes)}")


def test_search_takes_its_seed_and_threads_for_the_same_choice() -> None:
    batch = BatchEnv(6, "classic", seed=2)
    for _ in range(30):
        batch.step(batch.sample())
    chosen = []
    for spec in ("search:playouts=40", "search:playouts=40", "search:playouts=40,threads=2"):
        player = agents.make(spec)
        player.reset(9)
        chosen.append(player.act(batch.views()).tolist())
    assert chosen[0] == chosen[1] == chosen[2]
    player.reset(9)
    assert player.act(batch.views(np.array([4]))).tolist() == chosen[0][4:5]


def test_search_finds_the_card_that_goes_out() -> None:
    table = "team 0: 3H 4H 5H 6H 7H 8H 9H | 9C 9S 9S"
    text = f"rules classic\nphase meld\nhand 0: 9D\nmortos taken: 1 1\nmortos: 0\n{table}"
    game = Game.from_position(text, seed=1)
    action = asked(agents.make("search:playouts=20"), game)
    game.play(action)
    assert game.over and game.end_reason == "out"


@pytest.mark.parametrize("preset", ["classic", "fechado", "online", "mini"])
def test_play_outs_by_an_agent_and_by_its_weights_are_the_same(preset: str) -> None:
    for game in random_moments(preset, 6, 0.05):
        view = game.view(game.seat)
        if game.over:
            continue
        actions, seeds = np.array(game.legal_actions()[:4]), np.array([3, 2**61])
        leads = view.compare(actions, seeds, weights_of("steady", game.rules))
        assert (play_on(agents.make("steady"), view, actions, seeds) == leads).all(), game


def test_search_by_a_player_starts_from_its_choice() -> None:
    batch = BatchEnv(4, "classic", seed=2)
    for _ in range(40):
        batch.step(batch.sample())
    chosen = []
    for spec in ("search:playouts=2,candidates=2,player=(greedy)", "greedy"):
        player = agents.make(spec)
        player.reset(9)
        chosen.append(player.act(batch.views()).tolist())
    assert chosen[0] == chosen[1]


def test_halving_keeps_the_best_within_its_budget() -> None:
    played = []

    def leads(actions: np.ndarray, first: int, stop: int) -> np.ndarray:
        played.append((stop - first) * len(actions))
        return np.repeat(actions[None, :] % 7, stop - first, axis=0)

    assert halve(np.arange(10, 20), leads, Count(400)) == 13 and sum(played) <= 400
    played.clear()
    assert halve(np.arange(10, 20), leads, Count(15)) == 10 and sum(played) == 10  # a second round would be too much


@pytest.mark.parametrize(("seconds", "rounds"), [(0.05, 2), (0.01, 1), (0.11, 5), (9.0, 5)])
def test_a_clock_is_kept_where_a_round_takes_long(monkeypatch, seconds: float, rounds: int) -> None:
    """Each round takes 20 ms however few its play-outs."""
    now, played = 0.0, []
    monkeypatch.setattr(time, "perf_counter", lambda: now)

    def leads(actions: np.ndarray, first: int, stop: int) -> np.ndarray:
        nonlocal now
        now += 0.02
        played.append(stop - first)
        return np.zeros((stop - first, len(actions)))

    halve(np.arange(10), leads, Clock(seconds, True), 8)
    assert len(played) == rounds and played[0] == 8


@pytest.mark.parametrize("milliseconds", [1, 10, 100, 2000])
def test_a_clock_is_kept_where_each_play_out_takes_time(monkeypatch, milliseconds: int) -> None:
    now, played = 0, []
    monkeypatch.setattr(time, "perf_counter", lambda: now / 1e6)

    def leads(actions: np.ndarray, first: int, stop: int) -> np.ndarray:
        nonlocal now
        now += 100 * (stop - first) * len(actions)
        played.append(stop - first)
        return np.repeat(actions[None, :] % 7, stop - first, axis=0)

    best = halve(np.arange(10, 20), leads, Clock(milliseconds / 1000))
    assert now <= 1000 * milliseconds and (milliseconds == 1 or now > 800 * milliseconds)
    assert best == (10 if milliseconds == 1 else 13)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("preset", ["classic", "fechado", "online", "mini"])
def test_the_first_of_the_promising_actions_is_what_the_style_plays(preset: str, style: str) -> None:
    for game in random_moments(preset, 8, 0.2):
        if not game.over:
            first = promising(game.view(game.seat), weights_of(style, game.rules), 4)[0]
            assert first == asked(agents.make(style), game), f"{game}"


def test_halving_keeps_to_the_first_action_where_it_does_not_know_better() -> None:
    rng = np.random.default_rng(1)
    assert halve(np.arange(5), lambda actions, first, stop: np.zeros((stop - first, len(actions))), Count(60)) == 0
    assert halve(np.arange(2), lambda actions, first, stop: rng.normal(size=(stop - first, 2)) + actions, Count(2)) == 0


@pytest.mark.parametrize(
    "option", ["playouts=0", "threads=0", "ms=-1", "style=stedy", "player=stedy", "player=greedy,threads=2"]
)
def test_search_refuses_what_makes_no_sense(option: str) -> None:
    with pytest.raises(AgentError, match=r"is not allowed|did you mean 'steady'"):
        agents.make(f"search:{option}")


@kernel
@pytest.mark.parametrize(
    ("position", "action"),
    [
        ("rules classic\nphase meld\nhand 0: JK 2S", "discard 2S"),  # a joker is the last to go
        ("rules fechado\nphase meld\nteam 0: 4H 5H 6H\nhand 0: JK KD 9C QC 8C 5S 4S", "discard"),
        ("rules classic\nphase meld\nteam 0: 4H 5H 6H 7H 8H 9H\nhand 0: TH KC 9D 3S", "lay off TH on 4H-9H"),
        (  # the turn ends without a discard: one card left is not an empty hand
            "rules classic\nphase extra\nteam 0: 3H 4H 5H 6H 7H 8H 9H | 5C 6C 7C 8C\nmortos taken: 1 1\nmortos: 0\n"
            "hand 0: JK KS",
            "end turn",
        ),
    ],
)
def test_steady_knows(position: str, action: str) -> None:
    game = Game.from_position(position, seed=1)
    text = game.describe(asked(agents.make("steady"), game))
    assert text.startswith(action) and text != "discard JK"


@kernel
def test_comparing_is_for_the_seat_to_move_and_its_legal_actions() -> None:
    game = Game("classic", seed=3)
    weights = weights_of("steady", game.rules)
    legal = np.array(game.legal_actions())
    with pytest.raises(IllegalAction, match="is not legal for seat 1"):
        game.view(1).compare(legal, np.arange(2), weights)
    with pytest.raises(IllegalAction, match="3165 is not legal"):
        game.view(0).compare(np.array([3165]), np.arange(2), weights)
    with pytest.raises(ValueError, match="weights must be int64"):
        game.view(0).compare(legal, np.arange(2), weights[:5])


def test_a_spec_within_a_spec_stands_in_brackets() -> None:
    assert isinstance(agents.make("partners:lower=(search:playouts=4,style=greedy),upper=steady"), agents.Agent)
