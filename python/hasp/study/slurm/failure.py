# SPDX-License-Identifier: MIT
"""Errors for failed jobs: state, node, and the last lines of the log."""

from __future__ import annotations

import sys
from pathlib import Path

from hasp.base.errors import HaspError
from hasp.study.slurm.files import DONE, INTERRUPTED, REFUSED, RUNNING, Files, Task
from hasp.study.slurm.queue import SlurmJob

# States of jobs that the cluster ended; another array continues their work.
PASSING = {"NODE_FAIL", "PREEMPTED", "TIMEOUT"}
LINES = 5  # lines of a log that are shown
LONGEST = 200  # characters of each line


def went_well(job: SlurmJob, task: Task | None) -> bool:
    """Return true if an ended job did not fail."""
    outcome = task.outcome if task else RUNNING
    if outcome == INTERRUPTED:
        return job.state != "CANCELLED"
    return outcome == DONE or (outcome == RUNNING and job.state in PASSING)


def failure(job: SlurmJob, task: Task | None, files: Files) -> HaspError:
    """Return the error for a job that failed."""
    node = (task.node if task else job.node) or "no node"
    where = f"job {job.id} on {node}"
    if task is not None and task.outcome == REFUSED:
        return HaspError(f"{where}: {task.message}", task.remedy)
    if job.state == "CANCELLED":
        return HaspError(
            f"{where} was cancelled",
            "its runs are kept; the same command submits what is left",
        )
    lines = last_lines(files, job.id)
    if not lines:
        return HaspError(
            f"{where} ended as {job.state} and left no log in {files.folder}",
            "check that the nodes see that folder under the same name; here it is on "
            f"{kind_of_file_system(files.folder)}; a --store must be on a shared one",
        )
    said = "".join(f"\n        {line}" for line in lines)
    return HaspError(
        f"{where} ended as {job.state}; its log ends with:{said}",
        remedy_for("\n".join(lines), files),
    )


def remedy_for(log: str, files: Files) -> str:
    """Return the remedy suggested by the end of a log."""
    if "No module named" in log or (sys.executable in log and "No such file" in log):
        return (
            f"Hasp must be on the nodes under the same path, {sys.prefix}: install it "
            "in a shared folder"
        )
    return f"correct that, and repeat the same command; logs: {files.folder}"


def last_lines(files: Files, job: str) -> list[str]:
    """Return the last lines of a job's stderr or, if that is empty, of its stdout."""
    for path in files.log_of(job):
        try:
            text = path.read_text("utf-8", errors="replace")
        except OSError:
            continue
        lines = [line.rstrip()[:LONGEST] for line in text.splitlines() if line.strip()]
        if lines:
            return lines[-LINES:]
    return []


def kind_of_file_system(folder: Path) -> str:
    """The type and mount point of a folder's file system, such as `nfs4 (/home)`."""
    import psutil

    holders = [
        part
        for part in psutil.disk_partitions(all=True)
        if folder.is_relative_to(part.mountpoint)
    ]
    if not holders:
        return "an unknown file system"
    nearest = max(holders, key=lambda part: len(part.mountpoint))
    return f"{nearest.fstype} ({nearest.mountpoint})"
