# SPDX-License-Identifier: MIT
"""The processes of a merged profile, as a table and as JSON."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from hasp.profile.model.process_row import ProcessRow
from hasp.profile.model.profile import Profile
from hasp.profile.report.layout import print_table, shortened
from hasp.profile.report.words import count, share, short_time

if TYPE_CHECKING:
    from rich.console import Console

HEADINGS = (
    "process",
    "threads",
    "began",
    "lasted",
    "CPU",
    "waits",
    "sections",
    "worst",
)
NAME = 16  # characters


def print_processes(profile: Profile, top: int | None, out: Console) -> None:
    """Print a row for each process, those with the longest waits first, and totals."""
    if not profile.processes:
        return
    order = sorted(profile.processes, key=lambda one: -one.wait_ns)
    rows = [_cells(one) for one in order[:top]]
    rows.append(
        (
            f"all {len(order)}",
            count(profile.thread_count),
            "",
            short_time(profile.duration_ns),
            short_time(sum(one.cpu_ns for one in order)),
            short_time(sum(one.wait_ns for one in order)),
            share(profile.section_share),
            "",
        )
    )
    out.print()
    print_table(out, HEADINGS, rows, "processes")


def _cells(one: ProcessRow) -> tuple[str, ...]:
    name = PurePath(one.command[0]).name if one.command else "?"
    return (
        f"{shortened(name, NAME)} {one.pid}",
        count(one.threads),
        short_time(one.began_ns),
        short_time(one.duration_ns),
        short_time(one.cpu_ns),
        short_time(one.wait_ns),
        share(one.section_share),
        shortened(one.worst, NAME) or "-",
    )


def process(one: ProcessRow) -> dict[str, Any]:
    """Return the process for `processes` in the JSON report."""
    return {
        "pid": one.pid,
        "command": list(one.command),
        "threads": one.threads,
        "began_ns": one.began_ns,
        "duration_ns": one.duration_ns,
        "cpu_ns": one.cpu_ns,
        "wait_ns": one.wait_ns,
        "section_share": one.section_share,
        "worst": one.worst or None,
    }
