# SPDX-License-Identifier: MIT
"""`hasp compare`: compare locks on a program, in interleaved runs."""

from __future__ import annotations

import argparse
from pathlib import Path

from hasp.base.errors import HaspError
from hasp.base.output import add_json_option
from hasp.cli.measuring import add_measuring_options
from hasp.locks.selection import add_kind_options

NAME = "compare"
HELP = "compare locks on a program, in interleaved runs"

EPILOG = """\
examples:
  hasp compare -- ./program --work 1000
  hasp compare --locks mcs,parks --metric 'ops/s: ([0-9.]+)' -- ./bench
  hasp compare --metric 'rate=([0-9.]+) ops/sec' --unit ops/s \\
      --metric 'p99=P99: ([0-9.]+)' --unit us --lower-is-better -- ./bench
  hasp compare --rwlocks all -- ./bench          reader-writer locks
  hasp compare --threads 1,2,4 -- ./bench --threads {threads}
  hasp compare --server 'memcached -p 21211 -t 4' --ready tcp:21211 \\
      --metric 'TPS: ([0-9]+)' -- memcaslap -s 127.0.0.1:21211 -t 2s
  hasp compare --check 'sha256sum | grep -q ^3f5a' --plot locks.png -- ./program
  hasp compare --from results.jsonl --plot locks.svg     from a file of --json

Each round runs every lock once, in random order, so that a change of the machine's
speed affects all locks alike. The table shows medians, and the ratio to glibc's mutex,
which runs natively: the geometric mean over the rounds, with a confidence interval. The
intervals are simultaneous: however many locks are compared, at most 5 % of all
comparisons contain a false verdict. The line "power" says how large a difference these
runs can find. A lock under which the program fails, hangs or prints something different
gets a row that says so, and is not tried again after two failures.

The verdict follows from the interval: better or worse than glibc, same (within 3 %), or
cannot tell. Fewer than 5 runs give no verdict. A ! marks a lock that has also failed.

exit status: 0 fine; 1 when the program failed, hung or printed something different
under a lock; 2 when nothing could be measured, with the reason; 130 after Ctrl-C, with
what was measured so far.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `hasp compare`."""
    parser.usage = "hasp compare [options] [--] COMMAND..."
    parser.epilog = EPILOG
    add_kind_options(parser)
    parser.add_argument(
        "--plan",
        action="append",
        default=[],
        dest="plans",
        metavar="FILE",
        help="also compare this plan (see `hasp run --plan`); may be repeated",
    )
    add_measuring_options(parser)
    outputs = parser.add_argument_group("results")
    add_json_option(parser)
    add = outputs.add_argument
    add("--csv", metavar="FILE", help="one row per run")
    add("--markdown", metavar="FILE", help="the tables as Markdown")
    add("--plot", metavar="FILE", help="a figure: FILE.png or FILE.svg")
    add(
        "--from",
        dest="source",
        metavar="FILE",
        help="run nothing; show the results that --json wrote to FILE",
    )
    parser.add_argument(
        "command", nargs=argparse.REMAINDER, metavar="COMMAND", help=argparse.SUPPRESS
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the comparison, and print or write the results."""
    from hasp.cli.measuring import settings_of
    from hasp.compare.command import Outputs, compare, show_again
    from hasp.locks.given import given_plan
    from hasp.locks.selection import candidates

    outputs = Outputs(arguments.json, arguments.csv, arguments.markdown, arguments.plot)
    outputs.check()
    if arguments.source:
        if arguments.command:
            raise HaspError(
                "--from shows earlier results and runs nothing, but a command is given",
                "leave one of them out",
            )
        return show_again(Path(arguments.source), outputs)
    if not arguments.command:
        raise HaspError(
            "there is no program to compare",
            "name one, for example: hasp compare -- ./program",
        )
    plans = {
        plan.name: plan for plan in map(given_plan, dict.fromkeys(arguments.plans))
    }
    names = [*candidates(arguments), *plans]
    return compare(settings_of(arguments, names), plans, outputs)
