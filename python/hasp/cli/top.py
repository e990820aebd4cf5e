# SPDX-License-Identifier: MIT
"""`hasp top`: show a program's lock activity, second by second."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from hasp.base.durations import duration_argument
from hasp.base.errors import HaspError
from hasp.base.extras import require
from hasp.base.output import check_writable, complain, note
from hasp.cli.recording import (
    DEFAULT_TRACE,
    add_recording_options,
    recording_options,
)

if TYPE_CHECKING:
    from hasp.profile.live.source import Source

NAME = "top"
HELP = "watch a program's locks while it runs"
ORDERS = ("wait", "hold", "acquired", "contended")
ROWS = 15  # rows of a plain table

EPILOG = """\
examples:
  hasp top -- ./server -p 8080         start a program and watch it
  hasp top hasp.trace                  watch a program that `hasp profile` runs
  hasp top --plain 60 --interval 10s -- ./server > locks.log

keys: w h a c sort by wait, hold, acquisitions, contended share; enter shows a site in
detail; t threads; d delegates; o the program's output; p the next process; ? help;
q quits.

The program is detached from the terminal: its input is empty, and its output goes to a
pane of the view or to the file of --output. Quitting the view ends it (SIGTERM); a
program that is only watched continues. Exit status: the program's; 0 if it was ended or
only watched.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `hasp top`."""
    parser.usage = "hasp top [options] [--] COMMAND...\n       hasp top [options] TRACE"
    parser.epilog = EPILOG
    add = parser.add_argument
    add(
        "--interval",
        metavar="TIME",
        type=duration_argument,
        default="1s",
        help="between two refreshes [%(default)s]",
    )
    add(
        "--sort",
        choices=ORDERS,
        default=ORDERS[0],
        help="initial order of the sites [%(default)s]",
    )
    add(
        "--plain",
        metavar="N",
        type=int,
        help="print N tables instead of a screen; the program's output goes to stderr",
    )
    add("--once", action="store_true", help="the same as --plain 1")
    add(
        "--output",
        metavar="FILE",
        help="write what the program prints to FILE (default: a pane of the view)",
    )
    add(
        "--trace",
        metavar="FILE",
        default=DEFAULT_TRACE,
        help="record into FILE [%(default)s]",
    )
    add_recording_options(parser)
    add("command", nargs=argparse.REMAINDER, metavar="COMMAND", help=argparse.SUPPRESS)


def run(arguments: argparse.Namespace) -> int:
    """Start the live view or print plain tables."""
    if not arguments.command:
        raise HaspError(
            "which program should be watched?", "for example: hasp top -- ./server"
        )
    tables = 1 if arguments.once else arguments.plain
    if tables is not None and tables < 1:
        raise HaspError(
            f"--plain {tables} would print no tables", "for example: --plain 10"
        )
    if tables is None and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise HaspError(
            "the view needs a terminal, on stdin and stdout",
            "add --plain 10 for ten tables as text",
        )
    if tables is None:
        require("top")
    if arguments.output:
        check_writable(arguments.output)
    if tables is None:
        return _show(arguments)
    return _print(arguments, tables)


def _trace_to_watch(words: list[str]) -> Path | None:
    """Return the only argument as a path if it is a non-executable file."""
    path = Path(words[0])
    if len(words) == 1 and path.suffix == ".trace" and not path.exists():
        raise HaspError(
            f"the trace {path} does not exist",
            "recording begins with the program's second thread; or give a command "
            "after --",
        )
    is_program = os.access(path, os.X_OK)
    return path if len(words) == 1 and path.is_file() and not is_program else None


def _source(arguments: argparse.Namespace, otherwise: int | None) -> Source:
    """Return the program to watch; its output goes to a file or to `otherwise`."""
    from hasp.profile.live.source import Attached, Started
    from hasp.profile.record.target import prepare

    trace = _trace_to_watch(arguments.command)
    if trace is not None:
        return Attached(trace)
    ready = prepare(recording_options(arguments))
    if not arguments.output:
        return Started(ready, otherwise)
    with Path(arguments.output).open("wb") as file:
        return Started(ready, file.fileno())


def _print(arguments: argparse.Namespace, tables: int) -> int:
    from hasp.base.signals import interrupt_on_signals
    from hasp.profile.live import plain
    from hasp.profile.live.columns import order_of

    # A program that changes its user does not die with its parent: it must be ended.
    interrupt_on_signals()
    source = _source(arguments, sys.stderr.fileno())
    try:
        plain.show(
            source,
            interval=arguments.interval,
            tables=tables,
            order=order_of(arguments.sort),
            rows=ROWS,
        )
        return _leave(source)
    finally:
        source.stop()


def _show(arguments: argparse.Namespace) -> int:
    from hasp.profile.live.app import TopApp
    from hasp.profile.live.columns import order_of

    source = _source(arguments, None)
    try:
        TopApp(source, arguments.interval, order_of(arguments.sort)).run()
        return _leave(source)
    finally:
        source.stop()


def _leave(source: Source) -> int:
    """Return the exit status; explain why there was nothing to show."""
    from hasp.profile.record import conclusion

    status = source.status()
    traces = source.traces()
    if traces:
        conclusion.read(traces)  # writes the symbols files
        note(f"`hasp report {traces[0].path}` shows the whole run")
    elif status is not None and (problem := source.why_no_trace()):
        complain(problem)
    if status is None:
        return 0
    return status if status >= 0 else 128 - status
