# SPDX-License-Identifier: MIT
"""`hasp machine`: what this machine does to a cache line, to a waiter, to a switch."""

from __future__ import annotations

import argparse
import shlex
import sys

from hasp.base.host import cpu_list
from hasp.base.output import add_json_option

NAME = "machine"
HELP = "measure this machine's cache coherence, atomics, messages and switches"

EXAMPLES = """\
examples:
  hasp machine                                   tables, within two minutes
  hasp machine --quick                           the same in ten seconds
  hasp machine --plot heat.png --json host.jsonl
  hasp machine --toml here.toml                  then: hasp simulate --machine here.toml
  hasp machine --from host.jsonl --csv host.csv  measure nothing, show it again
  hasp machine --simulate xeon-80                the same on a simulated machine

Medians of many short bursts; what is doubtful about them is said in words. The bursts
run in real time where that is allowed (root, or CAP_SYS_NICE).
"""


def _cpus(text: str) -> tuple[int, ...]:
    try:
        numbers = cpu_list(text)
    except ValueError as problem:
        raise argparse.ArgumentTypeError(str(problem)) from None
    if len(set(numbers)) != len(numbers) or not numbers:
        raise argparse.ArgumentTypeError(f"{text!r} names a CPU twice, or none")
    return tuple(numbers)


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of `hasp machine`."""
    parser.usage = "hasp machine [options]"
    parser.epilog = EXAMPLES
    parser.add_argument(
        "--quick", action="store_true", help="fewer samples: about ten seconds"
    )
    parser.add_argument(
        "--cpus", type=_cpus, metavar="LIST", help="only these, e.g. 0,2-5"
    )
    parser.add_argument(
        "--plot", metavar="FILE", help="the heat map of all pairs: FILE.png or FILE.svg"
    )
    parser.add_argument("--csv", metavar="FILE", help="all figures, a line each")
    parser.add_argument(
        "--toml", metavar="FILE", help="the machine file that `hasp simulate` reads"
    )
    parser.add_argument(
        "--from",
        dest="source",
        metavar="FILE",
        help="measure nothing: show what --json wrote to FILE",
    )
    parser.add_argument(
        "--simulate",
        metavar="MACHINE",
        help="measure a simulated machine instead: a name, or a machine file",
    )
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Measure, and show what was measured even when interrupted."""
    from hasp.lab.host.command import Options, measure

    return measure(
        Options(
            quick=arguments.quick,
            cpus=arguments.cpus,
            plot=arguments.plot,
            csv=arguments.csv,
            toml=arguments.toml,
            source=arguments.source,
            simulate=arguments.simulate,
            json=arguments.json,
            command=shlex.join(["hasp", *sys.argv[1:]]),
        )
    )
