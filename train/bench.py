"""Speed and memory, measured: `python -m train.bench`.

Rates are per CPU second of one pinned core, medians of several repeats with the lowest and the highest; a calibration
loop of plain Python runs before each repeat and shows whether the machine changed speed meanwhile.
"""

from __future__ import annotations

import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

import buraco_env
from buraco_env import BatchEnv, Game, rule_names
from train.command import one_line_errors

DEALS = 1024
START = "import time; t = time.perf_counter(); import buraco_env; e = buraco_env.env(); e.reset(seed=1); e.last()"


@dataclass(frozen=True)
class Figure:
    """One measured number: the median, the lowest and the highest of the repeats."""

    name: str
    value: float
    unit: str
    low: float
    high: float


def figure(name: str, unit: str, values: list[float]) -> Figure:
    return Figure(name, statistics.median(values), unit, min(values), max(values))


def calibrate() -> float:
    """Millions of rounds a second of a fixed loop of plain Python."""
    begin, x, table = time.process_time(), 0, {}
    for i in range(300_000):
        x = (x * 31 + i) & 1023
        table[x] = i
    return 0.3 / (time.process_time() - begin)


def rate(work: Callable[[], int], seconds: float, repeats: int) -> list[float]:
    """How many of what `work` counts go into a CPU second, for each repeat."""
    work()
    rates = []
    for _ in range(repeats):
        begin, count = time.process_time(), 0
        while time.process_time() - begin < seconds:
            count += work()
        rates.append(count / (time.process_time() - begin))
    return rates


def batch_work(rules: str | list[str], deals: int = DEALS, features: bool = False) -> Callable[[], int]:
    """Steps of a batch with random legal actions, mask and observation written, from the middle of the deals on."""
    batch = BatchEnv(deals, rules, seed=1)
    if features:
        _ = batch.features
    for _ in range(150):
        batch.step(batch.sample())

    def work() -> int:
        for _ in range(20):
            batch.step(batch.sample())
        return 20 * deals

    return work


def aec_work() -> Callable[[], int]:
    """Whole deals through `env()`: `last`, pick by `flatnonzero` and one random integer, `step`."""
    env, rnd, flat = buraco_env.env(), random.Random(1).random, np.flatnonzero
    env.reset(seed=1)

    def work() -> int:
        steps = 0
        env.reset()
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            legal = flat(observation["action_mask"])  # type: ignore[index]
            env.step(int(legal[int(rnd() * len(legal))]))
            steps += 1
        return steps

    return work


def microseconds(work: Callable[[], object], repeats: int, rounds: int = 20_000) -> list[float]:
    """Microseconds of CPU that a call takes, for each repeat."""
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        for _ in range(rounds):
            work()
        times.append((time.process_time() - begin) / rounds * 1e6)
    return times


def start_seconds(repeats: int, cold: bool) -> list[float]:
    """Seconds from the start of Python to the first observation of `env()`, with an empty cache or a filled one."""
    times = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(repeats + (not cold)):
            cache = os.path.join(folder, str(number) if cold else "warm")
            begin = time.perf_counter()
            subprocess.run([sys.executable, "-c", START], check=True, env={**os.environ, "NUMBA_CACHE_DIR": cache})
            times.append(time.perf_counter() - begin)
    return times if cold else times[1:]


def bytes_per_deal(deals: int = DEALS) -> float:
    """Memory of a batch for each of its deals, all buffers included."""
    batch = BatchEnv(deals, seed=1)
    batch.step(batch.sample())
    return (
        sum(array.nbytes for array in vars(batch).values() if isinstance(array, np.ndarray) and array.base is None)
        / deals
    )


def measure(seconds: float, repeats: int, tell: Callable[[str], None]) -> list[Figure]:
    """The figures of one run."""
    game, position = Game(seed=1), Game(seed=1).view(0)
    figures = []
    jobs: list[tuple[str, str, Callable[[], list[float]]]] = [
        ("batch_decisions_per_s", "1/s", lambda: rate(batch_work("classic"), seconds, repeats)),
        ("batch_features_decisions_per_s", "1/s", lambda: rate(batch_work("classic", features=True), seconds, repeats)),
        ("aec_decisions_per_s", "1/s", lambda: rate(aec_work(), seconds, repeats)),
        ("copy_us", "us", lambda: microseconds(game.copy, repeats)),
        ("resample_us", "us", lambda: microseconds(lambda: position.resample(1), repeats, 2000)),
        ("compile_cold_s", "s", lambda: start_seconds(max(1, repeats // 2), cold=True)),
        ("start_warm_s", "s", lambda: start_seconds(repeats, cold=False)),
        ("bytes_per_deal", "B", lambda: [bytes_per_deal()]),
    ]
    for name, unit, job in jobs:
        tell(name)
        figures.append(figure(name, unit, job()))
    return figures


def presets(seconds: float, repeats: int) -> list[Figure]:
    """Decisions a second of every preset."""
    return [figure(f"preset:{name}", "1/s", rate(batch_work(name), seconds, repeats)) for name in rule_names()]


def machine() -> str:
    """The processor, how many there are, and the versions that matter."""
    cpuinfo = Path("/proc/cpuinfo")
    names = (
        [line.split(":")[1].strip() for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        if cpuinfo.exists()
        else []
    )
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba", "pettingzoo"))
    processor = names[0] if names else platform.processor()
    return f"{processor}, {os.cpu_count()} cores; Python {platform.python_version()}, {versions}"


def show(figures: list[Figure], console: Console) -> None:
    table = Table("figure", "median", "lowest", "highest", "unit")
    for one in figures:
        table.add_row(
            one.name, *(f"{x:,.0f}" if x >= 1000 else f"{x:.3g}" for x in (one.value, one.low, one.high)), one.unit
        )
    console.print(table)


def pin() -> None:
    """Stay on one core, where the system lets us."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


@one_line_errors
def main(
    each: Annotated[bool, typer.Option("--presets", help="measure every preset instead")] = False,
    seconds: Annotated[float, typer.Option(help="CPU seconds of one repeat")] = 1.0,
    repeats: Annotated[int, typer.Option(min=1, help="repeats of each figure")] = 5,
    json_file: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="write the figures here")] = None,
) -> None:
    """Measure speed and memory on this machine."""
    pin()
    console = Console()
    begin = calibrate()
    with console.status("measuring") as status:
        figures = presets(seconds, repeats) if each else measure(seconds, repeats, lambda name: status.update(name))
    show(figures, console)
    console.print(f"{machine()}; calibration {begin:.2f} before, {calibrate():.2f} after")
    if json_file:
        json_file.write_text(json.dumps([asdict(one) for one in figures], indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
