# SPDX-License-Identifier: MIT
"""`hasp compare`: which lock serves a program best, from interleaved runs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from hasp.base.errors import EXIT_FINDING, EXIT_REFUSED, HaspError, Interrupted
from hasp.base.output import STDOUT, add_json_option, check_writable
from hasp.compare.options import add_measuring_options
from hasp.locks.selection import add_locks_option

if TYPE_CHECKING:
    from hasp.compare.store import Study, Writer

NAME = "compare"
HELP = "compare the locks on a program, in interleaved runs"

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
    """The options of `hasp compare`."""
    parser.usage = "hasp compare [options] [--] COMMAND..."
    parser.epilog = EPILOG
    add_locks_option(parser)
    parser.add_argument(
        "--plan",
        action="append",
        default=[],
        dest="plans",
        metavar="FILE",
        help="a plan as one more candidate (see `hasp run --plan`); may be repeated",
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
        help="run nothing: show what --json wrote to FILE",
    )
    parser.add_argument(
        "command", nargs=argparse.REMAINDER, metavar="COMMAND", help=argparse.SUPPRESS
    )


def run(arguments: argparse.Namespace) -> int:
    """Compare, and print or write the results."""
    _check_outputs(arguments)
    if arguments.source:
        return _show_again(arguments)
    from hasp.base.signals import interrupt_on_signals
    from hasp.compare.comparison import carry_out, new_study, plan_of
    from hasp.compare.run import Runner
    from hasp.compare.store import Writer
    from hasp.locks import native
    from hasp.locks.selection import select

    if not arguments.command:
        raise HaspError(
            "which program should be compared?",
            "for example: hasp compare -- ./program",
        )
    candidates = [lock.name for lock in select(arguments.locks)]
    candidates += [native.PLAN + file for file in dict.fromkeys(arguments.plans)]
    plan = plan_of(arguments, candidates)
    runner = Runner(plan)
    study = new_study(plan)
    interrupt_on_signals()
    ending: HaspError | Interrupted | None = None
    writer = Writer(arguments.json) if arguments.json else None
    try:
        carry_out(runner, study, writer)
    except (HaspError, Interrupted) as problem:
        ending = problem
        study.interrupted = True
        if not any(run.measured for run in study.runs):
            raise
    finally:
        if writer:
            if ending or sys.exc_info()[0] is None:
                _finish_json(study, writer)
            writer.close()
    found = _report(study, arguments)
    if ending is not None:
        raise ending
    return found


def _check_outputs(arguments: argparse.Namespace) -> None:
    for name in (arguments.json, arguments.csv, arguments.markdown, arguments.plot):
        if name:
            check_writable(name)
    if arguments.plot and Path(arguments.plot).suffix not in (".png", ".svg"):
        raise HaspError(
            f"--plot {arguments.plot}: the format is not known",
            "let the name end in .png or .svg",
        )


def _finish_json(study: Study, writer: Writer) -> None:
    from hasp.compare.doubts import doubts
    from hasp.compare.summary import as_json, power, summarise

    rows = summarise(study)
    warnings = [
        {"warning": doubt.kind, "words": doubt.words} for doubt in doubts(study, rows)
    ]
    writer.records("summary", as_json(rows))
    writer.records("power", (one.as_json() for one in power(study, rows)))
    writer.records("warning", warnings)


def _report(study: Study, arguments: argparse.Namespace) -> int:
    """Print the tables and write the files; 1 when a lock failed."""
    from hasp.compare import report as comparison
    from hasp.compare.doubts import doubts
    from hasp.compare.summary import summarise

    rows = summarise(study)
    found = doubts(study, rows)
    # Files first: a reader of stdout that goes away must not cost them.
    if arguments.csv:
        _write(arguments.csv, comparison.csv_text(study))
    if arguments.markdown:
        _write(arguments.markdown, comparison.markdown(study, rows, found))
    if arguments.plot:
        from hasp.compare.figure import draw

        draw(study, rows, Path(arguments.plot))
    if arguments.json != STDOUT:
        comparison.print_comparison(study, rows, found)
    return EXIT_FINDING if any(row.failures for row in rows) else 0


def _write(destination: str, text: str) -> None:
    if destination == STDOUT:
        sys.stdout.write(text)
    else:
        Path(destination).write_text(text, encoding="utf-8")


def _show_again(arguments: argparse.Namespace) -> int:
    """The tables and files of a study that was made earlier."""
    from hasp.compare.store import load

    if arguments.command:
        raise HaspError(
            "--from shows earlier results and runs nothing, but a command is given",
            "leave one of them out",
        )
    study = load(Path(arguments.source))
    if not any(run.measured for run in study.runs):
        raise HaspError(
            f"{arguments.source} holds no measured run", "repeat the comparison"
        )
    status = _report(study, arguments)
    assert status != EXIT_REFUSED
    return status
