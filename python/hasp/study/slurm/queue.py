# SPDX-License-Identifier: MIT
"""Listing and cancelling jobs with Slurm's own commands.

It uses `squeue`, because `sacct` needs an accounting database, which some clusters
lack; `squeue` lists jobs for some minutes after their end (MinJobAge, 300 s by
default).
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
PATIENCE = 60.0  # seconds to wait for the controller


class SlurmUnavailable(HaspError):
    """Slurm did not answer, which may be temporary."""


@dataclass(frozen=True)
class SlurmJob:
    """A task of an array, or a job without an array."""

    id: str  # ARRAY_TASK
    state: str
    node: str
    reason: str

    @property
    def array(self) -> str:
        """The id of its array."""
        return self.id.split("_")[0]

    @property
    def live(self) -> bool:
        """Return true if it is pending or running."""
        return self.state not in ENDED

    @property
    def pending(self) -> bool:
        """Return true if it has not started."""
        return self.state in ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD")


def require() -> None:
    """Raise an error if Slurm's commands are not installed."""
    for command in COMMANDS:
        if shutil.which(command) is None:
            raise HaspError(
                f"`{command}` is not installed: this host is not in a Slurm cluster",
                "log in to the cluster and repeat the command there; without --on "
                "slurm the campaign runs on this host",
            )


def jobs_called(name: str) -> list[SlurmJob]:
    """Our tasks with this name that Slurm still lists, including ended ones."""
    words = ("--noheader", "--array", "--states=all", f"--user={os.getuid()}")
    text = _ask("squeue", *words, f"--name={name}", f"--format={FIELDS}")
    return [
        SlurmJob(*(part.strip() for part in line.split("|", 3)))
        for line in text.splitlines()
        if line.count("|") >= 3
    ]


def cancel(arrays: Iterable[str]) -> None:
    """Cancel jobs: they get SIGTERM, and SIGKILL after the cluster's KillWait."""
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
    """Return the last line that is not empty."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"
