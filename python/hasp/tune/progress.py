# SPDX-License-Identifier: MIT
"""Progress of a race on stderr: the run that begins, the leader, and the time left."""

from __future__ import annotations

import math
import time

from hasp.base.progress import Display
from hasp.compare import run_record as record
from hasp.compare.run_record import Run
from hasp.compare.settings import Cell
from hasp.tune.contest import Contest
from hasp.tune.options import Options


class RaceDisplay(Display):
    """Shows the state of a race."""

    def __init__(self, contest: Contest, options: Options, ends: float) -> None:
        """`ends` is the monotonic time at which the budget is spent."""
        super().__init__()
        self._contest = contest
        self._options = options
        self._ends = ends

    def __enter__(self) -> RaceDisplay:
        super().__enter__()
        return self

    def starting(self, number: int, cell: Cell) -> None:
        """Show the run that is about to begin."""
        left = max(0.0, self._ends - time.monotonic())
        runs = self._contest.comparison.runs
        done = len(runs)
        times = [run.wall_s for run in runs if run.wall_s]
        usual = sum(times) / len(times) if times else 1.0
        total = done + math.ceil(left / max(usual, 1e-3))
        if self._options.most_runs is not None:
            total = min(total, self._options.most_runs)
        words = f"round {number}: {cell.words}"
        leader = self._contest.leader
        if leader is not None:
            others = len(self._contest.racing) - 1
            words += f"; best so far {leader.words}, {others} others still race"
        self.show(words, done, max(done, total), left)

    def finished(self, run: Run) -> None:
        """Print the end of a run that failed."""
        if run.outcome == record.OK:
            return
        out = run.cell in self._contest.reasons
        end = "; out of the race" if out else ""
        self.say(f"{run.cell.words}: {run.outcome}: {run.detail}{end}")
