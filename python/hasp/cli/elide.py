# SPDX-License-Identifier: MIT
"""`hasp elide`: what lock elision gains for a program, predicted or measured."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from hasp.base.durations import duration_argument
from hasp.base.errors import HaspError
from hasp.base.extras import require
from hasp.base.output import add_json_option
from hasp.cli.measuring import add_measuring_options, positive
from hasp.cli.traces import DEFAULT, add_command, add_trace_options, trace_behind

if TYPE_CHECKING:
    from hasp.elide.options import Options

NAME = "elide"
HELP = "measure or predict what lock elision gains a program"
MACHINE = "i7-4770"

EPILOG = """\
examples:
  hasp elide -- ./bench                  measure it if this machine has
                                         transactions; else record and predict
  hasp elide --metric 'ops/s: ([0-9.]+)' --threads 1,2,4 -- ./bench -t {threads}
  hasp elide hasp.trace                  predict from a recorded run
  hasp elide --machine haswell-72 --threads 1,18,72 hasp.trace
  hasp elide --conflicts 5% hasp.trace   one section in twenty conflicts
  hasp elide --validate                  the simulator beside measurements

Where the processor's transactions work (`hasp doctor --htm`), the command runs in six
configurations, interleaved as `hasp compare` does it. With HASP_ELISION=script:FILE,
seed:N or undo, transactions are emulated, and the output says so.

exit status: 0 any answer; 1 the program failed in a configuration, or
--validate missed a claim; 2 wrong usage, or a trace without what is needed; 130 after
Ctrl-C, with what was measured or simulated so far.
"""


def _share(text: str) -> float:
    """Parse `5%` or `0.05`."""
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a share: write 5% or 0.05, at most 100%"
        )
    return value


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `hasp elide`."""
    parser.usage = "hasp elide [options] [TRACE] [-- COMMAND...]"
    parser.epilog = EPILOG
    add_trace_options(parser)
    add = parser.add_argument
    add(
        "--machine",
        metavar="NAME",
        default=MACHINE,
        help="the machine with transactions to simulate: i7-4770, haswell-72, xeon-64, "
        f"or a file (default: {MACHINE})",
    )
    add(
        "--lock",
        metavar="LOCK",
        default="futex",
        help="the lock to elide, of `hasp list` (default: futex)",
    )
    add(
        "--conflicts",
        metavar="SHARE",
        type=_share,
        help="how often two sections of one lock touch the same data, such as 5%% "
        "(default: simulate both never and always)",
    )
    _add_control_options(parser)
    add_json_option(parser)
    add_measuring_options(parser)
    add_command(parser)


def _add_control_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--busy",
        action="store_true",
        help="threads never wait for work, although they did in the recording",
    )
    add(
        "--budget",
        metavar="TIME",
        type=duration_argument,
        help="simulate or measure for about this time at most: 30s, 5m",
    )
    add(
        "--jobs",
        metavar="N",
        type=positive,
        help="parallel simulations (default: all CPUs)",
    )
    add(
        "--validate",
        action="store_true",
        help="compare the simulated machine with what was measured on an i7-4770",
    )
    add(
        "--predict",
        action="store_true",
        help="predict, although this machine has transactions",
    )
    add(
        "-o",
        "--output",
        metavar="FILE",
        default=DEFAULT,
        help=f"record a command into FILE (default: {DEFAULT})",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return the exit status."""
    if arguments.validate:
        from hasp.elide.claims import validate
        from hasp.lab.simulate.machines import machine

        if arguments.trace or arguments.command:
            raise HaspError(
                "--validate reads no trace and runs no command", "leave one of them out"
            )
        named = machine.load(arguments.machine)
        return validate(named, arguments.json, arguments.jobs)
    if not arguments.command:
        from hasp.elide.elide import elide_trace

        return elide_trace(_options(arguments))
    if arguments.trace:
        raise HaspError(
            f"there are a trace, {arguments.trace}, and a command", "name one of them"
        )
    require("study")
    from hasp.cli.measuring import mentions_threads, settings_of
    from hasp.elide.elide import elide_command

    options = _options(arguments)
    if not mentions_threads(arguments):
        arguments.threads = None  # they are only simulated
    settings = settings_of(arguments, ())
    return elide_command(options, settings, predict_only=arguments.predict)


def _options(arguments: argparse.Namespace) -> Options:
    from hasp.elide.options import Options
    from hasp.lab.simulate.machines import machine
    from hasp.locks import native

    lock = native.lock(arguments.lock)
    if lock.is_reference or lock.is_elided:
        raise HaspError(
            f"--lock {arguments.lock}: only a lock of Hasp's own can be elided",
            "name one of `hasp list`, for example --lock futex",
        )
    if arguments.command:
        trace = arguments.output
    else:
        trace = arguments.trace or trace_behind(arguments, ("json",)) or DEFAULT
    return Options(
        trace=Path(trace),
        machine=machine.load(arguments.machine),
        lock=lock.name,
        threads=arguments.threads,
        conflicts=arguments.conflicts,
        process=arguments.process,
        busy=arguments.busy,
        budget_s=arguments.budget,
        jobs=arguments.jobs,
        json=arguments.json,
    )
