"""Better weights for a scripted style, by the cross-entropy method: `python -m train.tune --start steady --minutes 10`.

Each round draws weights around the mean, plays each against all opponents on the same deals (duplicate pairs), and
moves mean and spread towards the best quarter. A round whose mean beats the champion on fresh deals makes it the
champion, which joins the opponents. (Rubinstein and Kroese, "The Cross-Entropy Method", 2004.)
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

POPULATION, ELITE, MOST_OPPONENTS = 32, 8, 3
SMALLEST_SPREAD, SPREAD_PER_WEIGHT, KEPT = 4.0, 0.25, 0.6  # KEPT: of the old spread in each round


def whole(weights: Array) -> Array:
    """The weights as a style has them."""
    return np.rint(weights).astype(np.int64)


class Tuner:
    """The state of a search: mean and spread of the weights, the champion and who it plays."""

    def __init__(self, start: Array, opponents: list[Array], rules: list[Rules], seed: int) -> None:
        self.mean = start.astype(float)
        self.spread = np.maximum(np.abs(self.mean) * SPREAD_PER_WEIGHT, SMALLEST_SPREAD)
        self.champion, self.opponents, self.rules = start, opponents, rules
        self.rng = np.random.default_rng(seed)
        self.pool = ThreadPoolExecutor(os.cpu_count())  # compiled play-outs let go of the interpreter

    def seeds(self, pairs: int) -> Array:
        return self.rng.integers(0, 2**62, pairs)

    def lead(self, weights: Array, seeds: Array, opponents: list[Array]) -> tuple[float, float]:
        """Mean points a deal over all opponents and rules, in spreads of a pair for each rules, and its error."""
        leads = [duel(weights, other, rules, seeds) for rules in self.rules for other in opponents]
        scaled = np.stack([lead / max(lead.std(), 1.0) for lead in leads]).mean(0)
        return float(scaled.mean()), float(scaled.std() / len(seeds) ** 0.5)

    def round(self, pairs: int) -> None:
        """Move mean and spread towards the best of a population."""
        drawn = self.mean + self.spread * self.rng.standard_normal((POPULATION, len(self.mean)))
        seeds = self.seeds(pairs)
        fit = np.array(list(self.pool.map(lambda one: self.lead(whole(one), seeds, self.opponents)[0], drawn)))
        elite = drawn[np.argsort(-fit)[:ELITE]]
        self.mean = elite.mean(0)
        self.spread = np.maximum(KEPT * self.spread + (1 - KEPT) * elite.std(0) * 1.2, SMALLEST_SPREAD)

    def crown(self, pairs: int) -> tuple[float, bool]:
        """The mean's lead over the champion on fresh deals, and whether it took its place."""
        mean = whole(self.mean)
        lead, error = self.lead(mean, self.seeds(pairs), [self.champion])
        if lead <= 2 * error:
            if lead < 0:  # astray: start again from the champion, nearer to it
                self.mean, self.spread = self.champion.astype(float), np.maximum(self.spread * 0.7, SMALLEST_SPREAD)
            return lead, False
        self.champion = mean
        self.opponents = [*self.opponents[-(MOST_OPPONENTS - 1) :], mean]
        return lead, True


def save(weights: Array, title: str, path: Path) -> None:
    """Write a style's file."""
    lines = [f"{name} = {value}" for (name, _), value in zip(WEIGHTS, weights.tolist(), strict=True)]
    path.write_text(f'title = "{title}"\n\n' + "\n".join(lines) + "\n", encoding="utf-8")


@one_line_errors
def main(
    start: Annotated[str, typer.Option(help="the style, or TOML file, to start from")] = "steady",
    against: Annotated[str, typer.Option(help="styles or files, with commas")] = "greedy,steady",
    rules: Annotated[str, typer.Option(help="presets, with commas")] = "classic",
    minutes: Annotated[float, typer.Option(help="how long")] = 10.0,
    pairs: Annotated[int, typer.Option(help="duplicate pairs of a candidate against each opponent")] = 300,
    title: Annotated[str, typer.Option(help="what the style does, in a line")] = "tuned",
    seed: Annotated[int, typer.Option(help="of the search")] = 0,
    out: Annotated[Path, typer.Option(help="where the champion's file is written")] = Path("runs/style.toml"),
) -> None:
    """Tune a style against others, and write the best one found."""
    games = [Rules.load(name) for name in rules.split(",")]
    opponents = [weights_of(name, games[0]) for name in against.split(",")]
    tuner = Tuner(weights_of(start, games[0]), opponents, games, seed)
    console, end, number = Console(), time.monotonic() + 60 * minutes, 0
    out.parent.mkdir(parents=True, exist_ok=True)
    save(tuner.champion, title, out)
    while time.monotonic() < end:
        tuner.round(pairs)
        number += 1
        if number % 5 == 0:
            lead, crowned = tuner.crown(10 * pairs)
            console.print(f"round {number}: {lead:+.3f} spreads over the champion{', which it becomes' * crowned}")
            if crowned:
                save(tuner.champion, title, out)
    console.print(f"{out}: {', '.join(f'{name} {v}' for (name, _), v in zip(WEIGHTS, tuner.champion.tolist()))}")


if __name__ == "__main__":
    typer.run(main)
