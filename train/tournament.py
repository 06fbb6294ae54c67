"""Everybody against everybody, on duplicate deals: `python -m train.tournament --out docs/tournament.md`.

Three tables for each of the rules: points a deal of every agent over every other; what a deal is worth to the team that
starts it when an agent plays in all seats; how two agents do as partners against the yardstick, beside their own pairs.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from agents.base import STYLES
from train.command import one_line_errors
from train.config import ConfigError
from train.endings import play
from train.evaluate import Result, compare

YARDSTICK = "steady"
RULES = ("classic", "fechado", "aberto_sujo", "online")
MATCHES = tuple(f"search:ms={100 if rules == 'classic' else 10} {YARDSTICK} {rules} 200" for rules in RULES)


def markdown(columns: list[str], rows: list[list[str]]) -> str:
    """A table for a page."""
    lines = [columns, ["---" for _ in columns], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def interval(result: Result) -> str:
    """Points a deal with their interval."""
    return f"{result.points:+.0f} [{result.points_low:+.0f}, {result.points_high:+.0f}]"


def cell(result: Result, faults: dict[str, int]) -> str:
    """A result for a table; games lost by a fault are counted by name."""
    for agent, count in zip((result.a, result.b), result.faults):
        if count:
            faults[agent] = faults.get(agent, 0) + count
    return interval(result)


class Tournament:
    """Plays, tells, and keeps the text of the page."""

    def __init__(self, players: list[str], pairs: int, workers: int, console: Console) -> None:
        self.players, self.pairs, self.workers, self.console = players, pairs, workers, console
        self.faults: dict[str, int] = {}
        self.parts: list[str] = []

    def add(self, text: str) -> None:
        """Another part of the page."""
        self.parts.append(text)
        self.console.print(text, markup=False, highlight=False)

    def versus(self, a: str, b: str, rules: str, pairs: int) -> str:
        return cell(compare(a, b, rules, pairs, workers=self.workers), self.faults)

    def round_robin(self, rules: str) -> None:
        """Everybody against everybody, a row each, and the mean of both teams when it plays alone."""
        found = {}
        for a, b in itertools.combinations(self.players, 2):
            result = compare(a, b, rules, self.pairs, workers=self.workers)
            found[a, b] = cell(result, self.faults)
            found[b, a] = f"{-result.points:+.0f} [{-result.points_high:+.0f}, {-result.points_low:+.0f}]"
        rows = [[a, *(found.get((a, b), "") for b in self.players), *self.means(a, rules)] for a in self.players]
        self.add(f"## {rules}\n\n{markdown(['', *self.players, 'starters', 'others'], rows)}")

    def means(self, agent: str, rules: str) -> list[str]:
        """The mean scores of the team that starts and of the other when an agent plays in all seats."""
        try:
            return [f"{mean:.0f}" for mean in play(agent, rules, 1000)["final_scores"].mean(0)]
        except Exception as error:  # any error of any agent; its deals against others are counted above
            return [f"failed: {type(error).__name__}"] * 2

    def partners(self, rules: str) -> None:
        """How two agents do as partners against the yardstick, less the mean of their own pairs."""
        styles = [player for player in self.players if player != "random"]
        own = {a: compare(a, YARDSTICK, rules, self.pairs, workers=self.workers).points for a in styles}
        rows = []
        for a, b in itertools.combinations(styles, 2):
            mixed = compare(f"partners:lower={a},upper={b}", YARDSTICK, rules, self.pairs, workers=self.workers)
            mean = (own[a] + own[b]) / 2
            rows.append([f"{a} and {b}", cell(mixed, self.faults), f"{mean:+.0f}", f"{mixed.points - mean:+.0f}"])
        columns = ["partners", f"over {YARDSTICK}", "mean of their own pairs", "difference"]
        self.add(f"### Partners in {rules}\n\n{markdown(columns, rows)}")

    def match(self, text: str) -> list[str]:
        """A match `A B RULES PAIRS`, as a row."""
        words = text.split()
        if len(words) != 4 or not words[3].isdecimal():
            raise ConfigError(f"match {text!r} is not allowed; allowed: A B RULES PAIRS, as in {MATCHES[0]!r}")
        a, b, rules, pairs = words
        return [a, b, rules, f"{int(pairs):,}", self.versus(a, b, rules, int(pairs))]


@one_line_errors
def main(
    agent: Annotated[list[str] | None, typer.Option(help="who plays; may be repeated")] = None,
    rules: Annotated[list[str] | None, typer.Option(help="presets; may be repeated")] = None,
    pairs: Annotated[int, typer.Option(min=2, help="duplicate pairs of each pairing")] = 4000,
    match: Annotated[list[str] | None, typer.Option(help="one more match, 'A B RULES PAIRS'; may be repeated")] = None,
    workers: Annotated[int, typer.Option(min=1, help="processes that play")] = 2,
    partners: Annotated[bool, typer.Option(help="mix the styles as partners too, in the first of the rules")] = True,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="write the page here, as markdown")] = None,
) -> None:
    """Play a tournament and print its tables."""
    tournament = Tournament(agent or ["random", *STYLES], pairs, workers, Console(width=160))
    head = "`python -m train.tournament`: points a deal of the row over the column, with 95 % intervals"
    tournament.add(
        f"# Tournament\n\n{head}, {pairs:,} duplicate pairs each; then the mean score of the team that starts and of"
        " the other when an agent plays in all seats (1,000 deals).\n"
    )
    for one in rules or RULES:
        tournament.round_robin(one)
    if partners:
        tournament.partners((rules or RULES)[0])
    rows = [tournament.match(text) for text in (match if match is not None else MATCHES)]
    if rows:
        tournament.add(f"## Matches\n\n{markdown(['agent', 'against', 'rules', 'pairs', 'points a deal'], rows)}")
    faults = ", ".join(f"{name}: {count}" for name, count in tournament.faults.items()) or "none"
    tournament.add(f"Deals lost by an error, an illegal action or no answer in time: {faults}.\n")
    if out:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text("\n".join(tournament.parts), encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
