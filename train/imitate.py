"""Weights of a scripted style from what search finds: `python -m train.imitate --start steady --minutes 5`.

In positions of the style's own play every action is played out on the same deals of the hidden cards. The weights are
moved so that the style's values explain the differences of the means: ridge regression on how each value changes with
each weight (Gauss and Newton's step), around the weights there are. That is a step of policy iteration; repeat it.
"""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console

from agents.base import Array
from agents.scripted import duel, style_text, weights_of
from buraco_env import BatchEnv, Rules
from buraco_env.game import View
from buraco_env.kernel.actions import ARGS, K_DISCARD, K_TAKE, KIND
from buraco_env.kernel.weights import NUM_WEIGHTS
from train.command import one_line_errors, prepare_output

DEALS, ASKED = 64, 6  # deals side by side, and how many of them are asked at each step
CHANGE = 16  # of a weight, to see what it does to a value
LARGE = 1500.0  # tenths of a point: larger differences count less


def rows_of(view: View, weights: Array, play_outs: int, seed: int) -> tuple[Array, Array]:
    """Differences between actions that the style compares: how they change with the weights [n, W], and by how much
    the style is wrong about them [n], in tenths of a point."""
    legal = np.array(view.legal_actions(), np.int64)
    kind = ARGS[legal, KIND]
    seeds = np.random.default_rng(seed).integers(0, 2**62, play_outs)
    found = view.compare(legal, seeds, weights).mean(0) * 10
    moved = view.values(np.concatenate([weights[None], weights + CHANGE * np.eye(NUM_WEIGHTS, dtype=np.int64)]))
    values, slopes = moved[0].astype(float), (moved[1:] - moved[0]).T / CHANGE
    discards, others = np.flatnonzero(kind == K_DISCARD), np.flatnonzero((kind >= K_TAKE) & (kind < K_DISCARD))
    pairs = [(a, discards[np.argmax(found[discards])]) for a in discards] if len(discards) else []
    rows = [(slopes[a] - slopes[b], found[a] - found[b] - values[a] + values[b]) for a, b in pairs if a != b]
    rest = np.setdiff1d(np.arange(len(legal)), others)
    if len(rest):
        against = found[rest].max()  # the draw, the best discard, or the end of the turn
        rows += [(slopes[a], found[a] - against - values[a]) for a in others]
    return np.array([row[0] for row in rows]).reshape(-1, NUM_WEIGHTS), np.array([row[1] for row in rows])


def gather(
    weights: Array, rules: Rules, seconds: float, play_outs: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Rows of many positions of the style's own play."""
    batch = BatchEnv(DEALS, rules, seed=int(rng.integers(2**60)))
    found: list[tuple[Array, Array]] = []
    end = time.monotonic() + seconds
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        while time.monotonic() < end:
            actions = batch.views().choose(lambda rules: weights)
            asked = [i for i in rng.choice(DEALS, ASKED, replace=False) if batch.offsets[i + 1] - batch.offsets[i] > 1]
            views = [batch.views(np.array([i]))[0] for i in asked]
            seeds = rng.integers(0, 2**62, len(views))
            found += pool.map(lambda one: rows_of(one[0], weights, play_outs, int(one[1])), zip(views, seeds))
            batch.step(actions)
    return np.concatenate([rows for rows, _ in found]), np.concatenate([wrong for _, wrong in found])


def fit(weights: Array, rows: Array, wrong: Array, ridge: float, step: float) -> Array:
    """The weights moved a step towards those that explain the rows best."""
    trust = 1 / (1 + (wrong / LARGE) ** 2)
    scale = np.maximum(np.abs(weights), 40.0)
    scaled = rows * scale
    square = scaled.T @ (scaled * trust[:, None]) / len(wrong)
    pull = scaled.T @ (wrong * trust) / len(wrong)
    ridges = ridge * np.trace(square) / len(weights) * np.eye(len(weights))
    return np.rint(weights + step * scale * np.linalg.solve(square + ridges, pull)).astype(np.int64)


@one_line_errors
def main(
    start: Annotated[str, typer.Option(help="the style, or TOML file, to start from")] = "steady",
    rules: Annotated[str, typer.Option(help="a preset")] = "classic",
    minutes: Annotated[float, typer.Option(min=0.05, help="of play-outs, for each round")] = 2.0,
    rounds: Annotated[int, typer.Option(min=1, help="steps of policy iteration")] = 3,
    play_outs: Annotated[int, typer.Option(min=1, help="of each action")] = 100,
    title: Annotated[str, typer.Option(help="what the style does, in a line")] = "tuned",
    seed: Annotated[int, typer.Option(min=0, help="of positions and deals")] = 0,
    out: Annotated[Path, typer.Option(help="where the best weights are written")] = Path("runs/style.toml"),
) -> None:
    """Improve a style by what its own play-outs say."""
    game, rng, console = Rules.load(rules), np.random.default_rng(seed), Console()
    weights = weights_of(start, game)
    prepare_output(out)

    def save() -> None:
        out.write_text(style_text(start, [game], weights, title), encoding="utf-8")

    save()
    for number in range(1, rounds + 1):
        rows, wrong = gather(weights, game, 60 * minutes, play_outs, rng)
        seeds = rng.integers(0, 2**62, 2000)
        tried = [fit(weights, rows, wrong, ridge, step) for ridge in (0.003, 0.03, 0.3) for step in (0.3, 0.6, 1.0)]
        leads = [duel(one, weights, game, seeds).mean() for one in tried]
        best = int(np.argmax(leads))
        console.print(f"round {number}: {len(wrong):,} differences; {np.round(leads, 1)} points over the start")
        if leads[best] > 0:
            weights = tried[best]
            save()
    console.print(f"written: {out}")


if __name__ == "__main__":
    typer.run(main)
