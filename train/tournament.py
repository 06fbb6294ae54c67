"""Everybody against everybody, on duplicate deals: `python -m train.tournament --out docs/tournament.md`.

Three tables for each of the rules: points a deal of every agent over every other; what a deal is worth to the team that
starts it when an agent plays in all seats; how two agents do as partners against the yardstick, beside their own pairs.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from agents import make
from agents.base import STYLES
from buraco_env import Rules
from train.command import command_line, one_line_errors, prepare_output
from train.config import ConfigError
from train.endings import play
from train.evaluate import FAULT_POINTS, Result, compare
from train.figures import commit, machine
from train.report import markdown

YARDSTICK = "steady"
RULES = ("classic", "fechado", "aberto_sujo", "online")
ALONE = 1000  # deals, at most, that an agent plays in all seats
MATCHES = tuple(f"search:ms={100 if rules == 'classic' else 10} {YARDSTICK} {rules} 200" for rules in RULES)


def interval(result: Result) -> str:
    """Points a deal with their interval."""
    return f"{result.points:+.0f} [{result.points_low:+.0f}, {result.points_high:+.0f}]"


def turned(result: Result) -> Result:
    """The same games, seen from the other side."""
    low, high = -result.points_high, -result.points_low
    return replace(result, a=result.b, b=result.a, points=-result.points, points_low=low, points_high=high)


def cell(result: Result, faults: dict[str, int]) -> str:
    """A result for a table; games lost by a fault are counted by name."""
    for agent, count in zip((result.a, result.b), result.faults):
        if count:
            faults[agent] = faults.get(agent, 0) + count
    return interval(result)


class Tournament:
    """Plays, tells, and keeps the text of the page."""

    def __init__(self, players: list[str], pairs: int, workers: int, out: Path | None) -> None:
        self.players, self.pairs, self.workers, self.out = players, pairs, workers, out
        self.console = Console(width=160)
        self.faults: dict[str, int] = {}
        self.parts: list[str] = []

    def add(self, text: str) -> None:
        """Another part of the page."""
        self.parts.append(text)
        self.console.print(text, markup=False, highlight=False)
        if self.out:
            self.out.write_text("\n".join(self.parts), encoding="utf-8")

    def versus(self, a: str, b: str, rules: str, pairs: int) -> str:
        return cell(compare(a, b, rules, pairs, workers=self.workers), self.faults)

    def round_robin(self, rules: str) -> None:
        """Everybody against everybody, a row each, and the mean of both teams when it plays alone."""
        found = {}
        for a, b in itertools.combinations(self.players, 2):
            result = compare(a, b, rules, self.pairs, workers=self.workers)
            found[a, b] = cell(result, self.faults)
            found[b, a] = interval(turned(result))
        rows = [[a, *(found.get((a, b), "") for b in self.players), *self.means(a, rules)] for a in self.players]
        self.add(f"## {rules}\n\n{markdown(['', *self.players, 'starters', 'others'], rows)}")

    def means(self, agent: str, rules: str) -> list[str]:
        """The mean scores of the team that starts and of the other when an agent plays in all seats."""
        deals = min(ALONE, self.pairs)
        results = play(agent, rules, deals)
        if len(results) < deals:
            self.faults[agent] = self.faults.get(agent, 0) + deals - len(results)
        return [f"{mean:.0f}" for mean in results["final_scores"].mean(0)] if len(results) else ["failed", "failed"]

    def partners(self, rules: str) -> None:
        """How two agents do as partners against the yardstick, less the mean of their own pairs."""
        styles = [player for player in self.players if player != "random"]
        own = {}
        for a in styles:
            result = compare(a, YARDSTICK, rules, self.pairs, workers=self.workers)
            cell(result, self.faults)
            own[a] = result.points
        rows = []
        for a, b in itertools.combinations(styles, 2):
            mixed = compare(f"partners:lower=({a}),upper=({b})", YARDSTICK, rules, self.pairs, workers=self.workers)
            mean = (own[a] + own[b]) / 2
            rows.append([f"{a} and {b}", cell(mixed, self.faults), f"{mean:+.0f}", f"{mixed.points - mean:+.0f}"])
        columns = ["partners", f"over {YARDSTICK}", "mean of their own pairs", "difference"]
        self.add(f"### Partners in {rules}\n\n{markdown(columns, rows)}")

    def match(self, a: str, b: str, rules: str, pairs: str) -> list[str]:
        """A match, as a row."""
        return [a, b, rules, f"{int(pairs):,}", self.versus(a, b, rules, int(pairs))]


def checked(players: Sequence[str], rules: Sequence[str], matches: Sequence[str]) -> list[list[str]]:
    """The words of each match; a player, preset or match that can't be is refused before anything is played."""
    words = [text.split() for text in matches]
    for text, match in zip(matches, words):
        if len(match) != 4 or not match[3].isdecimal() or int(match[3]) < 2:
            raise ConfigError(f"match {text!r} is not allowed; allowed: A B RULES PAIRS, as in {MATCHES[0]!r}")
    for preset in {*rules, *(match[2] for match in words)}:
        Rules.load(preset)
    for player in {*players, *(name for match in words for name in match[:2])}:
        make(player)
    for named in (players, rules):
        twice = [name for name in named if named.count(name) > 1]
        if twice:
            raise ConfigError(f"{twice[0]!r} is named twice")
    return words


def mixed_in(rules: str, partners: bool | None, tables: bool) -> bool:
    """Are styles mixed as partners? If that is not said, with the tables, where there are partners."""
    can_be = Rules.load(rules).num_seats == 4
    if partners and not can_be:
        raise ConfigError(f"--partners needs rules for four; in {rules} nobody has a partner")
    return bool(partners) if partners is not None else tables and can_be


@one_line_errors
def main(
    agent: Annotated[list[str] | None, typer.Option(help="who plays; may be repeated")] = None,
    rules: Annotated[list[str] | None, typer.Option(help="presets; may be repeated")] = None,
    pairs: Annotated[int, typer.Option(min=2, help="duplicate pairs of each pairing")] = 4000,
    match: Annotated[list[str] | None, typer.Option(help="a match 'A B RULES PAIRS'; may be repeated")] = None,
    matches: Annotated[
        bool | None, typer.Option(help="search against the yardstick, by default if no agent, rules or match is named")
    ] = None,
    tables: Annotated[bool, typer.Option(help="everybody against everybody")] = True,
    workers: Annotated[int, typer.Option(min=1, help="processes that play")] = 2,
    partners: Annotated[
        bool | None, typer.Option(help="mix the styles as partners in the first of the rules, by default with tables")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="write the page here, as markdown")] = None,
) -> None:
    """Play a tournament and print its tables."""
    players, presets = agent or ["random", *STYLES], rules or list(RULES)
    plain = not (agent or rules or match)
    todo = checked(players, presets, [*(match or []), *(MATCHES if (plain and matches is None) or matches else [])])
    mixed = mixed_in(presets[0], partners, tables)
    prepare_output(out)
    tournament = Tournament(players, pairs, workers, out)
    tournament.add(f"# Tournament\n\n{introduction(pairs, tables)}.\n")
    for one in presets if tables else []:
        tournament.round_robin(one)
    if mixed:
        tournament.partners(presets[0])
    rows = [tournament.match(*words) for words in todo]
    if rows:
        tournament.add(f"## Matches\n\n{markdown(['agent', 'against', 'rules', 'pairs', 'points a deal'], rows)}")
    faults = ", ".join(f"{name}: {count}" for name, count in tournament.faults.items()) or "none"
    tournament.add(
        f"Deals lost, by {FAULT_POINTS:,} points, for an error, an illegal action or no answer in time: {faults}.\n\n"
        f"Commit `{commit()}`; {machine()}.\n"
    )


def introduction(pairs: int, tables: bool) -> str:
    """The command, and what its tables show."""
    head = f"`{command_line('train.tournament')}`: points a deal of the row over the column, with 95 % intervals"
    if not tables:
        return f"{head}, on duplicate pairs"
    return (
        f"{head}, on {pairs:,} duplicate pairs each; then the mean score of the team that starts and of the other when"
        f" an agent plays in all seats ({min(ALONE, pairs):,} deals)"
    )


if __name__ == "__main__":
    typer.run(main)
