# SPDX-License-Identifier: MIT
"""Slurm's own commands: which jobs there are, how they ended, and ending them.

`squeue` and not `sacct`: clusters without an accounting database have no `sacct`, and
`squeue` knows jobs for some minutes after their end (MinJobAge, 300 s by default).
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass

from hasp.base.errors import HaspError

COMMANDS = ("sbatch", "squeue", "scancel", "srun")
ENDED = {
    *("BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL"),
    *("OUT_OF_MEMORY", "PREEMPTED", "REVOKED", "TIMEOUT"),
}
FIELDS = "%i|%T|%N|%r"  # id, state, node, reason
PATIENCE = 60.0  # seconds for an answer of the controller


class SlurmUnavailable(HaspError):
    """Slurm did not answer, which may pass."""


@dataclass(frozen=True)
class SlurmJob:
    """One task of an array, or a job that is none."""

    id: str  # ARRAY_TASK
    state: str
    node: str
    reason: str

    @property
    def array(self) -> str:
        """The job that it is a task of."""
        return self.id.split("_")[0]

    @property
    def live(self) -> bool:
        """Whether it waits or runs."""
        return self.state not in ENDED

    @property
    def pending(self) -> bool:
        """Whether it has not begun."""
        return self.state in ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD")


def require() -> None:
    """Refuse to go on where there is no Slurm."""
    for command in COMMANDS:
        if shutil.which(command) is None:
            raise HaspError(
                f"there is no `{command}` here: this is no machine of a Slurm cluster",
                "log in to the cluster and run the command there; without --on slurm "
                "the plan is carried out on this machine",
            )


def jobs_called(name: str) -> list[SlurmJob]:
    """Our tasks of that name that Slurm still knows, ended ones too."""
    words = ("--noheader", "--array", "--states=all", f"--user={os.getuid()}")
    text = _ask("squeue", *words, f"--name={name}", f"--format={FIELDS}")
    return [
        SlurmJob(*(part.strip() for part in line.split("|", 3)))
        for line in text.splitlines()
        if line.count("|") >= 3
    ]


def cancel(arrays: Iterable[str]) -> None:
    """Ask jobs to end: SIGTERM first, and SIGKILL after the cluster's KillWait."""
    _ask("scancel", *sorted(set(arrays)))


def _ask(*words: str) -> str:
    try:
        answer = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise SlurmUnavailable(
            f"{words[0]}: {problem}", "see whether `sinfo` works"
        ) from None
    if answer.returncode:
        raise SlurmUnavailable(
            f"{words[0]}: {last_line(answer.stderr)}", "see whether `sinfo` works"
        )
    return answer.stdout


def last_line(text: str) -> str:
    """The last line with something in it."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"
