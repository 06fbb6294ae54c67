"""Speed and memory, measured: `python -m train.bench`; `docs/speed.md` is its page.

Rates are per CPU second of one pinned core, medians of several repeats with the lowest and the highest. A calibration
loop of plain Python runs before and after each figure: what is judged against the last record is the figure in rounds
of that loop, so that a slower machine, or a slower moment, is not mistaken for slower code.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer
from rich.console import Console
from rich.table import Table

import buraco_env
from agents.base import nearest
from buraco_env import BatchEnv, Game, rule_names
from train.command import one_line_errors
from train.config import ConfigError
from train.peers import CORES, PEERS, Effort, Work, aec_work, missing, pin, rates, stay_on
from train.report import markdown

ROOT = Path(__file__).parent.parent
RECORD, README = ROOT / "docs/bench.json", ROOT / "README.md"
SPEED_START, SPEED_END = "<!-- speed:start -->", "<!-- speed:end -->"
DEALS = 1024
WORSE = 15  # percent against the last record that are marked
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
BATCH, AEC, PEER, PRESET = "batch_decisions_per_s", "aec_decisions_per_s", "peer:", "preset:"
FAMILIES = {
    "family:classic": [name for name in rule_names() if name.startswith("classic")] + ["mini"],
    "family:aberto": ["aberto", "aberto_sujo", "fechado", "fechado_stcl", "fechado_sujo"],
}


@dataclass(frozen=True)
class Goal:
    """What a figure is: its unit, the bar it has to clear, what we aim at, and the same in words."""

    unit: str
    bar: float | None
    aim: float | None
    words: str


GOALS = {
    BATCH: Goal("1/s", 1.3e6, 2.2e6, f"decisions of {DEALS:,} deals at once: random legal actions, mask, observation"),
    "batch_features_decisions_per_s": Goal("1/s", 0.8e6, 1.4e6, "the same, and features of every legal action"),
    "batch_random_decisions_per_s": Goal("1/s", 1.3e6, None, "the same as the first, drawn inside the kernel"),
    "batch_256_decisions_per_s": Goal("1/s", None, None, "the first with 256 deals"),
    "batch_65536_decisions_per_s": Goal("1/s", None, None, "the first with 65,536 deals"),
    "loss_256_to_65536": Goal("%", 40, 20, "what 65,536 deals lose against 256"),
    "two_core_scaling": Goal("x", 1.8, 1.95, "4,096 deals on two threads against one, by the clock on the wall"),
    AEC: Goal("1/s", 40e3, 80e3, "decisions of `env()`: `last`, pick from the mask, `step`"),
    "scripted_deals_per_s": Goal("1/s", 5000, 12000, "deals that a scripted player plays out against itself"),
    "copy_us": Goal("us", 2, 0.6, "a copy of a `Game`"),
    "resample_us": Goal("us", 5, 2, "`View.resample`: a deal that a seat can't tell from its own"),
    "compile_cold_s": Goal("s", 15, 8, "Python's start to the first observation, nothing compiled yet"),
    "start_warm_s": Goal("s", 1.5, 0.7, "Python's start to the first observation"),
    "compile_all_s": Goal("s", 45, None, "Python's start to every compiled function"),
    "bytes_per_deal": Goal("B", 8192, 4096, "a deal of a batch, all its arrays"),
    "bytes_per_deal_packed": Goal("B", 8192, 4096, 'the same with `action_mask="packed"`'),
}
FAMILY_GOALS = {
    "family:classic": Goal("x", 0.6, None, "the slowest preset of the first text (and `mini`) to the fastest"),
    "family:aberto": Goal("x", 0.6, None, "the slowest preset of the second text to the fastest"),
}
ALL_GOALS = GOALS | FAMILY_GOALS

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


@dataclass(frozen=True)
class Figure:
    """One measured number: the median, the lowest and the highest of the repeats; the guard compares `ratio`."""

    name: str
    value: float
    unit: str
    low: float
    high: float
    ratio: float | None = None

    def record(self) -> dict[str, Any]:
        """What other programs read."""
        return {name: value for name, value in asdict(self).items() if name != "ratio"}


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


def comparable(unit: str, value: float, speed: float) -> float:
    """What the guard compares, `speed` being the calibration's: things done or time that passes in a million rounds.

    Of a loss it is what is kept; a ratio and bytes don't depend on the machine's speed.
    """
    if unit == "1/s":
        return value / speed
    if unit in ("us", "s"):
        return value * speed
    return 100 - value if unit == "%" else value


def change(unit: str, ratio: float | None, recorded: float | None) -> tuple[float | None, str]:
    """By how many percent a ratio differs from the recorded one, and a word if it is worse by more than WORSE."""
    if not ratio or not recorded:
        return None, ""
    percent = 100 * (ratio / recorded - 1)
    worse = percent if unit in ("us", "s", "B") else -percent
    return percent, "" if worse <= WORSE else "larger" if unit == "B" else "slower"


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


def machine() -> str:
    """The processor, how many there are, and the versions of what is measured, as far as it is installed."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    processor = names[0] if names else platform.processor() or platform.machine()
    versions = ["Python " + platform.python_version()]
    for name in ("numpy", "numba", "pettingzoo", "rlcard", "open_spiel", "pgx", "jax"):
        with suppress(PackageNotFoundError):
            versions.append(f"{name} {version(name)}")
    return f"{processor}, {os.cpu_count()} cores; {', '.join(versions)}"


def commit() -> str:
    """The commit that is measured, with a `+` if the code was changed since."""

    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True, cwd=ROOT).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no", "--", "buraco_env", "agents", "train")
        return git("rev-parse", "--short", "HEAD") + "+" * bool(changed)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def recorded() -> dict[str, Any]:
    """The last record: machine, commit, date and figures; empty if there is none."""
    found: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    return found


def write_record(figures: list[Figure]) -> None:
    """Write the record that later runs are compared with."""
    date = datetime.now(UTC).date().isoformat()
    found = {"machine": machine(), "commit": commit(), "date": date, "figures": [asdict(one) for one in figures]}
    write_json(RECORD, found)


def write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


def short(x: float | None) -> str:
    """A number with four digits that count: 1,423,000 or 0.6171; nothing for None."""
    return "" if x is None else f"{float(f'{x:.4g}'):,.0f}" if abs(x) >= 1000 else f"{x:.4g}"


def show(figures: list[Figure], record: dict[str, Any], console: Console) -> None:
    """Print the figures, what they should be, and how they compare with the record."""
    last = {one["name"]: one["ratio"] for one in record.get("figures", [])}
    head = ("figure", "median", "lowest", "highest", "unit", "bar", "aim", "ratio", "recorded", "change")
    table = Table(*head, caption="ratio: the figure in rounds of the calibration loop", caption_justify="left")
    for one in figures:
        bar, aim = (ALL_GOALS[one.name].bar, ALL_GOALS[one.name].aim) if one.name in ALL_GOALS else (None, None)
        percent, word = change(one.unit, one.ratio, last.get(one.name))
        measured, wanted = map(short, (one.value, one.low, one.high)), map(short, (bar, aim))
        ratios, differs = map(short, (one.ratio, last.get(one.name))), "" if percent is None else f"{percent:+.0f} %"
        table.add_row(one.name, *measured, one.unit, *wanted, *ratios, f"{differs} {word}")
    console.print(table)


def compared(records: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    """The rows of a table of peers: name, decisions a second, and how many times that a batch and `env()` make."""
    values = {one["name"]: one["value"] for one in records}
    return [
        (name.removeprefix(PEER), short(value), *(f"{values[our] / value:.3g} x" for our in (BATCH, AEC)))
        for name, value in values.items()
        if name.startswith(PEER)
    ]


def show_peers(figures: list[Figure], why_not: dict[str, str], console: Console) -> None:
    """Print the other environments and how many times faster we are."""
    table = Table("peer", "decisions/s", "batch", "env()")
    for row in compared([one.record() for one in figures]):
        table.add_row(*row)
    console.print(table)
    for name, reason in why_not.items():
        console.print(f"{name}: {reason}", markup=False, highlight=False)


def section(record: dict[str, Any]) -> str:
    """What the README says about speed, from the record; nothing if there is none."""
    if not record:
        return ""
    ours = [
        (ALL_GOALS[one["name"]].words, *(short(one[key]) for key in ("value", "low", "high")), one["unit"])
        for one in record["figures"]
        if one["name"] in ALL_GOALS
    ]
    text = "## Speed\n\n" + markdown(("", "median", "lowest", "highest", "unit"), ours)
    others = compared(record["figures"])
    if others:
        text += "\nOther environments, in the same run; their games and the work of a decision differ from ours:\n\n"
        text += markdown(("", "decisions a second", "a batch of ours", "`env()`"), others)
    where = f"{record['machine']}; commit `{record['commit']}`, {record['date']}"
    command = f"python -m train.bench {'--peers ' if others else ''}--record"
    return f"{text}\n{where}: `{command}`. Rates are per CPU second of one core: `docs/speed.md`.\n"


def with_section(readme: str, record: dict[str, Any]) -> str:
    """The README's text with that between its markers."""
    before, start, rest = readme.partition(SPEED_START + "\n")
    _, end, after = rest.partition(SPEED_END)
    if not (start and end):
        raise ConfigError(f"README.md has no lines {SPEED_START} and {SPEED_END} to write the figures between")
    return before + start + section(record) + end + after


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
        README.write_text(with_section(README.read_text(encoding="utf-8"), recorded()), encoding="utf-8")
        return
    pin()
    console, effort, begin = Console(width=None if sys.stdout.isatty() else 150), Effort(seconds, repeats), calibrate()
    with console.status("measuring") as status:
        figures = [] if each else measure(names, effort, status.update)
        if each or not only:
            figures += measure_presets(effort, status.update)
        others, why_not = measure_peers(effort, status.update) if with_peers else ([], {})
    show(figures, recorded(), console)
    if with_peers:
        show_peers(figures + others, why_not, console)
    console.print(f"{machine()}; calibration {begin:.2f} before, {calibrate():.2f} after", highlight=False)
    if json_file:
        write_json(json_file, [one.record() for one in figures + others])
    if record:
        write_record(figures + others)


if __name__ == "__main__":
    typer.run(main)
