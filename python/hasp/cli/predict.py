# SPDX-License-Identifier: MIT
"""`hasp predict`: how a recorded program would scale on a simulated machine."""

from __future__ import annotations

import argparse
from pathlib import Path

from hasp.base.errors import HaspError
from hasp.base.output import add_json_option
from hasp.cli.traces import DEFAULT, add_trace_options, trace_behind
from hasp.lab.simulate.counts import counts_argument

NAME = "predict"
HELP = "predict how a recorded program scales on another machine"

EXAMPLES = """\
examples:
  hasp profile -- ./server --threads 1
  hasp predict hasp.trace --machine epyc-2x64
  hasp predict hasp.trace --machine epyc-2x64 --threads 1,64 --locks mcs,cna
  hasp predict hasp.trace --machine ./machine.toml --what-if 'log_mu hold x0.5'
  hasp predict hasp.trace --machine arm-128 --html arm.html --plot arm.png

Simulated, not measured: the load is rebuilt from the trace. docs/predict.md describes
what is modelled, and how far to trust it. `hasp simulate --list` prints the machines.

exit status: 0 success; 1 --validate missed a level; 2 wrong usage, or a trace without
what is needed; 130 after Ctrl-C.
"""


def _few(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 100:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to 100")
    return int(text)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `hasp predict`."""
    parser.usage = "hasp predict [TRACE] --machine NAME|FILE [options]"
    parser.epilog = EXAMPLES
    add_trace_options(parser)
    add = parser.add_argument
    add(
        "--machine",
        metavar="NAME",
        help="a machine of `hasp simulate --list`, or a file of `hasp machine`",
    )
    add(
        "--threads",
        metavar="LIST",
        type=counts_argument,
        help="1,16,64; 1..64 doubles (default: 1 to all CPUs of the machine)",
    )
    add(
        "--locks",
        metavar="LIST",
        help="locks to compare with the recorded one, as in `hasp simulate` (default: "
        "one of each family)",
    )
    add(
        "--rwlock",
        metavar="NAME",
        help="the algorithm of reader-writer locks (default: rw-futex, as glibc's)",
    )
    add(
        "--what-if",
        action="append",
        default=[],
        metavar="CHANGE",
        help="SITE hold xFACTOR, outside PERCENT%%, split NUMBER, or remove",
    )
    add(
        "--recorded-on",
        metavar="MACHINE",
        help="where TRACE was recorded: a machine, a machine file, or a score; scales "
        "computing by the ratio of the scores (default: the processor in TRACE)",
    )
    add(
        "--busy",
        action="store_true",
        help="threads never wait for work, although they did in the recording",
    )
    add(
        "--seeds",
        metavar="N",
        type=_few,
        default=1,
        help="seeds for each assumption; more make ranges more certain (default: 1)",
    )
    add("--jobs", metavar="N", type=_few, help="parallel runs (default: all CPUs)")
    _add_validation(parser)
    _add_formats(parser)


def _add_validation(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--validate",
        action="store_true",
        help="compare predictions with a study; TRACE is the folder of the recordings",
    )
    add(
        "--study",
        metavar="FILE",
        help="with --validate: the lock study's A64.csv, to compare with its A-64",
    )


def _add_formats(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--html",
        metavar="FILE",
        help="the answer as a page with figures that needs no network",
    )
    add(
        "--plot",
        metavar="FILE",
        help="throughput and busy locks over threads: FILE.png or FILE.svg",
    )
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return the exit status."""
    from hasp.lab.simulate.machines import machine
    from hasp.locks.kinds import RWLOCK
    from hasp.locks.native import lock
    from hasp.predict.options import Options
    from hasp.predict.pace import named
    from hasp.predict.predict import predict
    from hasp.profile.report.what_if import changes_of

    if arguments.validate:
        return _validate(arguments)
    if arguments.study:
        raise HaspError("--study belongs to --validate", "add --validate")
    if not arguments.machine:
        raise HaspError(
            "no machine to simulate is named: add --machine NAME",
            f"choose one of {', '.join(machine.names())}, or a file of `hasp machine`",
        )
    trace = arguments.trace or trace_behind(arguments, ("json",)) or DEFAULT
    rwlock = arguments.rwlock and lock(arguments.rwlock, RWLOCK).name
    simulated = machine.load(arguments.machine)
    return predict(
        Options(
            trace=Path(trace),
            machine=simulated,
            recorded_on=named(arguments.recorded_on, simulated),
            locks=arguments.locks,
            threads=arguments.threads,
            process=arguments.process,
            rwlock=rwlock,
            changes=changes_of(arguments.what_if),
            busy=arguments.busy,
            seeds=arguments.seeds,
            jobs=arguments.jobs,
            json=arguments.json,
            html=arguments.html,
            plot=arguments.plot,
        )
    )


def _validate(arguments: argparse.Namespace) -> int:
    from hasp.lab.simulate.machines import machine

    try:
        from hasp.predict.pace import named
        from hasp.predict.validation.a64 import MACHINE as STUDIED
        from hasp.predict.validation.a64 import validate_study
        from hasp.predict.validation.run import MACHINE, validate
    except ModuleNotFoundError:
        raise HaspError(
            "--validate is a developer tool and not part of this installation",
            "run it from the source tree, after `make setup`",
        ) from None

    folder = Path(arguments.trace or "predict-recordings")
    where, json, jobs = arguments.recorded_on, arguments.json, arguments.jobs
    if arguments.study:
        speed = named(where, machine.load(STUDIED))
        return validate_study(folder, Path(arguments.study), json, jobs, speed)
    made = machine.load(arguments.machine or str(MACHINE))
    return validate(folder, made, json, jobs, named(where, made))
