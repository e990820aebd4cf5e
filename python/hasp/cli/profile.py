# SPDX-License-Identifier: MIT
"""`hasp profile`: run a program and record its lock operations."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from hasp.base.durations import duration_argument
from hasp.base.errors import HaspError
from hasp.base.output import add_json_option
from hasp.cli.recording import (
    DEFAULT_TRACE,
    add_recording_options,
    recording_options,
)
from hasp.locks.kinds import KINDS

if TYPE_CHECKING:
    from hasp.profile.record.window import Times

NAME = "profile"
HELP = "run a program and record its lock operations"

# Options that need the recorder, so not -p.
NOT_ATTACHED = (
    *("delay", "control", "hang_after", "kill_on_hang", "plan", "sample"),
    *(kind.option[2:] for kind in KINDS),
    *("report", "why", "fail_if"),
)

EXAMPLES = """\
examples:
  hasp profile -- ./server -p 8080           writes hasp.trace
  hasp profile --sample -- ./server          cheaper: samples acquisitions
  hasp profile --lock mcs -- ./server        under another lock algorithm
  hasp profile --fail-if findings -- ./tests fails if locks are misused
  hasp profile --delay 30s --duration 10s -- ./server     without the warm-up
  hasp profile -p 4242 --duration 5s         samples a running process
  hasp profile --hang-after 10s -- ./tests   explains hangs: who waits for whom

The program owns the terminal, its input and output, and its signals. Hasp exits with
the program's status. Ctrl-\\ prints the waiting threads, and the program continues; a
second Ctrl-\\ goes to the program. `hasp report` shows the recording, `hasp top` shows
it live.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `hasp profile`."""
    parser.usage = "hasp profile [options] [--] COMMAND..."
    parser.epilog = EXAMPLES
    add = parser.add_argument
    add(
        "-o",
        "--output",
        dest="trace",
        metavar="FILE",
        default=DEFAULT_TRACE,
        help="record into FILE; further processes add .2, .3, ... [%(default)s]",
    )
    add_recording_options(parser)
    add(
        "--hang-after",
        metavar="TIME",
        type=duration_argument,
        help="print the waiting threads and the holders of their locks after this long "
        "without progress",
    )
    add(
        "--kill-on-hang",
        action="store_true",
        help="and kill the program then, with status 1 (needs --hang-after)",
    )
    _add_window(parser)
    _add_attach(parser)
    add("--report", action="store_true", help="print the report at the end, on stderr")
    add(
        "--why",
        action="store_true",
        help="print the reasons for the verdict: causes, rules, what was not measured",
    )
    add(
        "--fail-if",
        action="append",
        default=[],
        metavar="CONDITION",
        help="exit with 1 if the program succeeds and the condition of `hasp report` "
        "holds: `findings`, 'wait.p99 > 1ms'",
    )
    add("command", nargs=argparse.REMAINDER, metavar="COMMAND", help=argparse.SUPPRESS)


def _add_window(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("a part of the run").add_argument
    add(
        "--delay",
        metavar="TIME",
        type=duration_argument,
        help="begin this long after the start of the program",
    )
    add(
        "--duration",
        metavar="TIME",
        type=duration_argument,
        help="end this long after the beginning; the program goes on",
    )
    add(
        "--control",
        metavar="FIFO",
        type=Path,
        help="begin and end when `start` and `stop` are written to this named pipe",
    )


def _add_attach(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "a running process, from outside (samples of waiting threads only)"
    )
    group.add_argument(
        "-p", "--pid", metavar="PID", type=int, help="sample this process for 10 s"
    )
    add_json_option(group)


def _attach(arguments: argparse.Namespace) -> int:
    from hasp.profile.attach.attach import SECONDS, Options, attach

    if arguments.command:
        raise HaspError(
            "-p and a COMMAND cannot be combined",
            "-p inspects a program that runs already",
        )
    for name in NOT_ATTACHED:
        if getattr(arguments, name):
            raise HaspError(
                f"-p and --{name.replace('_', '-')} cannot be combined",
                "-p only inspects; start the program with `hasp profile -- COMMAND`",
            )
    if arguments.trace != DEFAULT_TRACE:
        raise HaspError(
            "-p and --output cannot be combined",
            "-p writes no trace; --json FILE writes what it saw",
        )
    if arguments.pid <= 0:
        raise HaspError(f"{arguments.pid} is not a process id", "see `ps -e`")
    attach(Options(arguments.pid, arguments.duration or SECONDS, arguments.json))
    return 0


def _times(arguments: argparse.Namespace) -> Times | None:
    """Return the part of the run to record; None for all of it."""
    from hasp.profile.record.window import Times

    control: Path | None = arguments.control
    if control is None:
        if arguments.delay is None and arguments.duration is None:
            return None
        return Times(arguments.delay or 0.0, arguments.duration)
    if arguments.delay is not None or arguments.duration is not None:
        raise HaspError(
            "--control cannot be combined with --delay or --duration",
            "write `start` and `stop` to the pipe instead",
        )
    if not control.is_fifo():
        raise HaspError(
            f"{control} is not a named pipe", f"create it: mkfifo {control}"
        )
    return Times(control=control)


def run(arguments: argparse.Namespace) -> int:
    """Record the program, and exit with its status."""
    from hasp.profile.record.conclusion import Wanted
    from hasp.profile.record.recording import Session
    from hasp.profile.record.target import prepare
    from hasp.profile.report.conditions import condition

    if arguments.pid is not None:
        return _attach(arguments)
    if arguments.json is not None:
        raise HaspError(
            "--json needs -p",
            "`hasp report --json` writes what was recorded of a COMMAND",
        )
    if not arguments.command:
        raise HaspError(
            "which program should be recorded?", "for example: hasp profile -- ls -l"
        )
    if arguments.kill_on_hang and arguments.hang_after is None:
        raise HaspError("--kill-on-hang needs --hang-after", "add --hang-after 10s")
    times = _times(arguments)
    conditions = tuple(condition(text) for text in arguments.fail_if)
    # Last, because it removes the traces of an earlier run.
    session = Session(
        prepare(recording_options(arguments)),
        arguments.hang_after,
        kill_on_hang=arguments.kill_on_hang,
        times=times,
    )
    return session.run(Wanted(arguments.report, arguments.why, conditions))
