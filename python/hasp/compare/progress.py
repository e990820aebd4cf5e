# SPDX-License-Identifier: MIT
"""Progress of a comparison on stderr, with failures as they happen."""

from __future__ import annotations

import time
from collections import defaultdict

from hasp.base.durations import format_duration
from hasp.base.output import note
from hasp.base.progress import Display
from hasp.compare import run_record as record
from hasp.compare.run_record import Run
from hasp.compare.settings import Cell, Settings

# A comparison of more cells announces its number of runs at the start, and one that is
# expected to take longer announces its duration after the first run.
CELLS_TO_ANNOUNCE = 12
SECONDS_TO_ANNOUNCE = 300.0


class ComparisonDisplay(Display):
    """Shows which run is in progress and how much is left."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._settings = settings
        self._left = [cell for _, block in settings.blocks() for cell in block]
        self._total = len(self._left)
        self._times: dict[Cell, list[float]] = defaultdict(list)
        self._begun = time.monotonic()
        self._estimated = False

    def __enter__(self) -> ComparisonDisplay:
        if len(self._settings.cells) > CELLS_TO_ANNOUNCE:
            note(f"{self._total} runs with warm-up; --locks and --runs reduce them")
        super().__enter__()
        return self

    def starting(self, block: int, cell: Cell) -> None:
        """Show the run that is about to begin."""
        self._begun = time.monotonic()
        where = f"run {block} of {self._settings.runs}" if block > 0 else "warm-up"
        done = self._total - len(self._left)
        words = f"{where}: {cell.words}"
        self.show(words, done, self._total, self._seconds_left())

    def finished(self, run: Run, given_up: bool) -> None:
        """Record the end of a run; print it if it failed."""
        self._times[run.cell].append(time.monotonic() - self._begun)
        if run.cell in self._left:
            self._left.remove(run.cell)
        if run.outcome == record.OK and not self._estimated:
            self._estimated = True
            self._estimate(self._times[run.cell][-1])
        if run.outcome != record.OK:
            end = "; not tried again" if given_up else ""
            self.say(f"{run.cell.words}: {run.outcome}: {run.detail}{end}")
        if given_up:
            self._left = [cell for cell in self._left if cell != run.cell]
            self._total = sum(map(len, self._times.values())) + len(self._left)

    def _estimate(self, seconds: float) -> None:
        """Print the expected duration after the first run, if it is long."""
        if seconds * len(self._left) > SECONDS_TO_ANNOUNCE:
            expected = format_duration(round(seconds * len(self._left)))
            self.say(
                f"the first run took {format_duration(seconds)}: expect {expected}"
            )

    def _seconds_left(self) -> float | None:
        """Return an estimate from the average duration of each cell so far."""
        known = [seconds for times in self._times.values() for seconds in times]
        if not known:
            return None
        usual = sum(known) / len(known)
        left = 0.0
        for cell in self._left:
            times = self._times.get(cell)
            left += sum(times) / len(times) if times else usual
        return left
