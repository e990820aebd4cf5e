# SPDX-License-Identifier: MIT
"""Waiting for the jobs of a campaign, with progress on stderr."""

from __future__ import annotations

import time
from collections.abc import Callable

from hasp.base.progress import Display
from hasp.study.journal import JournalEntry
from hasp.study.slurm.queue import SlurmJob, SlurmUnavailable
from hasp.study.slurm.state import State
from hasp.study.watching import trouble

FIRST_PAUSE, LONGEST_PAUSE = 0.3, 15.0  # seconds between queries to Slurm
APPEARING = 10.0  # seconds until submitted jobs are listed
LINE_INTERVAL = 30.0  # seconds between lines if stderr is not a terminal


class ClusterDisplay(Display):
    """Shows the state of the jobs, and each failed run."""

    def __init__(self, state: State) -> None:
        super().__init__(LINE_INTERVAL)
        self._told = failures(state)
        self._line = ""
        self._last_line = -LINE_INTERVAL

    def until_ended(
        self, jobs: Callable[[], list[SlurmJob]], look: Callable[[], State]
    ) -> list[SlurmJob]:
        """Wait until no job is live; returns the jobs in their final states."""
        begun, pause = time.monotonic(), FIRST_PAUSE
        silent = False
        while True:
            try:
                found = jobs()
                silent = False
            except SlurmUnavailable as problem:
                if not silent:  # a restarting controller answers after a while
                    self.say(f"{problem.message}; trying again")
                silent = True
            else:
                self.tell(found, look())
                late = time.monotonic() - begun > APPEARING
                if (found or late) and not any(job.live for job in found):
                    return found
            time.sleep(pause)
            pause = min(pause * 1.2, LONGEST_PAUSE)

    def tell(self, jobs: list[SlurmJob], state: State) -> None:
        """Print failed runs at once, and a line of progress from time to time."""
        for entry in failures(state):
            if entry not in self._told:
                self.say(trouble(state.campaign, entry))
                self._told.append(entry)
        line = words_of(jobs, state)
        if line != self._line and self.is_due:
            self.show_words(line)
            self._line = line


def failures(state: State) -> list[JournalEntry]:
    """Return the runs that failed or were noisy."""
    return [
        entry
        for entries in state.entries.values()
        for entry in entries
        if entry.outcome != "ok"
    ]


def words_of(jobs: list[SlurmJob], state: State) -> str:
    """A line such as `job 12: 1 pending (Resources), 2 running; 340 runs left`."""
    pending = [job for job in jobs if job.pending]
    running = sum(job.live for job in jobs) - len(pending)
    why = sorted({job.reason for job in pending} - {"None", ""})
    reason = f" ({', '.join(why)})" if why else ""
    machines = {task.machine for task in state.tasks if task.machine}
    left = sum(sum(state.left(machine).values()) for machine in machines)
    runs = f"; {left} runs left" if machines else ""
    arrays = ", ".join(sorted({job.array for job in jobs}))
    ended = len(jobs) - running - len(pending)
    return (
        f"job {arrays}: {len(pending)} pending{reason}, {running} running, "
        f"{ended} ended{runs}"
    )
