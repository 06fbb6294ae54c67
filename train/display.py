"""What a person sees of a training: a live panel, or plain lines where the output is no terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.panel import Panel
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
from rich.progress_bar import ProgressBar
from rich.table import Table

SECONDS_BETWEEN_LINES = 10


class Display(AbstractContextManager["Display"]):
    """Shows the newest metrics of a run."""

    def __init__(self, title: str, against: str, console: Console | None = None) -> None:
        self.title, self.against = title, against
        self.console = console or Console()
        self._live = Live(console=self.console, transient=False, auto_refresh=False) if self._is_live else None
        self._last_line = -float("inf")
        self._told: set[str] = set()

    @property
    def _is_live(self) -> bool:
        return self.console.is_terminal

    def __enter__(self) -> Display:
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._live.stop()

    def update(self, metrics: dict[str, Any], progress: float) -> None:
        """Show these metrics, `progress` of the run (0 to 1) being done."""
        cells = self._cells(metrics, progress)
        if self._live:
            self._live.update(self._panel(cells, progress), refresh=True)
        elif progress >= 1 or time.monotonic() - self._last_line >= SECONDS_BETWEEN_LINES:
            self._last_line = time.monotonic()
            self.tell("  ".join(f"{name} {value}" for name, value in cells.items()), once=False)

    def _cells(self, metrics: dict[str, Any], progress: float) -> dict[str, str]:
        points = metrics["points"]
        left = metrics["minutes"] / progress - metrics["minutes"] if progress else 0
        return {
            "update": f"{metrics['update']}",
            "decisions/s": f"{metrics['decisions_per_second']:,.0f}",
            "deals": f"{metrics['deals']:,}",
            "time left": f"{int(left)}:{int(left * 60) % 60:02d}",
            "entropy": f"{metrics['entropy']:.3f}",
            "deal length": f"{metrics['deal_length']:.0f}",
            f"points against {self.against}": "–"
            if points is None
            else f"{points[0]:+.0f} ({points[1]:+.0f} … {points[2]:+.0f})",
        }

    def _panel(self, cells: dict[str, str], progress: float) -> Panel:
        grid = Table.grid(padding=(0, 3))
        for _ in cells:
            grid.add_column(justify="right")
        grid.add_row(*(f"[dim]{name}" for name in cells))
        grid.add_row(*cells.values())
        outer = Table.grid(padding=(0, 0))
        outer.add_row(grid)
        outer.add_row(ProgressBar(total=1, completed=progress))
        return Panel(outer, title=self.title, title_align="left", expand=False)

    def tell(self, line: str, *, once: bool = True) -> None:
        """Print a line that stays; if `once`, not a second time."""
        if once and line in self._told:
            return
        self._told.add(line)
        self.console.print(
            line, style="yellow" if line.startswith("warning") else None, highlight=False, soft_wrap=True
        )

    @contextmanager
    def counting(self, what: str, total: int) -> Iterator[Callable[[int], None]]:
        """Show how far something is while it lasts; call what comes back with each number done."""
        if not self._is_live:
            self.tell(f"{what}: {total:,} pairs")
            yield lambda done: None
            return
        columns: list[ProgressColumn] = [TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()]
        with Progress(*columns, console=self.console, transient=True) as bar:
            task = bar.add_task(what, total=total)
            yield lambda done: bar.advance(task, done)
