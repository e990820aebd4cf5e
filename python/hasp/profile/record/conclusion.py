# SPDX-License-Identifier: MIT
"""The summary printed when a recorded program has ended."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hasp.base.errors import HaspError
from hasp.base.output import complain, note
from hasp.profile.record import files
from hasp.profile.record.family import Family
from hasp.profile.record.target import Target

if TYPE_CHECKING:
    from hasp.profile.model.profile import Profile

    # Imported here so that the program starts without numpy loaded.
    from hasp.profile.report.conditions import Condition, ProgramCondition

MOST_LISTED = 8  # processes; those with the largest traces
SORTED_BY, ROWS = "share", 10  # the defaults of `hasp report`


@dataclass(frozen=True)
class Wanted:
    """The output at the end, and the conditions that make the run fail."""

    report: bool = False
    why: bool = False
    conditions: tuple[Condition | ProgramCondition, ...] = ()


def tell(target: Target, family: Family, wanted: Wanted, *, hung: bool) -> bool:
    """Print the last lines on stderr; return true if a condition holds."""
    traces = files.of_session(target.trace, target.session)
    left = family.left(target.session)
    if not traces and not left:
        complain(family.why_no_trace(target.trace.parent))
        return False
    profiles = read(traces)
    profiles.sort(key=lambda pair: -_waited(pair[1]))
    if profiles:
        _tell_first(*profiles[0], wanted, hung=hung)
    for trace, profile in profiles[1:]:
        note(f"also recorded: {shown(trace.path)}, {_process(trace, profile)}")
    if len(traces) > len(profiles):
        note(f"and {len(traces) - len(profiles)} smaller traces with that name")
    if left:
        words = "process" if len(left) == 1 else "processes"
        note(
            f"{words} {', '.join(map(str, left))} still run{'s' * (len(left) == 1)}, "
            f"and recording continues; `hasp report {shown(target.trace)}` at any time"
        )
    return _fails([profile for _, profile in profiles], wanted)


def _fails(profiles: Sequence[Profile], wanted: Wanted) -> bool:
    """Print the conditions that hold in any of the processes."""
    if not wanted.conditions:
        return False
    # Imported here so that the program starts without numpy loaded.
    from hasp.profile.report.conditions import failures

    failed = False
    for profile in profiles:
        notes, held = failures(profile, wanted.conditions)
        failed = failed or bool(held)
        for words in (*(notes if len(profiles) == 1 else ()), *held):
            note(words)
    return failed


def read(traces: Sequence[files.Trace]) -> list[tuple[files.Trace, Profile]]:
    """Return the profiles of the largest traces, and write their symbols files.

    Reading all traces would take long if hundreds of processes were recorded.
    """
    # Imported here so that the program starts without numpy loaded.
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
    trace: files.Trace, profile: Profile, wanted: Wanted, *, hung: bool
) -> None:
    # Imported here so that the program starts without numpy loaded.
    from hasp.profile.report.headline import empty_words, is_empty, verdict

    if is_empty(profile):
        note(empty_words(profile))
    elif wanted.report or wanted.why:
        _print_report(profile, wanted)
    elif not hung:  # the hang was explained when it was found
        said = verdict(profile)
        note(said.sentence)
        for line in said.evidence:
            note(f"- {line}")
    # Imported here so that the program starts without numpy loaded.
    from hasp.profile.report.words import share, time

    path = shown(trace.path)
    note(
        f"{path}: {_process(trace, profile)}; recording took "
        f"{time(profile.overhead.spent_ns)} of CPU time "
        f"({share(profile.overhead.share, ' ')}); see `hasp report {path}`"
    )


def _print_report(profile: Profile, wanted: Wanted) -> None:
    # Imported here so that the program starts without numpy loaded.
    from hasp.profile.report.figures import metric
    from hasp.profile.report.text import Choice, print_report, print_verdict

    # Standard output belongs to the program.
    with contextlib.redirect_stdout(sys.stderr):
        choice = Choice(metric(SORTED_BY), ROWS, wanted.why)
        if wanted.report:
            print_report(profile, choice)
        else:
            print_verdict(profile, choice)


def _process(trace: files.Trace, profile: Profile) -> str:
    # Imported here so that the program starts without numpy loaded.
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
    """Return the path as one would type it in the current folder."""
    relative = os.path.relpath(path)
    return shlex.quote(str(path) if relative.startswith("..") else relative)
