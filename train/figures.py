"""Figures of the bench: what each is and should be, how it is recorded, and what the README says about them."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from train.config import ConfigError
from train.report import markdown

ROOT = Path(__file__).parent.parent
RECORD, README = ROOT / "docs/bench.json", ROOT / "README.md"
SPEED_START, SPEED_END = "<!-- speed:start -->", "<!-- speed:end -->"
DEALS = 1024
WORSE = 15  # percent against the last record that are marked
BATCH, AEC, PEER, PRESET = "batch_decisions_per_s", "aec_decisions_per_s", "peer:", "preset:"


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
    "scripted_decision_us": Goal("us", 2, None, "a scripted player's decision, listing and playing actions included"),
    "mixed_agents_add": Goal("%", 20, None, "what all styles that share a batch add to a step, their decisions aside"),
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


def compared(records: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    """The rows of a table of peers: name, decisions a second, and how many times that a batch and `env()` make."""
    values = {one["name"]: one["value"] for one in records}
    return [
        (name.removeprefix(PEER), short(value), *(f"{values[our] / value:.3g} x" for our in (BATCH, AEC)))
        for name, value in values.items()
        if name.startswith(PEER)
    ]


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


def update_readme() -> None:
    """Write the README's section anew from the record."""
    README.write_text(with_section(README.read_text(encoding="utf-8"), recorded()), encoding="utf-8")
