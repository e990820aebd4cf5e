# SPDX-License-Identifier: MIT
"""Options of the verbs that read a trace."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

DEFAULT = "hasp.trace"
# Options with an optional FILE; argparse would take a following TRACE as that FILE.
GREEDY = ("json", "csv", "markdown", "html", "speedscope", "chrome_trace", "pprof")


def add_trace_options(parser: argparse.ArgumentParser) -> None:
    """Add TRACE and --process."""
    add = parser.add_argument
    add("trace", nargs="?", metavar="TRACE", help="a trace written by `hasp profile`")
    add(
        "--process",
        metavar="PID|N",
        help="another process of the run: a process id, or the number of a trace file",
    )


def add_command(parser: argparse.ArgumentParser) -> None:
    """Add COMMAND, for a verb that reads a TRACE or runs a command."""
    # Not REMAINDER as in other verbs, because options may follow the TRACE.
    parser.add_argument("command", nargs="*", metavar="COMMAND", help=argparse.SUPPRESS)


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
