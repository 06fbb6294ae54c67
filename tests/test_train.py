"""Training: settings and their errors, advantages against an obvious twin, runs that stop and go on."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import typer
import yaml
from rich.console import Console
from typer.testing import CliRunner

from agents.neural import load_policy
from tests.test_agents import untrained
from train.checkpoint import load_resume
from train.cli import QUICKSTART, main
from train.config import Config, ConfigError, Opponents, load_config, resume_config, save_config
from train.display import Display
from train.opponents import SELF, Pool
from train.ppo import Learner, advantages, losses, minibatches
from train.run import Interrupt, Run, Trainer, alarms

TINY = """
name: tiny
minutes: 0
updates: 4
network: {trunk: 16, actions: 8, slots: 4, history: 2}
rollout: {deals: 16, steps: 24, workers: 2}
ppo: {minibatch: 128}
opponents: {snapshot_every: 1, snapshots: 2, scripted_share: 0.2, snapshot_share: 0.3}
evaluation: {every: 0, final_pairs: 4}
"""


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """The path of a configuration that trains in a moment; its runs go to a folder of the test."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.yaml").write_text(TINY)
    return tmp_path / "tiny.yaml"


@pytest.mark.parametrize("file", sorted(QUICKSTART.parent.glob("*.yaml")), ids=lambda file: file.stem)
def test_the_configurations_of_the_kit_are_sound(file):
    assert load_config(file).name == file.stem


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("minuts=3", "unknown key 'minuts'; did you mean 'minutes'?"),
        ("ppo.clipp=3", "unknown key 'ppo.clipp'; did you mean 'clip'?"),
        ("ppo=3", "ppo is a section, write ppo.KEY=VALUE"),
        ("minutes=long", "minutes=long: Value 'long' of type 'str' could not be converted to Float"),
        ("minutes", "'minutes' is no setting: write key=value"),
        ("ppo.epochs=0", "ppo.epochs and ppo.minibatch should be 1 or more"),
        ("rollout.deals=15", "rollout.deals should be a multiple of rollout.workers"),
        ("opponents.scripted=[gredy]", "did you mean 'greedy'?"),
        ("opponents.scripted_share=0.9", "opponents: shares"),
        ("ppo.entropy=[1]", "should be pairs"),
        ("reward=win", "reward should be dense or score_difference"),
        ("name=a/b", "name should be the name of a folder"),
    ],
)
def test_a_wrong_setting_is_refused_in_one_line(tiny, change, message):
    with pytest.raises(ConfigError) as error:
        load_config(tiny, [change])
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"), [("a: [", "is no YAML"), ("- 3", "should hold keys"), ("rule: x", "'rules'")]
)
def test_a_wrong_file_is_refused_in_one_line(tmp_path, text, message):
    (tmp_path / "c.yaml").write_text(text)
    with pytest.raises(ConfigError, match=message) as error:
        load_config(tmp_path / "c.yaml")
    assert "c.yaml" in str(error.value)
    assert "\n" not in str(error.value)


def test_changes_and_files_give_the_same_configuration(tiny, tmp_path):
    config = load_config(tiny, ["rules=online", "ppo.learning_rate=[1e-3, 1e-4]", "minutes=2"])
    assert (config.rules, config.ppo.learning_rate, config.minutes) == (["online"], [0.001, 0.0001], 2.0)
    save_config(config, tmp_path / "again.yaml")
    assert load_config(tmp_path / "again.yaml") == config
    assert set(yaml.safe_load((tmp_path / "again.yaml").read_text())) == set(vars(Config()))
    with pytest.raises(ConfigError, match="network can't change in a run that goes on"):
        resume_config(tiny, ["network.trunk=8"])


def slow_advantages(samples, reward, values, last_values, gae_lambda):
    """Deal by deal and decision by decision, as the formula is written."""
    T, N = reward.shape
    result = np.zeros(len(values))
    for deal in range(N):
        mine = [k for k in range(len(values)) if samples.deal[k] == deal]
        deltas, ends = [], []
        for number, k in enumerate(mine):
            after = mine[number + 1] if number + 1 < len(mine) else None
            until = samples.step[after] if after is not None else T
            paid, ended = 0.0, False
            for t in range(samples.step[k], until):
                if not ended:
                    paid += reward[t, deal]
                ended = ended or bool(samples.over[t, deal])
            follows = 0.0 if ended else (values[after] if after is not None else last_values[deal])
            deltas.append(paid + follows - values[k])
            ends.append(ended)
        for i, k in enumerate(mine):
            factor = 1.0
            for j in range(i, len(mine)):
                result[k] += factor * deltas[j]
                if ends[j]:
                    break
                factor *= gae_lambda
    return result


@pytest.mark.parametrize("gae_lambda", [0.0, 0.9, 1.0])
def test_advantages_agree_with_the_obvious_twin(gae_lambda):
    rng = np.random.default_rng(1)
    T, N = 40, 7
    step, deal = np.nonzero(rng.random((T, N)) < 0.6)
    samples = SimpleNamespace(step=step, deal=deal, over=rng.random((T, N)) < 0.08)
    reward, values, last = rng.normal(size=(T, N)), rng.normal(size=len(step)), rng.normal(size=N)
    fast = advantages(samples, reward, values, last, gae_lambda)
    assert fast == pytest.approx(slow_advantages(samples, reward, values, last, gae_lambda), abs=1e-4)


def test_the_reward_of_a_deal_reaches_the_last_decisions_of_all_seats():
    samples = SimpleNamespace(step=np.arange(4), deal=np.zeros(4, int), over=np.array([[0], [0], [0], [0], [1]]))
    reward = np.array([[0], [0], [0], [0], [100.0]])  # paid by a forced move
    assert advantages(samples, reward, np.zeros(4), np.array([55.0]), 1.0).tolist() == [100] * 4


@pytest.fixture(scope="module")
def lesson(tmp_path_factory):
    """A learner that has played, what it played, and what there is to learn of it."""
    file = tmp_path_factory.mktemp("lesson") / "tiny.yaml"
    file.write_text(TINY)
    learner = Learner(load_config(file, ["rollout.steps=200", "opponents.snapshot_every=100"]), 300.0)
    played = [worker.collect(learner.nets.policy, 200) for worker in learner.workers]
    return learner, played, learner._lessons([samples for samples, _ in played])


def test_only_real_decisions_of_the_learner_are_remembered(lesson):
    learner, played, _ = lesson
    for worker, (samples, _) in zip(learner.workers, played):
        counts = np.diff(samples.offsets)
        assert counts.min() > 1
        assert (samples.chosen < counts).all()
        assert (np.diff(samples.step) >= 0).all()
        share = len(samples.step) / samples.over.size
        assert 0.4 < share < 0.9
        assert samples.observation.shape[0] == samples.state.shape[0] == len(counts)
        assert worker.filled == len(counts)


def test_the_rewards_of_a_deal_add_up_to_its_difference(lesson):
    _, played, _ = lesson
    lengths = [length for _, finished in played for length in finished.lengths]
    assert len(lengths) >= 4
    ended = sum(samples.over.sum() for samples, _ in played)
    assert ended == len(lengths)


def test_advantages_are_normalised_over_all_workers(lesson):
    every = np.concatenate([one.advantage for one in lesson[2]])
    assert (every.mean(), every.std()) == pytest.approx((0, 1), abs=1e-4)


def test_minibatches_cover_every_decision_once(lesson):
    _, _, lessons = lesson
    parts = list(minibatches(lessons, 128, np.random.default_rng(0)))
    for number, one in enumerate(lessons):
        taken = np.concatenate([part[number][1] for part in parts])
        assert sorted(taken) == list(range(len(one)))
    sizes = [sum(len(index) for _, index in part) for part in parts]
    assert max(sizes) - min(sizes) <= 2
    assert sizes[0] == pytest.approx(128, rel=0.15)


def test_before_any_step_the_policy_has_not_moved(lesson):
    learner, _, lessons = lesson
    _, told = losses(learner.nets, lessons[0], np.arange(50), learner.config.ppo, 0.01)
    assert told["kl"] == pytest.approx(0, abs=1e-4)
    assert told["clipped"] == 0
    assert told["entropy"] / 50 > 1


def test_threads_add_their_gradients_to_that_of_the_whole(lesson):
    learner, _, lessons = lesson
    parts = [(one, np.arange(40)) for one in lessons]
    learner.nets.zero_grad()
    (sum(losses(learner.nets, *part, learner.config.ppo, 0.01)[0] for part in parts) / 80).backward()
    whole = [p.grad.clone() for p in learner.nets.parameters()]
    before = [p.detach().clone() for p in learner.nets.parameters()]
    learner.config.ppo.gradient_clip = 1e9
    learner._descend(parts, 0.01)
    for one, grad in zip(learner.nets.parameters(), whole):
        assert torch.allclose(one.grad, grad, atol=1e-6)
    for one, twin, old in zip(learner.nets.parameters(), learner.twins[0].parameters(), before):
        assert torch.equal(one, twin)
        assert one.grad.count_nonzero() == 0 or not torch.equal(one, old)


def test_opponents_are_drawn_in_their_shares():
    pool = Pool(Opponents(scripted_share=0.1, snapshot_share=0.2, scripted=["greedy", "random"], snapshot_every=2))
    rng = np.random.default_rng(0)
    assert np.isin(pool.draw(rng, 1000), [SELF, SELF - 1, SELF - 2]).all()
    pool.keep(2, untrained())
    pool.keep(3, untrained())
    drawn = pool.draw(rng, 20_000)
    shares = {code: np.mean(drawn == code) for code in np.unique(drawn)}
    assert shares == pytest.approx({SELF: 0.7, SELF - 1: 0.05, SELF - 2: 0.05, 2: 0.2}, abs=0.01)


def test_past_selves_are_spaced_by_the_logarithm_of_their_age():
    pool = Pool(Opponents(snapshots=5, snapshot_every=1))
    for update in range(1, 130):
        pool.keep(update, untrained())
    ages = [129 - update for update in pool.past]
    assert len(ages) == 5
    assert ages[0] > 60
    assert ages[-1] == 0
    assert pool.still_there(np.array([SELF, SELF - 1, 7])).tolist() == [SELF, SELF - 1, min(pool.past)]


def trained(config, updates, resume=None):
    """A trainer that has done so many updates, saved and let go of its folder."""
    run = Run(resume) if resume else Run.new(config)
    trainer = Trainer(config, run, Display("test", "greedy"), resume=bool(resume))
    config.updates = updates
    trainer.train()
    run.close()
    return trainer


def test_a_run_that_was_stopped_goes_on_exactly(tiny):
    flat = ["ppo.learning_rate=[1e-3,1e-3]", "ppo.entropy=[0.01,0.01]"]
    whole = trained(load_config(tiny, [*flat, "name=whole"]), 4)
    half = trained(load_config(tiny, [*flat, "name=half"]), 2)
    rest = trained(load_config(tiny, [*flat, "name=half"]), 4, resume=half.run.folder)
    states = [load_resume(trainer.run.folder) for trainer in (whole, rest)]
    assert states[0][1]["learner"] == states[1][1]["learner"]
    assert states[0][0].keys() == states[1][0].keys()
    for name, tensor in states[0][0].items():
        assert torch.equal(tensor, states[1][0][name]), name
    assert any(name.startswith("past.") for name in states[0][0])
    assert any(name.startswith("optimiser.") for name in states[0][0])
    lines = [json.loads(line) for line in (rest.run.folder / "metrics.jsonl").read_text().splitlines()]
    assert [line["update"] for line in lines] == [1, 2, 3, 4]


def test_metrics_of_updates_that_were_not_saved_are_forgotten(tiny, tmp_path):
    run = Run(tmp_path / "run")
    (tmp_path / "run" / "metrics.jsonl").write_text('{"update": 1}\n{"update": 2}\n{"update": 3}\n{"upda')
    run.forget_after(2)
    assert (tmp_path / "run" / "metrics.jsonl").read_text() == '{"update": 1}\n{"update": 2}\n'


def test_two_writers_in_one_folder_are_refused(tmp_path):
    run = Run(tmp_path)
    with pytest.raises(ConfigError, match="is being written by another process"):
        Run(tmp_path)
    run.close()
    Run(tmp_path).close()


def test_alarms():
    fine = {"entropy": 0.5, "truncated": 0, "finished": 10, "meld_share": 0.3}
    assert alarms(fine) == []
    for change, word in (
        ({"entropy": 0.001}, "entropy"),
        ({"truncated": 2}, "turn cap"),
        ({"meld_share": 0.0}, "melds"),
    ):
        assert word in alarms(fine | change)[0]


class Interrupted(io.RawIOBase):
    """A terminal at which Ctrl-C is pressed while the first line is being written."""

    def __init__(self):
        self.written = b""

    def writable(self):
        return True

    def write(self, data):
        if not self.written:
            self.written = b" "
            signal.raise_signal(signal.SIGINT)
        self.written += bytes(data)
        return len(data)


def test_ctrl_c_in_the_middle_of_a_print_stops_as_elsewhere():
    terminal = Interrupted()
    console = Console(file=io.TextIOWrapper(io.BufferedWriter(terminal), "utf-8", write_through=True))
    trainer = SimpleNamespace(stopped=False, display=Display("a run", "random", console))
    with Interrupt(lambda: Trainer._stop(trainer)):
        trainer.display.tell("a line")
    deadline = time.monotonic() + 10
    while b"stopping" not in terminal.written and time.monotonic() < deadline:
        time.sleep(0.01)
    assert trainer.stopped and b"a line" in terminal.written and b"stopping after this update" in terminal.written


def command():
    """The training command, to be run inside this process."""
    app = typer.Typer()
    app.command()(main)
    return app


def train(*arguments):
    """The training command, started in the current folder."""
    line = [sys.executable, "-m", "train", *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": str(QUICKSTART.parents[1])}
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def test_the_command_trains_stops_at_ctrl_c_goes_on_and_evaluates(tiny):
    first = train("--config", tiny, "updates=100000", "save_every=100")
    while "update 1 " not in first.stdout.readline():
        pass
    started = time.monotonic()
    first.send_signal(signal.SIGINT)
    out, errors = first.communicate(timeout=60)
    assert time.monotonic() - started < 30
    assert (first.returncode, errors) == (0, "")
    (run,) = os.listdir("runs")
    assert f"Go on with: python -m train --resume runs/{run}" in out
    done = load_resume(tiny.parent / "runs" / run)[1]["learner"]["updates"]
    assert done >= 1

    second = train("--resume", f"runs/{run}", f"updates={done + 2}")
    out, errors = second.communicate(timeout=120)
    assert (second.returncode, errors) == (0, "")
    assert "points a deal" in out
    folder = tiny.parent / "runs" / run
    assert load_resume(folder)[1]["learner"]["updates"] == done + 2
    assert {line["b"] for line in json.loads((folder / "evaluation.json").read_text())} == {"random", "greedy"}
    assert yaml.safe_load((folder / "config.yaml").read_text())["updates"] == done + 2
    assert load_policy(folder).sizes.trunk == 16


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["minuts=3"], "error: minuts=3: unknown key 'minuts'; did you mean 'minutes'?"),
        (["--config", "configs/quickstrat.yaml"], "error: can't read configs/quickstrat.yaml"),
        (["--resume", "nowhere"], "error: nowhere is not the folder of a run"),
        (["rules=clasic"], "'classic'"),
    ],
)
def test_the_command_refuses_in_one_line(tiny, arguments, message):
    refused = CliRunner().invoke(command(), arguments)
    assert refused.exit_code == 2
    assert message in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
