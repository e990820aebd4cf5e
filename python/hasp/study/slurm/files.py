# SPDX-License-Identifier: MIT
"""What the tasks of a study write into the store, each into files of its own.

    STORE/journals/MACHINE-DIGEST.jsonl            runs made without Slurm
    STORE/journals/MACHINE-DIGEST.parts/JOB.jsonl  the runs of one task
    STORE/journals/MACHINE-DIGEST.parts/kind       which nodes are that machine
    STORE/slurm/DIGEST/tasks/JOB.json              which node a task got, how it ended
    STORE/slurm/DIGEST/claims/ARRAY/MACHINE/N      the task that does program N
    STORE/slurm/DIGEST/                            scripts and logs of the jobs

A file has one writer, for ever: a job's id is never used again. Claims and kinds are
taken by creating a file that must not exist, which is atomic on network file systems
too; a claim holds for one array, so a task that died keeps nothing from the next.
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
    """What a task of an array says of itself."""

    job: str  # ARRAY_TASK
    node: str
    selection: str  # of the settings that it was submitted with
    host: dict[str, Any]
    machine: str = ""  # empty when it ended before it knew
    outcome: str = RUNNING
    message: str = ""  # why it was refused
    remedy: str = ""
    left_out: dict[str, str] = field(default_factory=dict)  # program -> why

    @property
    def array(self) -> str:
        """The job that it is a task of."""
        return self.job.split("_")[0]


@dataclass(frozen=True)
class Files:
    """Where everything is."""

    store: Path  # absolute: nodes must see it under the same name
    digest: str

    @property
    def folder(self) -> Path:
        """What submission, logs and tasks leave."""
        return self.store / "slurm" / self.digest

    def make(self) -> None:
        """Make the folders that tasks expect."""
        try:
            (self.folder / "tasks").mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise HaspError(
                f"cannot make {self.folder}: {problem.strerror}",
                "name a --store that you may write",
            ) from None

    def submitted(self, array: str, selection: str) -> None:
        """Note with which settings an array was submitted."""
        (self.folder / f"{array}.selection").write_text(selection, "utf-8")

    def selection_of(self, array: str) -> str | None:
        """The settings that an array was submitted with, if they were noted."""
        try:
            return (self.folder / f"{array}.selection").read_text("utf-8")
        except OSError:
            return None

    def write(self, task: Task) -> None:
        """Say, or say anew, what became of a task."""
        path = self.folder / "tasks" / f"{task.job}.json"
        unfinished = path.with_suffix(".unfinished")
        unfinished.write_text(json.dumps(asdict(task), indent=1) + "\n", "utf-8")
        unfinished.rename(path)

    def tasks(self) -> list[Task]:
        """Every task that ever began, in the order of their jobs."""
        found = []
        # A listing makes network file systems look at what other hosts have written.
        for path in (self.folder / "tasks").glob("*.json"):
            # One that another version of Hasp wrote is no task of ours.
            with contextlib.suppress(OSError, ValueError, TypeError):
                found.append(self.task(path.stem))
        return sorted(found, key=lambda task: [int(n) for n in task.job.split("_")])

    def task(self, job: str) -> Task:
        """What was last written of a task."""
        path = self.folder / "tasks" / f"{job}.json"
        return Task(**json.loads(path.read_text("utf-8")))

    def parts(self, machine: str) -> Path:
        """The folder of a machine's journals, one of each task."""
        return (
            self.store / "journals" / f"{file_name(f'{machine}-{self.digest}')}.parts"
        )

    def agree(self, machine: str, kind: str, job: str) -> str:
        """The kind of nodes that this machine is: ours, if we are the first."""
        folder = self.parts(machine)
        folder.mkdir(parents=True, exist_ok=True)
        mine, agreed = folder / f"{job}.kind", folder / "kind"
        mine.write_text(kind, "utf-8")
        try:
            os.link(mine, agreed)  # whole or not at all, unlike creating and writing
        except FileExistsError:
            return agreed.read_text("utf-8")
        finally:
            mine.unlink()
        return kind

    def claim(self, array: str, machine: str, number: int, job: str) -> bool:
        """Whether this task is the one of its array to do a program on a machine."""
        folder = self.folder / "claims" / array / file_name(machine)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            with (folder / str(number)).open("x", encoding="utf-8") as file:
                file.write(job)
        except FileExistsError:
            return False
        return True

    def log_of(self, job: str) -> tuple[Path, Path]:
        """Where the job array's stderr and stdout of a task are."""
        error, output = (self.folder / f"{job}_0_log.{end}" for end in ("err", "out"))
        return error, output
