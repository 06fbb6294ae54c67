"""Tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from train.evaluate import Result


def results_table(results: Sequence[Result]) -> Table:
    """Who plays whom, points a deal and win rate with their intervals; what all rows share stands in the title."""
    names = {"agent": [r.a for r in results], "against": [r.b for r in results], "rules": [r.rules for r in results]}
    shared = [name for name, values in names.items() if name != "against" and len(set(values)) == 1]
    title = ", ".join([*(names[name][0] for name in shared), "duplicate deals"])
    table = Table(title=title, title_justify="left", title_style="bold")
    shown = [name for name in names if name not in shared]
    for name in shown:
        table.add_column(name, overflow="fold")
    for name in ("pairs", "points a deal", "95 % interval", "win rate", "95 % interval"):
        table.add_column(name, justify="right", no_wrap=True)
    for row, r in enumerate(results):
        table.add_row(
            *(names[name][row] for name in shown),
            f"{r.pairs:,}",
            f"{r.points:+.1f}",
            f"{r.points_low:+.1f} … {r.points_high:+.1f}",
            f"{r.win_rate:.1%}",
            f"{r.win_low:.1%} … {r.win_high:.1%}",
        )
    return table


def markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table for a page."""
    return "\n".join("| " + " | ".join(line) + " |" for line in (columns, ["---"] * len(columns), *rows)) + "\n"


def notes(results: Sequence[Result]) -> list[str]:
    """What a reader of the table should know: what a pair of games is worth, and who failed in how many games."""
    lines = ["A pair is one deal played twice, the teams' seats exchanged; points are of the agent over its opponent."]
    for r in results:
        if r.spread_of_pair > 0:
            worth = (r.spread_of_game / r.spread_of_pair) ** 2
            lines.append(
                f"Against {r.b} a pair's mean spreads {r.spread_of_pair:.0f} points, a single game's points"
                f" {r.spread_of_game:.0f}: a pair is worth {worth:.1f} single games."
            )
        for agent, count in zip((r.a, r.b), r.faults):
            if count:
                why = "an error, an illegal action or no answer in time"
                lines.append(f"warning: {agent} failed in {count} games ({why}): they are lost")
    return lines


def show(results: Sequence[Result], console: Console | None = None) -> None:
    """Print the table and its notes."""
    console = console or Console()
    console.print(results_table(results))
    for line in notes(results):
        console.print(line, style="yellow" if line.startswith("warning") else "dim", highlight=False)
