# SPDX-License-Identifier: MIT
"""`hasp machine`: cache lines, waiting and context switches on this host."""

from __future__ import annotations

import argparse
import shlex
import sys

from hasp.base.host import cpu_list
from hasp.base.output import add_json_option

NAME = "machine"
HELP = "measure this host's cache coherence, atomics, messages and switches"

EXAMPLES = """\
examples:
  hasp machine                                   tables, within two minutes
  hasp machine --quick                           the same in ten seconds
  hasp machine --plot heat.png --json host.jsonl
  hasp machine --toml here.toml                  for `hasp simulate --machine`
  hasp machine --from host.jsonl --csv host.csv  show earlier results
  hasp machine --simulate xeon-80                the same on a simulated machine

Figures are medians of many short bursts, followed by doubts about them. Bursts run with
real-time priority if permitted (root, or CAP_SYS_NICE).
"""


def _cpus(text: str) -> tuple[int, ...]:
    try:
        numbers = cpu_list(text)
    except ValueError as problem:
        raise argparse.ArgumentTypeError(str(problem)) from None
    if len(set(numbers)) != len(numbers) or not numbers:
        raise argparse.ArgumentTypeError(f"{text!r} names a CPU twice, or no CPU")
    return tuple(numbers)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `hasp machine`."""
    parser.usage = "hasp machine [options]"
    parser.epilog = EXAMPLES
    parser.add_argument(
        "--quick", action="store_true", help="fewer samples: about ten seconds"
    )
    parser.add_argument(
        "--cpus", type=_cpus, metavar="LIST", help="measure these CPUs only, e.g. 0,2-5"
    )
    parser.add_argument(
        "--plot", metavar="FILE", help="heat map of all pairs: FILE.png or FILE.svg"
    )
    parser.add_argument("--csv", metavar="FILE", help="all figures, one per line")
    parser.add_argument(
        "--toml", metavar="FILE", help="write a machine file for `hasp simulate`"
    )
    parser.add_argument(
        "--from",
        dest="source",
        metavar="FILE",
        help="show results that --json wrote to FILE, without measuring",
    )
    parser.add_argument(
        "--simulate",
        metavar="MACHINE",
        help="measure a simulated machine instead: a name, or a machine file",
    )
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Measure and show the results, also after an interruption."""
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
