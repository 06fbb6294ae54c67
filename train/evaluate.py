"""How much better one agent is than another: every deal is played twice, with the teams' seats exchanged.

The mean over both games of a pair, in points of a over b, is one sample: the luck of the cards falls on both. An agent
against itself gives exactly 0 in every pair. Letters: P pairs, N = 2P games.
"""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import sqrt
from multiprocessing import get_context
from pathlib import Path
from statistics import NormalDist
from typing import Annotated, TypeVar

import numpy as np
import torch
import typer
from scipy.special import stdtrit  # of Student's t; scipy.stats takes a second to import

from agents import Agent, make
from agents.base import Array, checked_ids, segments, takes_time
from buraco_env import BatchEnv
from train.command import one_line_errors, prepare_output
from train.config import ConfigError
from train.report import show
from train.seeds import deal_seeds

FAULT_POINTS = 1000  # what an agent that raises, takes too long or answers with no legal action loses the deal by
SECONDS_A_DECISION = 10.0  # more is too long
SECONDS_TO_START = 120.0  # an agent's first answer, which may compile, and which doesn't count
LONGEST_BATCH = 12  # a batch may take as long as so many decisions
PATIENCE = 3  # decisions that take too long alone, one after the other: the rest of the batch is not asked
PAIRS_AT_ONCE = 256
PAIRS_WORTH_A_WORKER = 50  # a process takes seconds to start
CONFIDENCE = 0.95

T = TypeVar("T")


@dataclass(frozen=True)
class Games:
    """What was played: points of a over b in both games of each pair, and how many games each lost by a fault."""

    points: Array  # [P, 2] int64: a sits in team 0, then in team 1
    faults: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Result:
    """Agent a against agent b: means with 95 % intervals. Win rates are of single games, a tie is half a win."""

    a: str
    b: str
    rules: str
    pairs: int
    points: float
    points_low: float
    points_high: float
    win_rate: float
    win_low: float
    win_high: float
    spread_of_pair: float  # standard deviation of a pair's mean
    spread_of_game: float  # and of a single game's points
    faults: tuple[int, int]  # games that a and b lost by an error, an illegal action or no answer in time

    def as_json(self) -> dict[str, str | int | float]:
        """The result as its line in a JSON file."""
        names = ("a", "b", "rules", "pairs", "points", "points_low", "points_high", "win_rate", "win_low", "win_high")
        counted = {"faults_a": self.faults[0], "faults_b": self.faults[1]} if any(self.faults) else {}
        return {name: getattr(self, name) for name in names} | counted


def play_pairs(a: Agent, b: Agent, rules: str, seeds: Array, seed: int = 0) -> Games:
    """Play the deals of these seeds [P] twice each: first a is team 0, then b is."""
    P = len(seeds)
    batch = BatchEnv(2 * P, rules=rules)
    batch.deal(np.concatenate([seeds, seeds]))
    team_of_a = np.repeat([0, 1], P)
    points = np.zeros(2 * P, np.int64)  # of a
    playing, faults = np.ones(2 * P, bool), [0, 0]
    for side, agent in enumerate((a, b)):
        if not start(agent, batch, seed):
            faults[side] = 2 * P
    if any(faults):
        lost = FAULT_POINTS * (int(faults[1] > 0) - int(faults[0] > 0))
        return Games(np.full((P, 2), lost), (faults[0], faults[1]))
    while playing.any():
        actions = batch.sample().copy()  # deals that are done go on at random, and don't count
        for side, agent in enumerate((a, b)):
            index = np.flatnonzero(playing & ((batch.seat % 2 == team_of_a) == (side == 0)))
            chosen, faulty = ask(agent, batch, index)
            actions[index[~faulty]] = chosen[~faulty]
            points[index[faulty]] = FAULT_POINTS * (2 * side - 1)
            playing[index[faulty]] = False
            faults[side] += int(faulty.sum())
        batch.step(actions)
        over = playing & (batch.end_reason != 0)
        difference = batch.final_scores[over, 0].astype(np.int64) - batch.final_scores[over, 1]
        points[over] = np.where(team_of_a[over] == 0, difference, -difference)
        playing &= ~over
    return Games(points.reshape(2, P).T, (faults[0], faults[1]))


def start(agent: Agent, batch: BatchEnv, seed: int) -> bool:
    """Reset an agent, and let it answer once so that nothing is compiled on the clock; false if it can't be reset."""
    try:
        in_time(partial(_warm_up, agent, batch, seed), SECONDS_TO_START)
    except (Exception, SystemExit):  # any error of any agent is its fault
        return False
    return True


def _warm_up(agent: Agent, batch: BatchEnv, seed: int) -> None:
    agent.reset(seed)
    if not takes_time(agent):
        with suppress(Exception, SystemExit):  # it will be asked again
            agent.act(batch.views(np.zeros(1, np.int64)))
        agent.reset(seed)


def in_time(work: Callable[[], T], seconds: float) -> T:
    """What the work gives; TimeoutError if it takes more than so many seconds.

    Python code of the main thread is interrupted, where the system has alarms; elsewhere the work is done to its end.
    """
    begin = time.monotonic()
    alarms = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    given = _alarmed(work, seconds) if alarms else work()
    if time.monotonic() - begin > seconds:
        raise _late(seconds)
    return given


def _late(seconds: float) -> TimeoutError:
    return TimeoutError(f"no answer in {seconds:g} s")


def _alarmed(work: Callable[[], T], seconds: float) -> T:
    """What the work gives; an alarm raises TimeoutError in it, and is put off in any case.

    That is why it is no context manager: there an alarm may ring between the body and the code that puts it off.
    """
    running = True

    def ring(*_: object) -> None:
        if running:
            raise _late(seconds)

    timer, handler = signal.getitimer(signal.ITIMER_REAL), signal.getsignal(signal.SIGALRM)
    try:
        try:
            signal.signal(signal.SIGALRM, ring)
            signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)  # again each second: an agent may catch it
            return work()
        finally:
            running = False
    finally:  # of its own, for an alarm that rings just before `running` is false
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, handler)


def ask(agent: Agent, batch: BatchEnv, index: Array, seconds: float = SECONDS_A_DECISION) -> tuple[Array, Array]:
    """What an agent answers in the deals of `index` [m], and in which of them it failed: [m] int64, [m] bool.

    Where the whole batch fails it is asked in lots, and where a lot fails each view alone: only the deals at fault are
    lost, and a slow agent may answer a large batch. After PATIENCE slow answers in a row the rest counts as failed too.
    """
    chosen, faulty = np.full(len(index), -1), np.ones(len(index), bool)
    waiting, slow = [np.arange(len(index))] if len(index) else [], 0
    while waiting and slow < PATIENCE:
        part, begin = waiting.pop(), time.monotonic()
        try:
            chosen[part], faulty[part] = _ask_at_once(agent, batch, index[part], seconds)
            slow = 0
        except (Exception, SystemExit):  # any error of any agent is its fault
            if len(part) > 1:
                size = LONGEST_BATCH if len(part) > LONGEST_BATCH else 1
                waiting += reversed(np.split(part, range(size, len(part), size)))
            else:
                slow = slow + 1 if time.monotonic() - begin > seconds else 0
    return chosen, faulty


def _ask_at_once(agent: Agent, batch: BatchEnv, index: Array, seconds: float) -> tuple[Array, Array]:
    """`ask`, all views in one batch; any error is let through."""
    answer = partial(agent.act, batch.views(index))
    limit = seconds * min(len(index), LONGEST_BATCH)
    chosen = checked_ids(answer() if takes_time(agent) else in_time(answer, limit), len(index))
    at, offsets = segments(batch.offsets, index)
    matches = batch.legal[at] == np.repeat(chosen, np.diff(offsets))
    return chosen.astype(np.int64), ~np.logical_or.reduceat(matches, offsets[:-1])


def summarise(a: str, b: str, rules: str, games: Games) -> Result:
    """Means and intervals: Student's t over pairs, Wilson's over single games."""
    samples, single = games.points.mean(1), games.points.ravel()
    pairs = len(samples)
    spread = float(samples.std(ddof=1))
    half = float(stdtrit(pairs - 1, (1 + CONFIDENCE) / 2)) * spread / sqrt(pairs)
    points = float(samples.mean())
    wins = float((single > 0).mean() + (single == 0).mean() / 2)
    low, high = wilson(wins, len(single))
    return Result(
        a, b, rules, pairs, points, points - half, points + half, wins, low, high,
        spread, float(single.std(ddof=1)), games.faults,
    )  # fmt: skip


def wilson(rate: float, n: int) -> tuple[float, float]:
    """Wilson's score interval for a rate seen in n trials (E. B. Wilson, 1927)."""
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    centre, scale = rate + z * z / (2 * n), 1 + z * z / n
    half = z * sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    return (centre - half) / scale, (centre + half) / scale


def join(parts: Sequence[Games]) -> Games:
    """Several lots of games as one."""
    faults = tuple(sum(part.faults[side] for part in parts) for side in (0, 1))
    return Games(np.concatenate([part.points for part in parts]), (faults[0], faults[1]))


def _play_specs(a: str, b: str, rules: str, seed: int, seeds: Array) -> Games:
    """What a worker does: make the agents, play."""
    torch.set_num_threads(1)  # cores are shared out between workers, not within one
    return play_pairs(make(a), make(b), rules, seeds, seed)


def compare(
    a: str,
    b: str,
    rules: str = "classic",
    pairs: int = 1000,
    *,
    split: str = "test",
    seed: int = 0,
    workers: int = 1,
    tell: Callable[[int], None] = lambda pairs: None,
) -> Result:
    """Agent a against agent b by their specs. Batches and workers make no difference to the result."""
    seeds = deal_seeds(split, pairs)
    workers = min(workers, -(-pairs // PAIRS_WORTH_A_WORKER))
    if workers > 1 and any(takes_time(make(spec)) for spec in (a, b)):
        workers = 1  # a process of its own has no terminal
    size = min(PAIRS_AT_ONCE, -(-pairs // workers))
    lots = [seeds[first : first + size] for first in range(0, pairs, size)]
    work = partial(_play_specs, a, b, rules, seed)
    if workers == 1:
        return summarise(a, b, rules, join(_told(map(work, lots), tell)))
    quiet = (signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the parent, with no traceback from each child
    try:
        with ProcessPoolExecutor(workers, get_context("spawn"), initializer=signal.signal, initargs=quiet) as pool:
            return summarise(a, b, rules, join(_told(pool.map(work, lots), tell)))
    except BrokenProcessPool:
        raise ConfigError(
            f"{a} against {b}: a process that played them died; one of them ends it, or uses up the memory"
        ) from None


def _told(parts: Iterable[Games], tell: Callable[[int], None]) -> list[Games]:
    """The lots as they come, each told of."""
    games = []
    for part in parts:
        games.append(part)
        tell(len(part.points))
    return games


def write_json(results: Sequence[Result], file: Path) -> None:
    """Write results as a JSON list."""
    file.write_text(json.dumps([result.as_json() for result in results], indent=1) + "\n", encoding="utf-8")


@one_line_errors
def main(
    a: Annotated[str, typer.Argument(metavar="A", help="an agent's spec, or the folder of a run")],
    b: Annotated[str, typer.Argument(metavar="B", help="its opponent")],
    rules: Annotated[str, typer.Option(help="a preset's name or the path of a .toml file")] = "classic",
    pairs: Annotated[int, typer.Option(min=2, help="deals, each played twice")] = 1000,
    json_file: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="write the result there too")] = None,
    seed: Annotated[int, typer.Option(help="of the agents' own randomness")] = 0,
    workers: Annotated[int, typer.Option(min=1, help="processes that play")] = 1,
) -> None:
    """Play A against B on duplicate deals and print how many points a deal A is better."""
    prepare_output(json_file)
    results = [compare(a, b, rules, pairs, seed=seed, workers=workers)]
    show(results)
    if json_file:
        write_json(results, json_file)


if __name__ == "__main__":
    typer.run(main)
