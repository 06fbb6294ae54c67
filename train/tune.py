"""Better weights for a scripted style, one at a time: `python -m train.tune --start steady --minutes 10`.

A weight is moved up or down and the moved style plays the style as it is, on duplicate pairs. If it wins beyond chance,
and again on fresh deals, the move stays, and the next move of that weight is larger; else smaller. Slow climbers that
estimate a slope in all weights at once (cross-entropy, evolution strategies) were tried, and were lost in the noise.
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
from buraco_env import Rules
from buraco_env.kernel.weights import WEIGHTS
from train.command import one_line_errors, prepare_output
from train.config import ConfigError

FIRST_STEP, SMALLEST_STEP = 0.3, 12.0  # of a weight's size; in tenths
BEYOND_CHANCE = 1.5  # standard errors, twice


class Climb:
    """A style's weights, and how far each is moved when it is tried next."""

    def __init__(self, start: Array, rules: list[Rules], pairs: int, seed: int) -> None:
        self.weights, self.rules, self.pairs = start.copy(), rules, pairs
        self.moves = np.maximum(np.abs(start) * FIRST_STEP, SMALLEST_STEP)
        self.rng = np.random.default_rng(seed)
        self.cores = os.cpu_count() or 1
        self.pool = ThreadPoolExecutor(self.cores)  # compiled play-outs let go of the interpreter

    def lead(self, one: Array, other: Array, pairs: int) -> tuple[float, float]:
        """How many points a deal one style is ahead of another on fresh deals, the mean over the rules; its error."""
        lots = np.array_split(self.rng.integers(0, 2**62, pairs), self.cores)
        jobs = [(rules, lot) for rules in self.rules for lot in lots]
        leads = list(self.pool.map(lambda job: duel(one, other, *job), jobs))
        means = [np.concatenate(leads[i : i + self.cores]) for i in range(0, len(leads), self.cores)]
        lead = np.stack(means).mean(0)
        return float(lead.mean()), float(lead.std() / len(lead) ** 0.5)

    def try_weight(self, index: int) -> float:
        """Move a weight if that is better: by how many points a deal, as seen on the second lot of deals; else 0."""
        for sign in self.rng.permutation([1, -1]):
            moved = self.weights.copy()
            moved[index] += round(sign * self.moves[index])
            for pairs in (self.pairs, 2 * self.pairs):
                lead, error = self.lead(moved, self.weights, pairs)
                if lead <= BEYOND_CHANCE * error:
                    break
            else:
                self.weights = moved
                self.moves[index] *= 1.5
                return lead
        self.moves[index] = max(self.moves[index] * 0.7, SMALLEST_STEP / 2)
        return 0.0


def alike(presets: list[str]) -> list[Rules]:
    """The rules of these names, for which a style has one set of weights; else ConfigError."""
    games = [Rules.load(name) for name in presets]
    ways = {name: one.pile_take for name, one in zip(presets, games)}
    if len(set(ways.values())) > 1:
        told = ", ".join(f"{name}: {way}" for name, way in ways.items())
        raise ConfigError(f"a style weighs otherwise where the pile is taken otherwise; tune one by one: {told}")
    return games


@one_line_errors
def main(
    start: Annotated[str, typer.Option(help="the style, or TOML file, to start from")] = "steady",
    rules: Annotated[str, typer.Option(help="presets, with commas, in which the pile is taken alike")] = "classic",
    minutes: Annotated[float, typer.Option(min=0, help="how long")] = 10.0,
    pairs: Annotated[int, typer.Option(min=2, help="duplicate pairs of a trial; twice as many confirm it")] = 2000,
    title: Annotated[str, typer.Option(help="what the style does, in a line")] = "tuned",
    seed: Annotated[int, typer.Option(min=0, help="of the search")] = 0,
    out: Annotated[Path, typer.Option(help="where the weights are written")] = Path("runs/style.toml"),
) -> None:
    """Tune a style, and write its weights after each step that helps."""
    games = alike(rules.split(","))
    prepare_output(out)
    climb = Climb(weights_of(start, games[0]), games, pairs, seed)
    console = Console()

    def save() -> None:
        out.write_text(style_text(start, games, climb.weights, title), encoding="utf-8")

    save()
    end = time.monotonic() + 60 * minutes
    while time.monotonic() < end:
        for index in climb.rng.permutation(len(WEIGHTS)):
            gained = climb.try_weight(int(index))
            if gained:
                console.print(f"{WEIGHTS[index][0]} = {climb.weights[index]}: {gained:+.1f} points a deal")
                save()
            if time.monotonic() > end:
                break
    console.print(f"written: {out}")


if __name__ == "__main__":
    typer.run(main)
