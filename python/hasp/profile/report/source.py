# SPDX-License-Identifier: MIT
"""Find the trace of a report, and load its profile."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from hasp.base.errors import HaspError
from hasp.profile.model.profile import Profile

DEFAULT = "hasp.trace"
# Options with an optional FILE; argparse would take a following TRACE as that FILE.
GREEDY = ("json", "csv", "markdown", "html", "speedscope", "chrome_trace", "pprof")


def trace_named(arguments: argparse.Namespace) -> Path:
    """Return the TRACE of a command line, even after an option with an optional FILE.

    In `hasp report --json hasp.trace` argparse takes the trace as FILE. If no TRACE is
    given, a FILE that exists is the trace, so that nothing overwrites it.
    """
    if arguments.trace is not None:
        return Path(arguments.trace)
    folded = arguments.folded
    if folded and len(folded) > 1 and (len(folded) > 2 or Path(folded[-1]).exists()):
        return Path(folded.pop())
    behind = trace_behind(arguments, GREEDY)
    if behind is not None:
        return behind
    return Path(DEFAULT)


def trace_behind(arguments: argparse.Namespace, names: Sequence[str]) -> Path | None:
    """Return an existing file given as an option's optional FILE: it is the TRACE."""
    for name in names:
        value = getattr(arguments, name)
        if value not in (None, "-") and Path(value).exists():
            setattr(arguments, name, "-")
            return Path(value)
    return None


def open_profile(trace: Path, process: str | None = None) -> Profile:
    """Return the profile of a trace, or of another process of its run."""
    check_exists(trace)
    if process is None:
        return load(trace)
    return _of_process(trace, process)


def load(trace: Path) -> Profile:
    """Load a profile; the reader is imported on first use."""
    from hasp.profile.model import build

    return build.load(trace)


def check_exists(trace: Path) -> None:
    """Raise HaspError if the trace does not exist."""
    if trace.is_dir():
        raise HaspError(f"{trace} is a folder", "name the trace in it: hasp.trace")
    if not trace.exists():
        raise HaspError(
            f"{trace} does not exist",
            "record one: hasp profile -- ./program; it writes hasp.trace",
        )


def _of_process(trace: Path, process: str) -> Profile:
    if not process.isdecimal():
        raise HaspError(
            f"--process {process!r} is not a number",
            "give a process id, or N for hasp.trace.N",
        )
    first = load(trace)
    family = [trace, *(trace.parent / Path(name).name for name in first.others)]
    for path in family[1:]:
        if path.name.endswith(f".{process}") and path.exists():
            return load(path)
    known = []
    for path in family:
        profile = first if path == trace else load(path)
        if profile.pid == int(process):
            return profile
        known.append(f"{profile.pid} ({path.name})")
    raise HaspError(
        f"no process {process} was recorded",
        f"recorded processes: {', '.join(known)}",
    )
