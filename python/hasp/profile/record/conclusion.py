# SPDX-License-Identifier: MIT
"""What is said when a recorded program has ended: what there is, or why nothing is."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hasp.base.errors import HaspError
from hasp.base.output import complain, note
from hasp.profile.record import files
from hasp.profile.record.family import Family
from hasp.profile.record.target import Target

if TYPE_CHECKING:
    from hasp.profile.model.profile import Profile

MOST_LISTED = 8  # processes; the largest traces are looked at
SORTED_BY, ROWS = "share", 10  # as `hasp report` does by itself


def tell(target: Target, family: Family, *, hung: bool, with_report: bool) -> None:
    """The last lines, on stderr."""
    traces = files.of_session(target.trace, target.session)
    left = family.left(target.session)
    if not traces and not left:
        complain(family.why_no_trace(target.trace.parent))
        return
    profiles = read(traces)
    profiles.sort(key=lambda pair: -_waited(pair[1]))
    if profiles:
        _tell_first(*profiles[0], hung=hung, with_report=with_report)
    for trace, profile in profiles[1:]:
        note(f"also recorded: {shown(trace.path)}, {_process(trace, profile)}")
    if len(traces) > len(profiles):
        note(f"and {len(traces) - len(profiles)} smaller traces of that name")
    if left:
        words = "process" if len(left) == 1 else "processes"
        note(
            f"{words} {', '.join(map(str, left))} still run{'s' * (len(left) == 1)}, "
            f"and recording goes on; `hasp report {shown(target.trace)}` at any time"
        )


def read(traces: Sequence[files.Trace]) -> list[tuple[files.Trace, Profile]]:
    """The profiles of the largest traces; what addresses are is written beside each.

    Where hundreds of processes were recorded, reading all would take long.
    """
    from hasp.profile.model.build import load_keeping_symbols

    largest = sorted(traces, key=lambda trace: -_blocks(trace.path))[:MOST_LISTED]
    found = []
    for trace in largest:
        try:
            found.append((trace, load_keeping_symbols(trace.path)))
        except (HaspError, OSError) as problem:
            note(f"{trace.path}: {problem}")
    return found


def _tell_first(
    trace: files.Trace, profile: Profile, *, hung: bool, with_report: bool
) -> None:
    from hasp.profile.report.headline import empty_words, is_empty, verdict

    if is_empty(profile):
        note(empty_words(profile))
    elif with_report:
        _print_report(profile)
    elif not hung:  # how time was spent until then says nothing of the hang
        note(verdict(profile).sentence)
    from hasp.profile.report.words import share, time

    path = shown(trace.path)
    note(
        f"{path}: {_process(trace, profile)}; recording took "
        f"{time(profile.overhead.spent_ns)} of CPU time "
        f"({share(profile.overhead.share, ' ')}); see `hasp report {path}`"
    )


def _print_report(profile: Profile) -> None:
    from hasp.profile.report.figures import metric
    from hasp.profile.report.text import Choice, print_report

    # The standard output is the program's.
    with contextlib.redirect_stdout(sys.stderr):
        print_report(profile, Choice(metric(SORTED_BY), ROWS))


def _process(trace: files.Trace, profile: Profile) -> str:
    from hasp.profile.report.words import plural

    locks = sum(len(site.locks) for site in profile.sites)
    name = Path(profile.command[0]).name if profile.command else "?"
    still = ", still running" if trace.running else ""
    return (
        f"{name} ({trace.pid}), {plural(profile.thread_count, 'thread')}, "
        f"{plural(locks, 'lock')}{still}"
    )


def _waited(profile: Profile) -> int:
    return sum(thread.wait_ns for thread in profile.threads)


def _blocks(path: Path) -> int:
    try:
        return path.stat().st_blocks
    except OSError:
        return 0


def shown(path: Path) -> str:
    """The path as it would be typed here."""
    relative = os.path.relpath(path)
    return shlex.quote(str(path) if relative.startswith("..") else relative)
