"""Where a decision's time goes: `python -m train.where`.

Differences of whole steps, so that nothing is measured that does not happen: with and without masks, observations and
features, and looking without playing. How often the guard has to look ahead is counted by running the same source as
plain Python.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from buraco_env import BatchEnv
from buraco_env.kernel import batch as kernel
from train.command import one_line_errors
from train.peers import pin

DEALS, OPENING_STEPS, TURNS = 1024, 150, 60
COUNT = """
import collections, numpy as np
from buraco_env import BatchEnv
from buraco_env.kernel import guard, legal
counts = collections.Counter()
def counted(module, name):
    inner = getattr(module, name)
    def outer(*arguments):
        counts[name] += 1
        return inner(*arguments)
    for place in (guard, legal):
        if hasattr(place, name):
            setattr(place, name, outer)
for name in ("top_at_once", "_guard_top", "_guard_few_cards", "_finishes_after", "can_finish"):
    counted(guard, name)
batch = BatchEnv(16, "classic", seed=3, observation=False, action_mask=False)
for _ in range(60):
    batch.step(batch.sample())
counts.clear()
for _ in range(120):
    batch.step(batch.sample())
decisions = 16 * 120
for name, count in counts.items():
    print(name, count / decisions)
"""
WORDS = {
    "top_at_once": "asks whether the pile's top card can be melded at once",
    "_guard_top": "guards while the top card must be used",
    "_guard_few_cards": "guards with few cards in hand",
    "_finishes_after": "a move is played on a scratch record to look ahead",
    "can_finish": "positions looked at in looking ahead",
}


def batch(**options: bool) -> BatchEnv:
    """A batch in the middle of its deals."""
    made = BatchEnv(DEALS, "classic", seed=1, **options)
    made.play_random(OPENING_STEPS)
    return made


def nanoseconds(works: list[Callable[[], object]]) -> list[float]:
    """What each work takes for a deal, medians; they take turns."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(TURNS):
        for work, found in zip(works, times):
            begin = time.perf_counter_ns()
            for _ in range(4):
                work()
            found.append((time.perf_counter_ns() - begin) / 4 / DEALS)
    return [statistics.median(found) for found in times]


def parts() -> list[tuple[str, float]]:
    """The parts of a decision in nanoseconds."""
    bare, masked = batch(observation=False, action_mask=False), batch(observation=False)
    seen, full, featured = batch(action_mask=False), batch(), batch()
    _ = featured.features
    actions = full.sample().copy()
    look, draw, check, step, mask, observe, whole, features = nanoseconds(
        [
            bare._look,
            full.sample,
            lambda: kernel.first_illegal(actions, full.offsets, full._legal),
            *(lambda one=one: one.step(one.sample()) for one in (bare, masked, seen, full, featured)),
        ]
    )
    return [
        ("legality: the list of legal actions", look),
        ("a random action drawn, and checked", draw + check),
        ("play, reckoning and the next deal", step - look - draw - check),
        ("the mask", mask - step),
        ("the observation", observe - step),
        ("both together, beside that (they share the caches)", whole - mask - observe + step),
        ("a step with mask and observation", whole),
        ("the list's features", features - whole),
    ]


def searches() -> dict[str, float]:
    """How often a decision comes to each part of the guard, counted in plain Python."""
    slowly = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    told = subprocess.run([sys.executable, "-c", COUNT], env=slowly, capture_output=True, text=True, check=True)
    return {name: float(share) for name, share in (line.split() for line in told.stdout.splitlines())}


@one_line_errors
def main(count: Annotated[bool, typer.Option(help="count the guard's looking ahead too (a minute)")] = True) -> None:
    """Print where a decision's time goes, and how often it takes looking ahead to know what is legal."""
    pin()
    table = Table("part of a decision", "ns", title="classic, 1,024 deals, random play", title_justify="left")
    for words, value in parts():
        table.add_row(words, f"{value:,.0f}")
    console = Console()
    console.print(table)
    if count:
        for name, share in searches().items():
            console.print(f"{share:.3f} times a decision {WORDS[name]}", highlight=False)


if __name__ == "__main__":
    typer.run(main)
