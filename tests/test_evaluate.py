"""The evaluator's own gates: a against a is 0, (a, b) is −(b, a), batches and workers change nothing."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import torch

from agents import make
from agents.neural import Neural
from buraco_env import BatchEnv
from tests.test_agents import untrained
from train.config import ConfigError
from train.evaluate import FAULT_POINTS, PATIENCE, Games, ask, compare, in_time, join, play_pairs, summarise, wilson
from train.report import notes
from train.seeds import deal_seeds

SEEDS = deal_seeds("test", 12)


class Failing:
    """Fails in each deal once its seat holds `limit` cards or fewer: by an illegal id, an error, or a bad shape."""

    def __init__(self, how: str = "illegal", limit: int = 8):
        self.how, self.limit = how, limit

    def reset(self, seed):
        pass

    def act(self, views):
        chosen = views.legal[views.offsets[:-1]].astype(np.int64)
        fails = views.observation[:, :53].sum(1) <= self.limit
        if self.how == "error" and fails.any():
            raise RuntimeError("out of ideas")
        if self.how == "shape" and fails.any():
            return chosen[:0]
        return np.where(fails, -1, chosen)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Threads cost more than they bring for batches so small."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def agent(name):
    return Neural.of(untrained(), temperature=1.0) if name == "sampled network" else make(name)


@pytest.mark.parametrize("name", ["greedy", "random", "sampled network"])
def test_an_agent_against_itself_scores_0_in_every_pair(name):
    games = play_pairs(agent(name), agent(name), "classic", SEEDS)
    assert games.points.any()
    assert (games.points.sum(1) == 0).all()
    result = summarise(name, name, "classic", games)
    assert (result.points, result.points_low, result.points_high, result.win_rate) == (0, 0, 0, 0.5)


@pytest.mark.parametrize(("a", "b"), [("greedy", "random"), ("sampled network", "greedy")])
def test_exchanging_the_agents_changes_the_sign(a, b):
    games, exchanged = (play_pairs(agent(x), agent(y), "classic", SEEDS) for x, y in ((a, b), (b, a)))
    assert (games.points == -exchanged.points[:, ::-1]).all()
    there, back = summarise(a, b, "", games), summarise(b, a, "", exchanged)
    assert there.points == -back.points
    assert (there.points_low, there.points_high) == pytest.approx((-back.points_high, -back.points_low))
    assert (there.win_rate, there.win_low) == pytest.approx((1 - back.win_rate, 1 - back.win_high))


@pytest.mark.parametrize("rules", ["classic", "online", "classic_two_player"])
def test_batches_make_no_difference(rules):
    whole = play_pairs(agent("sampled network"), make("random"), rules, SEEDS, seed=3)
    lots = [play_pairs(agent("sampled network"), make("random"), rules, lot, seed=3) for lot in np.split(SEEDS, [1, 7])]
    assert (join(lots).points == whole.points).all()


def test_workers_make_no_difference():
    assert compare("greedy", "random", pairs=90, workers=2) == compare("greedy", "random", pairs=90)


@pytest.mark.parametrize("how", ["illegal", "error", "shape"])
def test_an_agent_that_fails_loses_those_deals_and_is_named(how):
    failing = f"tests.test_evaluate:Failing:how={how}"
    games = play_pairs(make(failing), make("greedy"), "classic", SEEDS)
    assert games.faults[0] == (games.points == -FAULT_POINTS).sum() > 0
    assert games.faults[1] == 0
    result = summarise(failing, "greedy", "classic", games)
    assert result.as_json()["faults_a"] == games.faults[0]
    assert f"{failing} failed in {games.faults[0]} games" in " ".join(notes([result]))


class Slow:
    """Takes its time where the hand has at least so many cards, and a little for each view."""

    def __init__(self, cards: int = 0, each: float = 0.0):
        self.cards, self.each = cards, each
        self.asked = []  # how many views, each time

    def reset(self, seed):
        pass

    def act(self, views):
        self.asked.append(len(views))
        time.sleep(self.each * len(views))
        if max(len(views[i].hand) for i in range(len(views))) >= self.cards:
            time.sleep(5)
        return views.legal[views.offsets[:-1]].astype(np.int64)


def test_an_agent_that_takes_too_long_loses_only_where_it_does():
    batch = BatchEnv(64, "classic", seed=1)
    for _ in range(60):
        batch.step(batch.sample())
    sizes = np.array([len(view.hand) for view in batch.views()])
    many, few = np.flatnonzero(sizes >= 12)[:3], np.flatnonzero(sizes < 12)[:3]
    index = np.stack([many, few], 1).ravel()  # by turns: it is slow, but never for long
    chosen, faulty = ask(Slow(cards=12), batch, index, seconds=0.2)
    assert faulty.tolist() == [True, False] * 3
    assert chosen.tolist() == [c for i in few for c in (-1, batch.legal[batch.offsets[i]])]


def test_an_agent_that_never_answers_is_not_asked_for_long():
    batch, agent = BatchEnv(30, "classic", seed=1), Slow()
    chosen, faulty = ask(agent, batch, np.arange(30), seconds=0.01)
    assert faulty.all() and chosen.tolist() == [-1] * 30
    assert agent.asked == [30, 12] + [1] * PATIENCE


def test_a_slow_agent_is_asked_in_lots():
    batch, agent = BatchEnv(30, "classic", seed=1), Slow(cards=99, each=0.03)
    chosen, faulty = ask(agent, batch, np.arange(30), seconds=0.05)
    assert agent.asked == [30, 12, 12, 6]
    assert not faulty.any() and (chosen == batch.legal[batch.offsets[:-1]]).all()


def test_an_error_is_looked_for_in_lots():
    batch = BatchEnv(30, "classic", seed=1)

    class Once(Slow):
        def act(self, views):
            if 14 in views.index:
                raise RuntimeError
            return super().act(views)

    agent = Once(cards=99)
    assert np.flatnonzero(ask(agent, batch, np.arange(30))[1]).tolist() == [14]
    assert agent.asked == [12] + [1] * 11 + [6]


def alarms():
    """What rings when, and how: all that a limit of time has to leave as it was."""
    return signal.getitimer(signal.ITIMER_REAL), signal.getsignal(signal.SIGALRM)


def test_a_limit_of_time_interrupts_and_gives_back():
    assert in_time(lambda: 7, 5) == 7
    with pytest.raises(TimeoutError, match=r"no answer in 0\.01 s"):
        in_time(lambda: time.sleep(5), 0.01)


def test_an_alarm_that_comes_late_does_nothing():
    before = alarms()
    ring = in_time(lambda: signal.getsignal(signal.SIGALRM), 5)
    assert callable(ring) and alarms() == before
    ring(signal.SIGALRM, None)


def test_an_alarm_is_put_off_whenever_it_rings():
    before, late = alarms(), 0
    for seconds in np.random.default_rng(1).uniform(1e-6, 3e-5, 5000).tolist():
        try:
            in_time(lambda: sum(range(200)), seconds)
        except TimeoutError:
            late += 1
        assert alarms() == before
    assert late


class Broken:
    """Can't even start, or leaves the program."""

    def __init__(self, how: str):
        self.how = how

    def reset(self, seed):
        if self.how == "reset":
            raise RuntimeError

    def act(self, views):
        sys.exit(3)


@pytest.mark.parametrize("how", ["reset", "exit"])
def test_an_agent_that_cannot_start_or_leaves_loses_every_deal(how):
    games = play_pairs(Broken(how), make("random"), "mini", SEEDS[:3])
    assert (games.points == -FAULT_POINTS).all() and games.faults == (6, 0)


class Person(Slow):
    """Must not be asked from another process, which has no terminal."""

    takes_time = True

    def act(self, views):
        assert os.environ["BURACO_TEST_HOME"] == str(os.getpid())
        return super().act(views)


def test_a_person_is_asked_in_this_process(monkeypatch):
    monkeypatch.setenv("BURACO_TEST_HOME", str(os.getpid()))
    assert compare("tests.test_evaluate:Person:cards=99", "random", "mini", pairs=100, workers=2).faults == (0, 0)


class Dying(Slow):
    """Takes its process with it."""

    def act(self, views):
        os._exit(3)


def test_a_worker_that_dies_is_told_of_in_one_line():
    with pytest.raises(ConfigError, match=r"^tests\.test_evaluate:Dying against random: a process .* died"):
        compare("tests.test_evaluate:Dying", "random", "mini", pairs=100, workers=2)


def test_partners_sit_in_their_seats():
    views = BatchEnv(12, ["classic", "mini"], seed=3).views()
    both = make("partners:lower=steady,upper=greedy").act(views)
    for half, name in enumerate(("steady", "greedy")):
        mine = np.flatnonzero(views.seat // 2 == half)
        assert (both[mine] == make(name).act(views)[mine]).all()


def test_a_tournament_goes_on_when_an_agent_fails(tmp_path):
    failing = "tests.test_evaluate:Failing:how=error"
    command = [sys.executable, "-m", "train.tournament", "--agent", "random", "--agent", failing, "--rules", "mini"]
    command += ["--pairs", "4", "--workers", "1", "--no-partners", "--match", "greedy random mini 4"]
    subprocess.run([*command, "--out", tmp_path / "page.md"], check=True, capture_output=True)
    page = (tmp_path / "page.md").read_text()
    assert f"{failing}: " in page and "| greedy | random | mini | 4 | " in page


def test_only_the_deals_at_fault_are_lost():
    games = play_pairs(make("tests.test_evaluate:Failing:how=error,limit=1"), make("greedy"), "classic", SEEDS)
    assert games.faults[0] < games.points.size


def test_intervals_against_known_numbers():
    assert wilson(0.5, 100) == pytest.approx((0.4038, 0.5962), abs=1e-4)
    assert wilson(0.0, 10) == pytest.approx((0, 0.2775), abs=1e-4)
    games = Games(np.array([[10, 20], [0, -10], [30, 10], [0, 0]]))
    result = summarise("a", "b", "classic", games)
    assert result.points == 7.5
    assert result.points_high == pytest.approx(7.5 + 3.182446 * np.std([15, -5, 20, 0], ddof=1) / 2)
    assert result.win_rate == (4 + 1.5) / 8


def test_splits_have_no_deal_in_common():
    validation, test = (set(deal_seeds(split, 5000).tolist()) for split in ("validation", "test"))
    assert not validation & test
    assert set(deal_seeds("test", 10, first=5)) < test


def test_the_command_prints_a_table_and_writes_json(tmp_path):
    command = [
        sys.executable,
        "-m",
        "train.evaluate",
        "greedy",
        "random",
        "--pairs",
        "20",
        "--json",
        tmp_path / "r.json",
    ]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "points a deal" in shown
    assert "random" in shown
    (line,) = json.loads((tmp_path / "r.json").read_text())
    assert list(line) == [
        "a", "b", "rules", "pairs", "points", "points_low", "points_high", "win_rate", "win_low", "win_high",
    ]  # fmt: skip
    assert (line["a"], line["b"], line["rules"], line["pairs"]) == ("greedy", "random", "classic", 20)
    assert line["points_low"] < line["points"] < line["points_high"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gredy", "random"], "error: no agent 'gredy'; did you mean 'greedy'?"),
        (["greedy", "random", "--rules", "clasic"], "'classic'"),
        (["greedy", "random", "--json", "tests"], "error: tests is a folder; name a file to write"),
        (["greedy", "random", "--json", "README.md/r.json"], "error: README.md/r.json can't be written: "),
    ],
)
def test_the_command_refuses_in_one_line(arguments, message):
    done = subprocess.run([sys.executable, "-m", "train.evaluate", *arguments], capture_output=True, text=True)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_network_chooses_the_same_alone_and_in_a_crowd():
    torch.manual_seed(1)
    network = Neural.of(untrained(seed=2))
    games = [play_pairs(network, make("greedy"), "classic", lot) for lot in (SEEDS[:2], SEEDS)]
    assert (games[0].points == games[1].points[:2]).all()
