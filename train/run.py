"""A run: its folder, its clock, what is written down on the way.

runs/quickstart-20250131-120000/
    config.yaml         every setting
    metrics.jsonl       a line for each update
    checkpoints/000042/ after update 42
    evaluation.json     at the end
"""

from __future__ import annotations

import json
import math
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from filelock import FileLock, Timeout

from agents import make
from agents.neural import Neural
from train.checkpoint import load_resume, prune, save_checkpoint
from train.config import Config, ConfigError, save_config
from train.display import Display
from train.evaluate import Result, compare, join, play_pairs, summarise, write_json
from train.ppo import Learner
from train.seeds import deal_seeds

SPREAD_DEALS = 256


class Run:
    """A run's folder, held against a second writer until the process ends."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(folder / "lock")
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise ConfigError(f"{folder} is being written by another process: stop it first") from None

    @classmethod
    def new(cls, config: Config) -> Run:
        """A fresh folder under `runs/` with the configuration in it."""
        name = f"{config.name}-{time.strftime('%Y%m%d-%H%M%S')}"
        folder = next(
            path for n in range(1, 1000) if not (path := Path("runs") / (name if n == 1 else f"{name}-{n}")).exists()
        )
        run = cls(folder)
        save_config(config, folder / "config.yaml")
        return run

    def forget_after(self, update: int) -> None:
        """Remove metrics of updates that were not saved."""
        file = self.folder / "metrics.jsonl"
        if file.exists():
            lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
            file.write_text("".join(line for line in lines if _update_of(line) <= update), encoding="utf-8")

    def write(self, metrics: dict[str, Any]) -> None:
        """Add a line to the metrics."""
        with (self.folder / "metrics.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(metrics) + "\n")

    def close(self) -> None:
        self._lock.release()


def _update_of(line: str) -> float:
    """The update a line of metrics tells of; infinite for a line that broke off."""
    try:
        return int(json.loads(line)["update"])
    except (ValueError, KeyError, TypeError):
        return math.inf


class Trainer:
    """Updates until the time is up, with measuring and saving between them."""

    def __init__(self, config: Config, run: Run, display: Display, *, resume: bool = False) -> None:
        self.config, self.run, self.display = config, run, display
        self.minutes = 0.0  # trained
        self.points: list[float] | None = None  # against the yardstick: mean, low, high
        self.stopped = False
        if resume:
            self._go_on()
        else:
            self.learner = Learner(config, reward_spread(config))
        self.last_saved = self.last_measured = self.minutes

    def _go_on(self) -> None:
        tensors, state = load_resume(self.run.folder)
        try:
            self.learner = Learner(self.config, state["learner"]["reward_spread"])
            self.learner.restore(tensors, state["learner"])
            self.minutes, self.points = state["minutes"], state["points"]
        except (KeyError, IndexError, TypeError, ValueError, RuntimeError) as error:
            reason = str(error).splitlines()[0]
            raise ConfigError(f"the checkpoint in {self.run.folder} does not fit this run: {reason}") from None
        self.run.forget_after(self.learner.updates)

    @property
    def progress(self) -> float:
        """How much of the run is done, 0 to 1."""
        done = [(self.minutes, self.config.minutes), (self.learner.updates, self.config.updates)]
        return min(1.0, max(so_far / limit for so_far, limit in done if limit))

    def train(self) -> None:
        """Train to the end, or until told to stop; the newest state is saved then."""
        with Interrupt(self._stop):
            while self.progress < 1 and not self.stopped:
                self._step()
            self._save()

    def _stop(self) -> None:
        """Called by a signal, which may come in the middle of a print: so another thread says it, after that print."""
        self.stopped = True
        line = "stopping after this update … (Ctrl-C again: at once, without saving)"
        threading.Thread(target=self.display.tell, args=(line,)).start()

    def _step(self) -> None:
        """One update, and what is due after it."""
        started, before = time.monotonic(), self.learner.decisions
        measured = self.learner.update(self.progress)
        seconds = time.monotonic() - started
        self.minutes += seconds / 60
        if self.config.evaluation.every and self.minutes - self.last_measured >= self.config.evaluation.every:
            self._measure()
        self._report(measured, (self.learner.decisions - before) / seconds)
        if self.minutes - self.last_saved >= self.config.save_every:
            self._save()

    def _report(self, measured: dict[str, float], speed: float) -> None:
        metrics = {
            "update": self.learner.updates, "minutes": self.minutes, "decisions": self.learner.decisions,
            "deals": self.learner.deals, "decisions_per_second": speed, **measured, "points": self.points,
        }  # fmt: skip
        if not math.isfinite(measured["entropy"] + measured["value_loss"]):
            raise ConfigError(f"training broke down at update {self.learner.updates}: try a lower ppo.learning_rate")
        self.run.write(metrics)
        self.display.update(metrics, self.progress)
        for alarm in alarms(measured):
            self.display.tell(f"warning: {alarm}")

    def _measure(self) -> None:
        """Points of the averaged policy over the yardstick on validation deals."""
        started, e = time.monotonic(), self.config.evaluation
        agent = Neural.of(self.learner.average)
        lots = np.array_split(deal_seeds("validation", e.pairs), min(self.config.rollout.workers, e.pairs))

        def play(seeds: Any) -> Any:
            return play_pairs(agent, make(e.against), self.config.rules[0], seeds)

        games = join(list(self.learner.threads.map(play, lots)))
        result = summarise("", e.against, self.config.rules[0], games)
        self.points = [result.points, result.points_low, result.points_high]
        self.minutes += (time.monotonic() - started) / 60
        self.last_measured = self.minutes

    def _save(self) -> None:
        learner = self.learner
        state = {"minutes": self.minutes, "points": self.points, "learner": learner.state()}
        about = {
            "run": self.run.folder.name, "rules": self.config.rules, "update": learner.updates,
            "decisions": learner.decisions, "points": self.points, "against": self.config.evaluation.against,
        }  # fmt: skip
        save_checkpoint(self.run.folder, learner.updates, learner.average, about, learner.tensors(), state)
        prune(self.run.folder, self.config.keep)
        self.last_saved = self.minutes

    def evaluate(self) -> list[Result]:
        """The newest checkpoint against the agents of the configuration, on test deals; written as JSON too."""
        e, spec = self.config.evaluation, self.run.folder.as_posix()
        results = []
        for rules in self.config.rules:
            for other in e.final_against:
                with self.display.counting(f"{spec} against {other}, {rules}", e.final_pairs) as tell:
                    workers = self.config.rollout.workers
                    results.append(compare(spec, other, rules, e.final_pairs, workers=workers, tell=tell))
        write_json(results, self.run.folder / "evaluation.json")
        return results


def alarms(measured: dict[str, float]) -> list[str]:
    """What looks like a training that went astray."""
    found = []
    if measured["entropy"] < 0.02:
        found.append("entropy is nearly 0: the policy explores no more; raise ppo.entropy")
    if measured["truncated"] > 0.05 * max(measured["finished"], 1):
        found.append(f"{measured['truncated']:.0f} of {measured['finished']:.0f} deals ran into the turn cap")
    if measured["meld_share"] < 0.03:
        found.append(f"hardly anybody melds ({measured['meld_share']:.1%} of the decisions)")
    return found


def reward_spread(config: Config) -> float:
    """The standard deviation of a deal's difference in points when `greedy` plays itself: rewards are divided by it."""
    seeds = np.random.default_rng([config.seed, 99]).integers(2**61, size=SPREAD_DEALS)
    greedy = [make("greedy"), make("greedy")]
    points = [play_pairs(*greedy, rules, seeds).points[:, 0] for rules in config.rules]
    return max(float(np.concatenate(points).std()), 1.0)


class Interrupt:
    """While it lasts, the first Ctrl-C or termination calls `stop`, the second one interrupts at once."""

    def __init__(self, stop: Callable[[], None]) -> None:
        self.stop = stop

    def __enter__(self) -> None:
        self.before = {number: signal.signal(number, self._once) for number in (signal.SIGINT, signal.SIGTERM)}

    def _once(self, number: int, frame: FrameType | None) -> None:
        self.__exit__()
        self.stop()

    def __exit__(self, *_: object) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)
