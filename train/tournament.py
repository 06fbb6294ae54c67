"""Everybody against everybody, on duplicate deals: `python -m train.tournament --out docs/tournament.md`.

For each of the rules a table: points a deal of every agent over every other, and what a deal is worth to the team that
starts it when an agent plays in all seats. For the first of them another: how two agents do as partners against the
yardstick, beside their own pairs. Then matches.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
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
LOST = f"Such a deal is lost by {FAULT_POINTS:,} points; where an agent plays in all seats it is left out."
MATCHES = tuple(f"search:ms={100 if rules == 'classic' else 10} {YARDSTICK} {rules} 200" for rules in RULES)


def interval(points: float, low: float, high: float) -> str:
    """Points a deal with their interval."""
    return f"{points:+.0f} [{low:+.0f}, {high:+.0f}]"


def cell(result: Result) -> str:
    """A result for a table."""
    return interval(result.points, result.points_low, result.points_high)


def turned(result: Result) -> str:
    """The same for the other agent's row."""
    return interval(-result.points, -result.points_high, -result.points_low)


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

    def versus(self, a: str, b: str, rules: str, pairs: int) -> Result:
        """The result of a pairing; deals that are lost by a fault are counted by name."""
        result = compare(a, b, rules, pairs, workers=self.workers)
        for agent, count in zip((a, b), result.faults):
            self.count(agent, count)
        return result

    def count(self, agent: str, faults: int) -> None:
        if faults:
            self.faults[agent] = self.faults.get(agent, 0) + faults

    def round_robin(self, rules: str) -> None:
        """Everybody against everybody, a row each, and the mean of both teams when it plays alone."""
        found = {}
        for a, b in itertools.combinations(self.players, 2):
            result = self.versus(a, b, rules, self.pairs)
            found[a, b], found[b, a] = cell(result), turned(result)
        rows = [[a, *(found.get((a, b), "") for b in self.players), *self.means(a, rules)] for a in self.players]
        self.add(f"## {rules}\n\n{markdown(['', *self.players, 'starters', 'others'], rows)}")

    def means(self, agent: str, rules: str) -> list[str]:
        """The mean scores of the team that starts and of the other when an agent plays in all seats."""
        deals = min(ALONE, self.pairs)
        results = play(agent, rules, deals)
        self.count(agent, deals - len(results))
        return [f"{mean:.0f}" for mean in results["final_scores"].mean(0)] if len(results) else ["failed", "failed"]

    def partners(self, rules: str) -> None:
        """How two agents do as partners against the yardstick, less the mean of their own pairs."""
        styles = [player for player in self.players if player != "random"]
        own = {a: self.versus(a, YARDSTICK, rules, self.pairs).points for a in styles}
        rows = []
        for a, b in itertools.combinations(styles, 2):
            mixed = self.versus(f"partners:lower=({a}),upper=({b})", YARDSTICK, rules, self.pairs)
            mean = (own[a] + own[b]) / 2
            rows.append([f"{a} and {b}", cell(mixed), f"{mean:+.0f}", f"{mixed.points - mean:+.0f}"])
        columns = ["partners", f"over {YARDSTICK}", "mean of their own pairs", "difference"]
        self.add(f"### Partners in {rules}\n\n{markdown(columns, rows)}")

    def match(self, a: str, b: str, rules: str, pairs: str) -> list[str]:
        """A match, as a row."""
        return [a, b, rules, f"{int(pairs):,}", cell(self.versus(a, b, rules, int(pairs)))]


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


def mixed_in(rules: str, players: Sequence[str], partners: bool | None, tables: bool) -> bool:
    """Are agents mixed as partners? If that is not said, with the tables, where there are partners to mix."""
    can_be = Rules.load(rules).num_seats == 4 and len([player for player in players if player != "random"]) > 1
    if partners and not can_be:
        raise ConfigError("--partners needs rules for four, and two agents or more beside random")
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
    mixed = mixed_in(presets[0], players, partners, tables)
    prepare_output(out)
    where = f"Commit `{commit()}`; {machine()}."
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
    tournament.add(f"Deals with an error, an illegal action or no answer in time: {faults}. {LOST}\n\n{where}\n")


def introduction(pairs: int, tables: bool) -> str:
    """The command, and what its tables show."""
    head = f"`{command_line('train.tournament')}`: points a deal with 95 % intervals, on duplicate pairs"
    if not tables:
        return head
    return (
        f"{head}; in the tables of the row over the column, {pairs:,} pairs each, then the mean score of the team that"
        f" starts and of the other when an agent plays in all seats ({min(ALONE, pairs):,} deals)"
    )


if __name__ == "__main__":
    typer.run(main)
