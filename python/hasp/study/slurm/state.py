# SPDX-License-Identifier: MIT
"""The state of a campaign on a cluster: its machines, and the runs left on each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hasp.study.batch import journals_of
from hasp.study.campaign import Campaign
from hasp.study.carry_out import Tally, configurations, to_record
from hasp.study.journal import JournalEntry, read
from hasp.study.samples import Store
from hasp.study.slurm.files import Files, Task


@dataclass(frozen=True)
class State:
    """A snapshot of a campaign's part of the store."""

    campaign: Campaign
    tasks: list[Task]
    entries: dict[str, list[JournalEntry]]  # of each machine
    runs: dict[str, int]  # made by each job

    def made_by(self, array: str) -> int:
        """Return the number of runs that the tasks of an array have made."""
        return sum(self.runs.get(t.job, 0) for t in self.tasks if t.array == array)

    def machines(self, selection: str) -> list[str]:
        """Return the machines on which jobs with this selection have run."""
        return sorted(
            {
                task.machine
                for task in self.tasks
                if task.machine and task.selection == selection
            }
        )

    def left_out(self, machine: str) -> dict[str, str]:
        """The programs that no node of the last array could run, with reasons."""
        ours = [task for task in self.tasks if task.machine == machine]
        last = [task for task in ours if task.array == ours[-1].array]
        return {
            name: why
            for name, why in (last[0].left_out if last else {}).items()
            if all(name in task.left_out for task in last)
        }

    def left(self, machine: str) -> dict[str, int]:
        """The smallest number of runs that each unfinished program still needs."""
        progress = Tally(self.entries[machine])
        left_out = self.left_out(machine)
        nodes = self._host(machine)["numa_nodes"]
        found: dict[str, int] = {}
        for one in (*configurations(self.campaign), *to_record(self.campaign)):
            name, fits = one.program.name, one.fits(nodes)
            if fits and name not in left_out and progress.wants_more(one):
                found[name] = found.get(name, 0) + max(1, progress.runs_left(one)[0])
        return found

    def _host(self, machine: str) -> dict[str, Any]:
        return next(task.host for task in self.tasks if task.machine == machine)


def look(campaign: Campaign, store: Store, files: Files) -> State:
    """Return the state, read from the files that the tasks have written so far."""
    tasks = files.tasks()
    entries: dict[str, list[JournalEntry]] = {}
    runs: dict[str, int] = {}
    for machine in sorted({task.machine for task in tasks if task.machine}):
        entries[machine] = []
        for path in journals_of(campaign, store, machine):
            found = read(path)
            entries[machine] += found
            runs[path.stem] = len(found)
    return State(campaign, tasks, entries, runs)
