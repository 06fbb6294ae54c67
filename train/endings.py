"""How deals end when an agent plays in all seats, for every preset: `python -m train.endings`.

The starting team is the one of the seat that draws first; canastas, mortos and points are means of a deal.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console

import agents
from buraco_env import BatchEnv, rule_names
from train.command import command_line, one_line_errors, prepare_output
from train.evaluate import ask, start
from train.report import markdown
from train.seeds import deal_seeds

COLUMNS = (
    *("agent", "preset", "went out", "stock", "turn cap", "turns"),
    *("clean", "dirty", "mortos", "starters", "others"),
)


def play(agent: str, preset: str, deals: int) -> np.ndarray:
    """The results of `deals` deals, each played to its end once, less those that a fault ended: RESULT_DTYPE."""
    batch, player = BatchEnv(deals, preset, seed=0), agents.make(agent)
    batch.deal(deal_seeds("validation", deals))
    results, ended, waiting = batch.results.copy(), np.zeros(deals, bool), np.ones(deals, bool)
    waiting &= start(player, batch, 1)
    while waiting.any():
        actions, todo = batch.sample().copy(), np.flatnonzero(waiting)
        chosen, faulty = ask(player, batch, todo)
        actions[todo[~faulty]] = chosen[~faulty]
        waiting[todo[faulty]] = False
        batch.step(actions)
        now = waiting & (batch.end_reason > 0)
        results[now] = batch.results[now]
        ended |= now
        waiting &= ~now
    return results[ended]


def row(agent: str, preset: str, deals: int) -> tuple[str, ...]:
    """A line of the table."""
    results = play(agent, preset, deals)
    if not len(results):
        return (agent, preset, *["failed"] * (len(COLUMNS) - 2))
    shares = (f"{(results['end_reason'] == reason).mean():.1%}" for reason in (1, 2, 3))
    means = (results[name].sum(1).mean() for name in ("clean", "dirty", "mortos"))
    points = (f"{mean:.0f}" for mean in results["final_scores"].mean(0))
    return (agent, preset, *shares, f"{results['turns'].mean():.0f}", *(f"{mean:.2f}" for mean in means), *points)


@one_line_errors
def main(
    deals: Annotated[int, typer.Option(min=1, help="deals of each row")] = 1000,
    agent: Annotated[list[str] | None, typer.Option(help="who plays in all seats; may be repeated")] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="write the table here, as markdown")] = None,
) -> None:
    """How deals end, by preset: why, turns, canastas, mortos, points of the starting team and of the others."""
    players = agent or ["random", "greedy"]
    prepare_output(out)
    rows = [row(player, preset, deals) for player in players for preset in rule_names()]
    text = markdown(COLUMNS, rows)
    Console(width=140).print(text, markup=False, highlight=False)
    if out:
        what = f"means over {deals:,} deals a row, less those that a fault of the agent ended"
        title = f"# How deals end\n\n`{command_line('train.endings')}`: {what}.\n"
        out.write_text(f"{title}\n{text}", encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
