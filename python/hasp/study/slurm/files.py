# SPDX-License-Identifier: MIT
"""The files that the tasks of a campaign write into the store.

    STORE/journals/MACHINE-DIGEST.jsonl            runs made without Slurm
    STORE/journals/MACHINE-DIGEST.parts/JOB.jsonl  the runs of one task
    STORE/journals/MACHINE-DIGEST.parts/kind       the kind of nodes of that machine
    STORE/slurm/DIGEST/tasks/JOB.json              the node of a task, and how it ended
    STORE/slurm/DIGEST/claims/ARRAY/MACHINE/N      the task that runs program N
    STORE/slurm/DIGEST/                            scripts and logs of the jobs

Each file has only one writer, because job ids are never reused. Claims and kinds are
made by creating a file that must not exist, which is atomic on network file systems,
too. A claim is valid for one array, so a task that died does not block the next array.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from hasp.base.errors import HaspError
from hasp.study.samples import file_name

RUNNING, DONE, INTERRUPTED, REFUSED = "running", "done", "interrupted", "refused"


@dataclass(frozen=True)
class Task:
    """The state of a task of an array."""

    job: str  # ARRAY_TASK
    node: str
    selection: str  # the `selection` of its SlurmSettings
    host: dict[str, Any]
    machine: str = ""  # empty if it ended before it determined it
    outcome: str = RUNNING
    message: str = ""  # why it was refused
    remedy: str = ""
    left_out: dict[str, str] = field(default_factory=dict)  # program -> reason

    @property
    def array(self) -> str:
        """The id of its array."""
        return self.job.split("_")[0]


@dataclass(frozen=True)
class Files:
    """The paths of the files of a campaign."""

    store: Path  # absolute, identical on all nodes
    digest: str

    @property
    def folder(self) -> Path:
        """The folder for scripts, logs and tasks."""
        return self.store / "slurm" / self.digest

    def make(self) -> None:
        """Create the folders that tasks expect."""
        try:
            (self.folder / "tasks").mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise HaspError(
                f"cannot create {self.folder}: {problem.strerror}",
                "name a --store that you can write to",
            ) from None

    def submitted(self, array: str, selection: str) -> None:
        """Record the selection that an array was submitted with."""
        (self.folder / f"{array}.selection").write_text(selection, "utf-8")

    def selection_of(self, array: str) -> str | None:
        """The selection that an array was submitted with; None if not recorded."""
        try:
            return (self.folder / f"{array}.selection").read_text("utf-8")
        except OSError:
            return None

    def write(self, task: Task) -> None:
        """Write the state of a task, replacing an earlier one."""
        path = self.folder / "tasks" / f"{task.job}.json"
        unfinished = path.with_suffix(".unfinished")
        unfinished.write_text(json.dumps(asdict(task), indent=1) + "\n", "utf-8")
        unfinished.rename(path)

    def tasks(self) -> list[Task]:
        """Return all tasks that have begun, in the order of their jobs."""
        found = []
        # Listing a folder makes network file systems refresh their caches.
        for path in (self.folder / "tasks").glob("*.json"):
            # Tasks written by other versions of Hasp are ignored.
            with contextlib.suppress(OSError, ValueError, TypeError):
                found.append(self.task(path.stem))
        return sorted(found, key=lambda task: [int(n) for n in task.job.split("_")])

    def task(self, job: str) -> Task:
        """Return the last state written for a task."""
        path = self.folder / "tasks" / f"{job}.json"
        return Task(**json.loads(path.read_text("utf-8")))

    def parts(self, machine: str) -> Path:
        """Return the folder of a machine's journals, with one for each task."""
        return (
            self.store / "journals" / f"{file_name(f'{machine}-{self.digest}')}.parts"
        )

    def agree(self, machine: str, kind: str, job: str) -> str:
        """Return the kind of nodes of a machine, which the first task determines."""
        folder = self.parts(machine)
        folder.mkdir(parents=True, exist_ok=True)
        mine, agreed = folder / f"{job}.kind", folder / "kind"
        mine.write_text(kind, "utf-8")
        try:
            os.link(mine, agreed)  # atomic, unlike creating and writing
        except FileExistsError:
            return agreed.read_text("utf-8")
        finally:
            mine.unlink()
        return kind

    def claim(self, array: str, machine: str, number: int, job: str) -> bool:
        """Claim a program on a machine; False if another task of the array has it."""
        folder = self.folder / "claims" / array / file_name(machine)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            with (folder / str(number)).open("x", encoding="utf-8") as file:
                file.write(job)
        except FileExistsError:
            return False
        return True

    def log_of(self, job: str) -> tuple[Path, Path]:
        """Return the paths of a task's stderr and stdout."""
        error, output = (self.folder / f"{job}_0_log.{end}" for end in ("err", "out"))
        return error, output
