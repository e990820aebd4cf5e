# SPDX-License-Identifier: MIT
"""Which trace a report is about, and its profile."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from hasp.base.errors import HaspError
from hasp.profile.model.profile import Profile

DEFAULT = "hasp.trace"
# Options whose FILE may be left out: they would take the TRACE behind them for it.
GREEDY = ("json", "csv", "markdown", "html", "speedscope", "chrome_trace", "pprof")


def trace_named(arguments: argparse.Namespace) -> Path:
    """The TRACE of a command line, also behind an option that may have a FILE.

    In `hasp report --json hasp.trace` the parser takes the trace for the FILE. Where no
    TRACE is given, a FILE that exists is the trace, so nothing is ever written over it.
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
    """A file that exists where an option's FILE may be left out: it is the TRACE."""
    for name in names:
        value = getattr(arguments, name)
        if value not in (None, "-") and Path(value).exists():
            setattr(arguments, name, "-")
            return Path(value)
    return None


def open_profile(trace: Path, process: str | None = None) -> Profile:
    """The profile of a trace, or of another process of its run."""
    check_exists(trace)
    if process is None:
        return load(trace)
    return _of_process(trace, process)


def load(trace: Path) -> Profile:
    """A trace as a profile; the reader is imported only now."""
    from hasp.profile.model import build

    return build.load(trace)


def check_exists(trace: Path) -> None:
    """An error for a trace that is not there, with what to do about it."""
    if trace.is_dir():
        raise HaspError(f"{trace} is a folder", "name the trace in it: hasp.trace")
    if not trace.exists():
        raise HaspError(
            f"{trace}: there is no such file",
            "record one: hasp profile -- ./program; it writes hasp.trace",
        )


def _of_process(trace: Path, process: str) -> Profile:
    if not process.isdecimal():
        raise HaspError(
            f"--process {process!r} is no number",
            "give a process id, or N for the file hasp.trace.N",
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
        f"there are: {', '.join(known)}",
    )
