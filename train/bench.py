"""Speed and memory, measured: `python -m train.bench`; `docs/speed.md` is its page.

Rates are per CPU second of one pinned core, medians of several repeats with the lowest and the highest. A calibration
loop of plain Python runs before and after each figure: what is judged against the last record is the figure in rounds
of that loop, so that a slower machine, or a slower moment, is not mistaken for slower code.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

import buraco_env
from agents import Agent, make
from agents.base import STYLES, nearest
from buraco_env import BatchEnv, Game, rule_names
from train import figures
from train.command import one_line_errors, prepare_output
from train.config import ConfigError
from train.figures import (
    AEC,
    ALL_GOALS,
    BATCH,
    DEALS,
    GOALS,
    PEER,
    PRESET,
    ROOT,
    Figure,
    change,
    comparable,
    compared,
    machine,
    short,
    write_json,
)
from train.peers import CORES, PEERS, Effort, Work, aec_work, missing, pin, rates, stay_on

START = "import buraco_env; e = buraco_env.env(); e.reset(seed=1); e.last()"
COMPILE_ALL = """
import numpy, buraco_env
from agents.scripted import play_out, weights_of
env = buraco_env.env(); env.reset(seed=1); env.observe("player_2"); env.state()
game = buraco_env.Game(seed=1); game.scores(); game.melds(0)
weights = weights_of("steady", game.rules)
view = buraco_env.Game.from_position("team 0: 3H 4H 5H").view(0)
view.resample(1); view.compare(view.legal_actions(), numpy.arange(1), weights)
batch = buraco_env.BatchEnv(2, seed=1); batch.features; batch.state; batch.step(batch.sample())
batch.views().choose(lambda rules: weights)
play_out("steady", deals=1)
"""
FAMILIES = {
    "family:classic": [name for name in rule_names() if name.startswith("classic")] + ["mini"],
    "family:aberto": ["aberto", "aberto_sujo", "fechado", "fechado_stcl", "fechado_sujo"],
}

Spread: TypeAlias = tuple[float, float, float]  # median, lowest, highest
Job: TypeAlias = Callable[[Effort], Sequence[Spread]]  # measures one figure or several


def spread(values: Sequence[float]) -> Spread:
    """The median, the lowest and the highest."""
    return statistics.median(values), min(values), max(values)


def quotient(above: Sequence[float], below: Sequence[float]) -> Spread:
    """The ratio of two medians, and the lowest and the highest of the pairs that were measured one after the other."""
    pairs = [a / b for a, b in zip(above, below)]
    return statistics.median(above) / statistics.median(below), min(pairs), max(pairs)


def batch_work(deals: int = DEALS, rules: str = "classic", features: bool = False, **options: Any) -> Work:
    """Steps of a batch with random legal actions, mask and observation written, from the middle of the deals on."""
    batch, steps = BatchEnv(deals, rules, seed=1, **options), max(1, 20 * DEALS // deals)
    if features:
        _ = batch.features
    for _ in range(150):
        batch.step(batch.sample())

    def work() -> int:
        for _ in range(steps):
            batch.step(batch.sample())
        return steps * deals

    return work


def random_work() -> Work:
    """The same steps, the actions drawn where they are played."""
    batch = BatchEnv(DEALS, seed=1)
    batch.play_random(150)

    def work() -> int:
        batch.play_random(20)
        return 20 * DEALS

    return work


def scripted_work() -> Work:
    """Deals played out by a scripted player in all seats."""
    from agents.scripted import play_out

    seed = 0

    def work() -> int:
        nonlocal seed
        seed += 1
        play_out(style="steady", rules="classic", deals=DEALS, seed=seed)
        return DEALS

    return work


def mixing(effort: Effort) -> Sequence[Spread]:
    """What it adds that all scripted styles share a batch, decisions aside, in percent of the step that follows.

    Each style is also asked for the whole batch at the same positions: the mean of those times is the decisions'.
    """
    batch, players = BatchEnv(DEALS, seed=1), [make(style) for style in STYLES]
    shares = [np.arange(first, DEALS, len(players)) for first in range(len(players))]
    actions, adds, order = np.zeros(DEALS, np.int64), [], random.Random(1)

    def together() -> None:
        for player, share in zip(players, shares):
            actions[share] = player.act(batch.views(share))

    def alone(player: Agent) -> None:
        player.act(batch.views())

    asking = [together, *(partial(alone, player) for player in players)]
    for _ in range(effort.repeats + 1):
        spent, stepping, end = [0.0] * len(asking), 0.0, time.process_time() + effort.seconds
        while not stepping or time.process_time() < end:
            for index in order.sample(range(len(asking)), len(asking)):
                spent[index] += seconds_of_cpu(asking[index])
            stepping += seconds_of_cpu(lambda: batch.step(actions))
            shares.append(shares.pop(0))  # every style gets into every style's positions
        adds.append(100 * (spent[0] - statistics.mean(spent[1:])) / stepping)
    return [spread(adds[1:])]


def seconds_of_cpu(work: Callable[[], object]) -> float:
    """How long it works, without what others do meanwhile."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def deciding(effort: Effort) -> Sequence[Spread]:
    """Microseconds of a decision in deals that a scripted player plays out, legal actions and play included."""
    from agents.scripted import play_deals, weights_of
    from buraco_env import Rules

    rules = Rules.load("classic")
    both, times = np.stack([weights_of("steady", rules)] * 2), []
    for number in range(effort.repeats + 1):
        begin = time.process_time()
        decisions = play_deals(both, rules, np.arange(DEALS) + number * DEALS)[1]
        times.append((time.process_time() - begin) / decisions * 1e6)
    return [spread(times[1:])]


def per_second(make: Callable[[], Work]) -> Job:
    """The job that measures the rate of what `make` returns."""
    return lambda effort: [spread(rates([make()], effort)[0])]


def sizes(effort: Effort) -> Sequence[Spread]:
    """The rates of a small and of a large batch, and what the large one loses in percent."""
    small, large = rates([batch_work(256), batch_work(65536)], effort)
    kept, low, high = quotient(large, small)
    return spread(small), spread(large), (100 * (1 - kept), 100 * (1 - high), 100 * (1 - low))


def two_cores(effort: Effort) -> Sequence[Spread]:
    """How many times faster two threads are than one, on all cores and by the clock on the wall."""
    with all_cores():
        one, two = rates([batch_work(4096, threads=n) for n in (1, 2)], effort, time.perf_counter)
    return [quotient(two, one)]


def microseconds(make: Callable[[], Callable[[], object]], rounds: int) -> Job:
    """The job that measures how long a call of what `make` returns takes, in microseconds of CPU."""

    def job(effort: Effort) -> Sequence[Spread]:
        call, times = make(), []
        call()
        for _ in range(effort.repeats):
            begin = time.process_time()
            for _ in range(rounds):
                call()
            times.append((time.process_time() - begin) / rounds * 1e6)
        return [spread(times)]

    return job


def resampling() -> Callable[[], object]:
    """A call of `View.resample`."""
    view = Game(seed=1).view(0)
    return lambda: view.resample(1)


def seconds_of(program: str, cold: bool) -> Job:
    """The job that measures how long a new Python takes for a program, with an empty cache or a filled one."""

    def job(effort: Effort) -> Sequence[Spread]:
        times, repeats = [], effort.repeats + (not cold)
        with tempfile.TemporaryDirectory() as folder:
            for number in range(repeats):
                environment = {**os.environ, "NUMBA_CACHE_DIR": os.path.join(folder, str(number) if cold else "warm")}
                begin = time.perf_counter()
                subprocess.run([sys.executable, "-c", program], check=True, env=environment, cwd=ROOT)
                times.append(time.perf_counter() - begin)
        return [spread(times if cold else times[1:])]

    return job


def bytes_per_deal(**options: Any) -> Job:
    """The job that measures the memory that a batch holds after 150 steps, for each of its deals."""

    def played(deals: int) -> BatchEnv:
        batch = BatchEnv(deals, seed=1, **options)
        for _ in range(150):
            batch.step(batch.sample())
        return batch

    def job(effort: Effort) -> Sequence[Spread]:
        played(1)  # what any first batch loads is not the memory of deals
        tracemalloc.start()
        batch = played(DEALS)
        held = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        return [spread([held / batch.num_deals])]

    return job


JOBS: dict[tuple[str, ...], Job] = {
    (BATCH,): per_second(batch_work),
    ("batch_features_decisions_per_s",): per_second(partial(batch_work, features=True)),
    ("batch_random_decisions_per_s",): per_second(random_work),
    ("batch_256_decisions_per_s", "batch_65536_decisions_per_s", "loss_256_to_65536"): sizes,
    ("two_core_scaling",): two_cores,
    (AEC,): per_second(lambda: aec_work(buraco_env.env())),
    ("scripted_deals_per_s",): per_second(scripted_work),
    ("scripted_decision_us",): deciding,
    ("mixed_agents_add",): mixing,
    ("copy_us",): microseconds(lambda: Game(seed=1).copy, 20_000),
    ("resample_us",): microseconds(resampling, 5000),
    ("compile_cold_s",): seconds_of(START, cold=True),
    ("start_warm_s",): seconds_of(START, cold=False),
    ("compile_all_s",): seconds_of(COMPILE_ALL, cold=True),
    ("bytes_per_deal",): bytes_per_deal(),
    ("bytes_per_deal_packed",): bytes_per_deal(action_mask="packed"),
}


@contextmanager
def all_cores() -> Iterator[None]:
    """Meanwhile this thread, and those it starts, may run on every core that the process was given."""
    stay_on(CORES)
    try:
        yield
    finally:
        pin()


def calibrate() -> float:
    """Millions of rounds a second of a fixed loop of plain Python: the median of five."""
    speeds = []
    for _ in range(5):
        begin, x, table = time.process_time(), 0, {}
        for i in range(200_000):
            x = (x * 31 + i) & 1023
            table[x] = i
        speeds.append(0.2 / (time.process_time() - begin))
    return statistics.median(speeds)


def timed(units: dict[str, str], job: Job, effort: Effort) -> list[Figure]:
    """The figures of a job, by their names in `units`, the machine's speed taken before and after."""
    before = calibrate()
    spreads = job(effort)
    speed = (before + calibrate()) / 2
    return [
        Figure(name, value, unit, low, high, comparable(unit, value, speed))
        for (name, unit), (value, low, high) in zip(units.items(), spreads)
    ]


def measure(names: Collection[str], effort: Effort, tell: Callable[[str], None]) -> list[Figure]:
    """The figures of these names, in the order of GOALS."""
    found: list[Figure] = []
    for group, job in JOBS.items():
        if set(group) & set(names):
            tell(", ".join(group))
            found += timed({name: GOALS[name].unit for name in group}, job, effort)
    return [one for one in found if one.name in names]


def measure_presets(effort: Effort, tell: Callable[[str], None]) -> list[Figure]:
    """Decisions a second of every preset, and of each family how far its slowest is behind its fastest."""
    found: list[Figure] = []
    for name in rule_names():
        tell(name)
        found += timed({f"{PRESET}{name}": "1/s"}, per_second(partial(batch_work, rules=name)), effort)
    for family, members in FAMILIES.items():
        rates = [one.ratio or one.value for one in found if one.name.removeprefix(PRESET) in members]
        if rates:
            slowest = min(rates) / max(rates)
            found.append(Figure(family, slowest, "x", slowest, slowest, slowest))
    return found


def measure_peers(effort: Effort, tell: Callable[[str], None]) -> tuple[list[Figure], dict[str, str]]:
    """Decisions a second of the other environments that are installed; of the rest the reason why not."""
    found: list[Figure] = []
    why_not = {name: missing(peer) for name, peer in PEERS.items()}
    for name in [name for name, reason in why_not.items() if not reason]:
        tell(name)
        try:
            found += timed({PEER + name: "1/s"}, peer_job(name), effort)
        except subprocess.CalledProcessError as error:
            why_not[name] = f"failed: {(error.stderr.strip() or str(error)).splitlines()[-1]}"
    return found, {name: reason for name, reason in why_not.items() if reason}


def peer_job(name: str) -> Job:
    """The job that measures a peer in a Python of its own."""

    def job(effort: Effort) -> Sequence[Spread]:
        options = [f"--seconds={effort.seconds}", f"--repeats={effort.repeats}"]
        command = [sys.executable, "-m", "train.peers", name, *options]
        done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
        return [spread(json.loads(done.stdout.splitlines()[-1]))]

    return job


def show(found: list[Figure], record: dict[str, Any], console: Console) -> None:
    """Print the figures, what they should be, and how they compare with the record."""
    last = {one["name"]: one["ratio"] for one in record.get("figures", [])}
    head = ("figure", "median", "lowest", "highest", "unit", "bar", "aim", "ratio", "recorded", "change")
    table = Table(*head, caption="ratio: the figure in rounds of the calibration loop", caption_justify="left")
    for one in found:
        bar, aim = (ALL_GOALS[one.name].bar, ALL_GOALS[one.name].aim) if one.name in ALL_GOALS else (None, None)
        percent, word = change(one.unit, one.ratio, last.get(one.name))
        measured, wanted = map(short, (one.value, one.low, one.high)), map(short, (bar, aim))
        ratios, differs = map(short, (one.ratio, last.get(one.name))), "" if percent is None else f"{percent:+.0f} %"
        table.add_row(one.name, *measured, one.unit, *wanted, *ratios, f"{differs} {word}")
    console.print(table)


def show_peers(found: list[Figure], why_not: dict[str, str], console: Console) -> None:
    """Print the other environments and how many times faster we are."""
    table = Table("peer", "decisions/s", "batch", "env()")
    for row in compared([one.record() for one in found]):
        table.add_row(*row)
    console.print(table)
    for name, reason in why_not.items():
        console.print(f"{name}: {reason}", markup=False, highlight=False)


def chosen(only: Sequence[str], peers: bool) -> set[str]:
    """The figures to measure: these or all; the peers are compared with two of them."""
    for name in only:
        if name not in GOALS:
            raise ConfigError(f"no figure {name!r}; {nearest(name, GOALS)}")
    return {*(only or GOALS), *((BATCH, AEC) if peers else ())}


@one_line_errors
def main(
    only: Annotated[list[str] | None, typer.Option(metavar="NAME", help="only this figure; may be repeated")] = None,
    each: Annotated[bool, typer.Option("--presets", help="measure only the presets")] = False,
    with_peers: Annotated[bool, typer.Option("--peers", help="measure other environments too, if installed")] = False,
    seconds: Annotated[float, typer.Option(help="seconds of one repeat")] = 1.0,
    repeats: Annotated[int, typer.Option(min=1, help="repeats of each figure")] = 5,
    json_file: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="write the figures here")] = None,
    record: Annotated[bool, typer.Option("--record", help="write docs/bench.json, for later runs to compare")] = False,
    update_readme: Annotated[bool, typer.Option("--update-readme", help="only write README.md's section")] = False,
) -> None:
    """Measure speed and memory on this machine."""
    names = chosen(only or [], with_peers)
    if each and (only or with_peers or record):
        raise ConfigError("--presets measures nothing else: leave out --only, --peers and --record")
    if record and only:
        raise ConfigError("--record needs every figure: leave out --only")
    if update_readme:
        figures.update_readme()
        return
    prepare_output(json_file)
    pin()
    console, effort, begin = Console(width=None if sys.stdout.isatty() else 150), Effort(seconds, repeats), calibrate()
    with console.status("measuring") as status:
        found = [] if each else measure(names, effort, status.update)
        if each or not only:
            found += measure_presets(effort, status.update)
        others, why_not = measure_peers(effort, status.update) if with_peers else ([], {})
    show(found, figures.recorded(), console)
    if with_peers:
        show_peers(found + others, why_not, console)
    console.print(f"{machine()}; calibration {begin:.2f} before, {calibrate():.2f} after", highlight=False)
    if json_file:
        write_json(json_file, [one.record() for one in found + others])
    if record:
        figures.write_record(found + others)


if __name__ == "__main__":
    typer.run(main)
