"""Better weights for a scripted style, by evolution strategies: `python -m train.tune --start steady --minutes 10`.

Each step draws directions, plays the weights moved along each and against it on the same deals (duplicate pairs), and
climbs the estimated slope with Adam (Salimans and others, "Evolution strategies as a scalable alternative to
reinforcement learning", 2017). From time to time the weights meet the champion on fresh deals; if they win beyond
chance they become the champion, which is whom they play from then on, beside the one before.
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
from agents.scripted import duel, weights_of
from buraco_env import Rules
from buraco_env.kernel.styles import WEIGHTS
from train.command import one_line_errors

DIRECTIONS = 16  # a step, each both ways
SMALLEST_STEP, STEP_PER_WEIGHT = 5.0, 0.1  # how far a weight is moved to see what it does
RATE, SLOPE_KEPT, SQUARE_KEPT = 0.05, 0.9, 0.98  # of Adam; the rate is in such steps
CROWN_EVERY = 25


def whole(weights: Array) -> Array:
    """The weights as a style has them."""
    return np.rint(weights).astype(np.int64)


class Climb:
    """The weights as they climb, who they play, and the champion so far."""

    def __init__(self, start: Array, opponents: list[Array], rules: list[Rules], seed: int) -> None:
        self.weights = start.astype(float)
        self.unit = np.maximum(np.abs(self.weights) * STEP_PER_WEIGHT, SMALLEST_STEP)
        self.slope, self.square, self.steps = np.zeros(len(start)), np.zeros(len(start)), 0
        self.champion, self.opponents, self.rules = start, opponents, rules
        self.rng = np.random.default_rng(seed)
        self.pool = ThreadPoolExecutor(os.cpu_count())  # compiled play-outs let go of the interpreter

    def leads(self, weights: Array, seeds: Array, opponents: list[Array]) -> Array:
        """Points a deal in each pair, the mean over rules and opponents: [pairs]."""
        found = [duel(whole(weights), other, rules, seeds) for rules in self.rules for other in opponents]
        return np.stack(found).mean(0)

    def step(self, pairs: int, rate: float) -> None:
        """Move the weights up the slope."""
        directions = self.rng.standard_normal((DIRECTIONS, len(self.weights)))
        seeds = self.rng.integers(0, 2**62, pairs)

        def rise(direction: Array) -> float:
            ahead, behind = (self.weights + sign * self.unit * direction for sign in (1, -1))
            return float((self.leads(ahead, seeds, self.opponents) - self.leads(behind, seeds, self.opponents)).mean())

        slope = np.array(list(self.pool.map(rise, directions))) @ directions / DIRECTIONS
        self.steps += 1
        self.slope = SLOPE_KEPT * self.slope + (1 - SLOPE_KEPT) * slope
        self.square = SQUARE_KEPT * self.square + (1 - SQUARE_KEPT) * slope**2
        first, second = 1 - SLOPE_KEPT**self.steps, 1 - SQUARE_KEPT**self.steps
        self.weights += rate * self.unit * (self.slope / first) / (np.sqrt(self.square / second) + 1e-9)

    def crown(self, pairs: int) -> tuple[float, float, bool]:
        """The weights' lead over the champion on fresh deals, its error, and whether they took its place."""
        lots = np.array_split(self.rng.integers(0, 2**62, pairs), os.cpu_count() or 1)
        lead = np.concatenate(list(self.pool.map(lambda lot: self.leads(self.weights, lot, [self.champion]), lots)))
        mean, error = float(lead.mean()), float(lead.std() / len(lead) ** 0.5)
        if mean <= 2 * error:
            return mean, error, False
        self.opponents = [self.champion, whole(self.weights)]
        self.champion = whole(self.weights)
        return mean, error, True


def save(weights: Array, title: str, path: Path) -> None:
    """Write a style's file."""
    lines = [f"{name} = {value}" for (name, _), value in zip(WEIGHTS, weights.tolist(), strict=True)]
    path.write_text(f'title = "{title}"\n\n' + "\n".join(lines) + "\n", encoding="utf-8")


@one_line_errors
def main(
    start: Annotated[str, typer.Option(help="the style, or TOML file, to start from")] = "steady",
    against: Annotated[str, typer.Option(help="styles or files, with commas")] = "steady",
    rules: Annotated[str, typer.Option(help="presets, with commas")] = "classic",
    minutes: Annotated[float, typer.Option(help="how long")] = 10.0,
    pairs: Annotated[int, typer.Option(help="duplicate pairs of each direction")] = 150,
    rate: Annotated[float, typer.Option(help="of the climb at first; it falls to a tenth")] = RATE,
    title: Annotated[str, typer.Option(help="what the style does, in a line")] = "tuned",
    seed: Annotated[int, typer.Option(help="of the search")] = 0,
    out: Annotated[Path, typer.Option(help="where the champion's file is written")] = Path("runs/style.toml"),
) -> None:
    """Tune a style against others, and write the best one found."""
    games = [Rules.load(name) for name in rules.split(",")]
    opponents = [weights_of(name, games[0]) for name in against.split(",")]
    climb = Climb(weights_of(start, games[0]), opponents, games, seed)
    console, begin, span = Console(), time.monotonic(), 60 * minutes
    out.parent.mkdir(parents=True, exist_ok=True)
    save(climb.champion, title, out)
    while (passed := time.monotonic() - begin) < span:
        climb.step(pairs, rate * (1 - 0.9 * passed / span))
        if climb.steps % CROWN_EVERY == 0:
            lead, error, crowned = climb.crown(4000)
            told = ", which they become" if crowned else ""
            console.print(f"step {climb.steps}: {lead:+.1f} ± {2 * error:.1f} points over the champion{told}")
            if crowned:
                save(climb.champion, title, out)
    console.print(f"written: {out}")


if __name__ == "__main__":
    typer.run(main)
