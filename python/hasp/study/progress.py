# SPDX-License-Identifier: MIT
"""Progress on stderr with the time left: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from types import TracebackType
from typing import TYPE_CHECKING

from hasp.durations import format_duration
from hasp.output import console, note
from hasp.study import record
from hasp.study.plan import Cell, Plan
from hasp.study.record import Run

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

# A comparison of more than this is announced: so many runs at the start, so long a time
# after the first run.
CELLS_TO_ANNOUNCE = 12
SECONDS_TO_ANNOUNCE = 300.0
LINE_INTERVAL = 10.0  # seconds between lines when stderr is no terminal


class Progress:
    """Hears of every run; shows where the study is, and says failures at once."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._left = [cell for _, block in plan.blocks() for cell in block]
        self._total = len(self._left)
        self._times: dict[Cell, list[float]] = defaultdict(list)
        self._begun = time.monotonic()
        self._last_line = self._begun
        self._bar: Bar | None = None
        self._estimated = False

    def __enter__(self) -> Progress:
        if len(self._plan.cells) > CELLS_TO_ANNOUNCE:
            note(f"{self._total} runs, warm-up included; --locks and --runs make fewer")
        if sys.stderr.isatty():
            from rich.progress import BarColumn, TextColumn
            from rich.progress import Progress as Bar

            # Drawn only between runs: a thread that redraws would disturb them.
            self._bar = Bar(
                TextColumn("{task.description}"),
                BarColumn(bar_width=20),
                TextColumn("{task.completed}/{task.total}"),
                TextColumn("{task.fields[left]}"),
                console=console(sys.stderr),
                auto_refresh=False,
                transient=True,
            )
            self._bar.start()
            self._bar.add_task("starting", total=self._total, left="")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def starting(self, block: int, cell: Cell) -> None:
        """A run begins."""
        self._begun = time.monotonic()
        where = f"run {block} of {self._plan.runs}" if block > 0 else "warm-up"
        words = f"{where}: {cell.words}"
        done = self._total - len(self._left)
        if self._bar is not None:
            task = self._bar.task_ids[0]
            self._bar.update(
                task, description=words, completed=done, left=self._time_left()
            )
            self._bar.refresh()
        elif self._begun - self._last_line >= LINE_INTERVAL:
            self._last_line = self._begun
            note(f"{words} ({done} of {self._total} done{self._time_left(', ')})")

    def finished(self, run: Run, given_up: bool) -> None:
        """A run has ended."""
        self._times[run.cell].append(time.monotonic() - self._begun)
        if run.cell in self._left:
            self._left.remove(run.cell)
        if run.outcome == record.OK and not self._estimated:
            self._estimated = True
            self._estimate(self._times[run.cell][-1])
        if run.outcome != record.OK:
            end = "; not tried again" if given_up else ""
            self._say(f"{run.cell.words}: {run.outcome}: {run.detail}{end}")
        if given_up:
            self._left = [cell for cell in self._left if cell != run.cell]
            self._total = sum(map(len, self._times.values())) + len(self._left)

    def _estimate(self, seconds: float) -> None:
        """After the first run: how long all will take, if that is worth a warning."""
        if seconds * len(self._left) > SECONDS_TO_ANNOUNCE:
            expected = format_duration(round(seconds * len(self._left)))
            self._say(
                f"the first run took {format_duration(seconds)}: expect {expected}"
            )

    def _say(self, words: str) -> None:
        if self._bar is not None:
            self._bar.console.print(f"hasp: {words}")
        else:
            note(words)

    def _time_left(self, before: str = "") -> str:
        """What the cells took so far, for every run that is still to come."""
        known = [seconds for times in self._times.values() for seconds in times]
        if not known:
            return ""
        usual = sum(known) / len(known)
        left = 0.0
        for cell in self._left:
            times = self._times.get(cell)
            left += sum(times) / len(times) if times else usual
        return f"{before}about {format_duration(max(1.0, left))} left"
