# SPDX-License-Identifier: MIT
"""`hasp compare`: compare locks on a program, in interleaved runs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from hasp.base.errors import EXIT_FINDING, EXIT_REFUSED, HaspError, Interrupted
from hasp.base.figures import check_figure
from hasp.base.files import write_file
from hasp.base.output import STDOUT, add_json_option, check_writable
from hasp.cli.measuring import add_measuring_options
from hasp.locks.selection import add_locks_option

if TYPE_CHECKING:
    from hasp.compare.store import Comparison, Writer

NAME = "compare"
HELP = "compare locks on a program, in interleaved runs"

EPILOG = """\
examples:
  hasp compare -- ./program --work 1000
  hasp compare --locks mcs,parks --runs 10 --metric 'ops/s: ([0-9.]+)' -- ./bench
  hasp compare --metric 'rate=([0-9.]+) ops/sec' --unit ops/s \\
      --metric 'p99=P99: ([0-9.]+)' --unit us --lower-is-better -- ./bench
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
    add_locks_option(parser)
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
    _check_outputs(arguments)
    if arguments.source:
        return _show_again(arguments)
    from hasp.base.signals import interrupt_on_signals
    from hasp.cli.measuring import settings_of
    from hasp.compare.comparison import carry_out, new_comparison
    from hasp.compare.run import ComparisonRunner
    from hasp.compare.store import Writer
    from hasp.locks.given import given_plan
    from hasp.locks.selection import select

    if not arguments.command:
        raise HaspError(
            "there is no program to compare",
            "name one, for example: hasp compare -- ./program",
        )
    plans = {
        plan.name: plan for plan in map(given_plan, dict.fromkeys(arguments.plans))
    }
    locks = [lock.name for lock in select(arguments.locks)]
    settings = settings_of(arguments, [*locks, *plans])
    runner = ComparisonRunner(settings, plans=plans)
    comparison = new_comparison(settings, plans)
    interrupt_on_signals()
    ending: HaspError | Interrupted | None = None
    writer = Writer(arguments.json) if arguments.json else None
    try:
        carry_out(runner, comparison, writer)
    except (HaspError, Interrupted) as problem:
        ending = problem
        comparison.interrupted = True
        if not any(run.measured for run in comparison.runs):
            raise
    finally:
        if writer:
            if ending or sys.exc_info()[0] is None:
                _finish_json(comparison, writer)
            writer.close()
    found = _report(comparison, arguments)
    if ending is not None:
        raise ending
    return found


def _check_outputs(arguments: argparse.Namespace) -> None:
    for name in (arguments.json, arguments.csv, arguments.markdown):
        if name:
            check_writable(name)
    check_figure(arguments.plot)


def _finish_json(comparison: Comparison, writer: Writer) -> None:
    from hasp.compare.doubts import doubts
    from hasp.compare.summary import as_json, power, summarise

    rows = summarise(comparison)
    warnings = [
        {"warning": doubt.kind, "words": doubt.words}
        for doubt in doubts(comparison, rows)
    ]
    writer.records("summary", as_json(rows))
    writer.records("power", (one.as_json() for one in power(comparison, rows)))
    writer.records("warning", warnings)


def _report(comparison: Comparison, arguments: argparse.Namespace) -> int:
    """Print the tables and write the files; returns 1 if a lock failed, else 0."""
    from hasp.compare import report
    from hasp.compare.doubts import doubts
    from hasp.compare.summary import summarise

    rows = summarise(comparison)
    found = doubts(comparison, rows)
    # Write files first, so that they are complete even if stdout is closed early.
    if arguments.csv:
        _write(arguments.csv, report.csv_text(comparison))
    if arguments.markdown:
        _write(arguments.markdown, report.markdown(comparison, rows, found))
    if arguments.plot:
        from hasp.compare.figure import draw

        draw(comparison, rows, Path(arguments.plot))
    if arguments.json != STDOUT:
        report.print_comparison(comparison, rows, found)
    return EXIT_FINDING if any(row.failures for row in rows) else 0


def _write(destination: str, text: str) -> None:
    if destination == STDOUT:
        sys.stdout.write(text)
    else:
        write_file(destination, text)


def _show_again(arguments: argparse.Namespace) -> int:
    """Print, and write in other formats, the results in a file from --json."""
    from hasp.compare.store import load

    if arguments.command:
        raise HaspError(
            "--from shows earlier results and runs nothing, but a command is given",
            "leave one of them out",
        )
    comparison = load(Path(arguments.source))
    if not any(run.measured for run in comparison.runs):
        raise HaspError(
            f"{arguments.source} contains no measured run", "repeat the comparison"
        )
    status = _report(comparison, arguments)
    assert status != EXIT_REFUSED
    return status
