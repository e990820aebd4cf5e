# SPDX-License-Identifier: MIT
"""`hasp simulate`: run the shipped locks on a simulated machine."""

from __future__ import annotations

import argparse
import shlex
import sys

from hasp.base.durations import duration_argument
from hasp.base.errors import HaspError
from hasp.base.output import add_json_option
from hasp.lab.simulate.counts import counts_argument
from hasp.lab.simulate.placement import DEFAULT, PLACEMENTS
from hasp.locks.kinds import Kind
from hasp.locks.native import LockInfo, WrongKind
from hasp.locks.selection import add_locks_option, select

NAME = "simulate"
HELP = "run the locks on a simulated machine, with up to 1,024 cores"

EXAMPLES = """\
examples:
  hasp simulate --machine xeon-80 --locks mcs,hticket,cna,futex
  hasp simulate --machine xeon-80 --locks fifo --threads 1..80:10 --plot x.svg
  hasp simulate --machine opteron-48 --workload n-locks:512 --threads 48
  hasp simulate --machine xeon-80 --workload readers:99 --locks all,bravo+all
  hasp simulate --machine tilera-36 --workload hash-table --knob put_percent=40
  hasp simulate --machine a-64 --workload oversubscribed --threads 32,64,128
  hasp simulate --machine ./here.toml --threads 1,2    a file of `hasp machine`
  hasp simulate --machine ./here.toml --native --knob think_cycles=1000
  hasp simulate --list
  hasp simulate --validate              compare with published claims
  hasp simulate --scenario all          compare with exact earlier results

Runs the locks' own code, compiled for the simulator. The same seed gives the same bytes
on any host. docs/hasp-simulate.md describes how far results can be trusted.

exit status: 0 success; 1 a deadlock, or two threads in a critical section; 2 usage
error; 130 after Ctrl-C, with the results so far.
"""

SHORT = {  # knobs that have their own option
    "cs_lines": "cache lines that each critical section reads and writes",
    "cs_ns": "further time spent in each critical section, in nanoseconds",
    "think_ns": "pause between a release and the next acquire, in nanoseconds",
}
DURATION, WARM_UP = 10e-3, 1e-3


def _positive(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to 1000")
    return int(text)


def _knob(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not value:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def _add_modes(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--jobs", metavar="N", type=_positive, help="parallel runs (default: all CPUs)")
    add("--list", action="store_true", help="list machines, workloads and knobs")
    add(
        "--scenario",
        metavar="LIST",
        help="run scenarios with exact results: names, files, or `all`",
    )
    add("--update", action="store_true", help="write the results to the scenarios")
    add(
        "--native",
        action="store_true",
        help="also run on this host, and print both results side by side",
    )
    add("--plot", metavar="FILE", help="plot all locks to FILE.png or FILE.svg")
    add(
        "--validate",
        action="store_true",
        help="compare with claims of published studies",
    )


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `hasp simulate`."""
    parser.usage = "hasp simulate --machine NAME|FILE [options]"
    parser.epilog = EXAMPLES
    add = parser.add_argument
    add("--machine", metavar="NAME", help="a machine of --list, or a file")
    add_locks_option(parser)
    add(
        "--workload",
        metavar="NAME[:N]",
        default="one-lock",
        help="the workload (default: one-lock); see --list",
    )
    add(
        "--threads",
        metavar="LIST",
        type=counts_argument,
        help="1,2,4; 1..80 doubles; 1..80:10 counts in tens (default: 1 to all CPUs)",
    )
    add(
        "--placement",
        metavar="HOW",
        choices=(DEFAULT, *PLACEMENTS),
        default=DEFAULT,
        help="; ".join(f"{name}: {words}" for name, words in PLACEMENTS.items()),
    )
    for name, words in SHORT.items():
        add(f"--{name.replace('_', '-')}", metavar="N", help=f"{words} (knob {name})")
    add(
        "--knob",
        metavar="NAME=VALUE",
        type=_knob,
        action="append",
        default=[],
        help="another knob of the workload; see --list",
    )
    add(
        "--seeds",
        "--seed",
        metavar="LIST",
        type=counts_argument,
        default=[1],
        help="seeds; results that differ are shown as ranges (default: 1)",
    )
    add(
        "--duration",
        metavar="TIME",
        type=duration_argument,
        default=DURATION,
        help="measured simulated time, after a warm-up of 1ms (default: 10ms)",
    )
    _add_modes(parser)
    add_json_option(parser)


def _locks(text: str, kind: Kind) -> list[LockInfo]:
    """Return the algorithms to simulate, of the kind that the workload uses."""
    try:
        return select(text, kind)
    except WrongKind as problem:
        raise HaspError(
            problem.message,
            "the workload `readers` simulates reader-writer locks, the others mutexes",
        ) from None


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return the exit status."""
    from hasp.lab.simulate.listing import print_listing
    from hasp.lab.simulate.machines import machine
    from hasp.lab.simulate.options import Options
    from hasp.lab.simulate.simulation import simulate, workload_of
    from hasp.locks.kinds import kind_of

    if arguments.list:
        return print_listing(arguments.json)
    if arguments.scenario:
        from hasp.lab.simulate import scenario

        return scenario.check(arguments.scenario, arguments.update, arguments.jobs)
    if arguments.validate:
        try:
            from hasp.lab.simulate.validation.run import validate
        except ModuleNotFoundError:
            raise HaspError(
                "--validate is a developer tool and not part of this installation",
                "run it from the source tree, after `make setup`",
            ) from None

        return validate(arguments.machine, arguments.jobs, arguments.json)
    if not arguments.machine:
        raise HaspError(
            "no machine to simulate is named: add --machine NAME",
            f"choose one of {', '.join(machine.names())}, or a file of `hasp machine`",
        )
    knobs = dict(arguments.knob)
    for name in SHORT:
        value = getattr(arguments, name)
        if value is not None:
            knobs[name] = value
    kind = kind_of(workload_of(arguments.workload).kind)
    options = Options(
        machine=machine.load(arguments.machine),
        workload=arguments.workload,
        locks=_locks(arguments.locks, kind),
        threads=arguments.threads,
        placement=arguments.placement,
        seeds=arguments.seeds,
        warm_up_ns=round(min(WARM_UP, arguments.duration) * 1e9),
        duration_ns=round(arguments.duration * 1e9),
        knobs=knobs,
        jobs=arguments.jobs,
        json=arguments.json,
        plot=arguments.plot,
        command=shlex.join(["hasp", *sys.argv[1:]]),
    )
    if arguments.native:
        from hasp.lab.simulate.beside import beside_native

        return beside_native(options)
    return simulate(options)
