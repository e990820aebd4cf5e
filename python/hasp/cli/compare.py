# SPDX-License-Identifier: MIT
"""`hasp compare`: which lock serves a program best, from interleaved runs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hasp.durations import duration_argument
from hasp.errors import EXIT_FINDING, EXIT_REFUSED, HaspError, Interrupted
from hasp.output import STDOUT, add_json_option, check_writable
from hasp.selection import add_locks_option
from hasp.study.options import (
    AddMetric,
    DescribeMetric,
    natural,
    positive,
    thread_counts,
)

if TYPE_CHECKING:
    from hasp.study.plan import Metric, Plan
    from hasp.study.record import Run
    from hasp.study.store import Study, Writer

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

Every block of runs holds each lock once, in a random order, so that a change of the
machine's speed strikes all alike. The table shows medians and their ratio to glibc's
mutex, run natively, with a 95 % confidence interval (bootstrap over blocks). A lock
under which the program fails, hangs or prints something different gets a row that says
so, and is not tried again after two failures.

A verdict says what the interval says: better or worse than glibc, the same (within
3 %), or that it cannot tell. With a ? it rests on fewer than 6 runs; with a ! the lock
has also failed.

exit status: 0 fine; 1 when the program failed, hung or printed something different
under a lock; 2 when nothing could be measured, with the reason; 130 after Ctrl-C, with
what was measured so far.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of `hasp compare`."""
    parser.usage = "hasp compare [options] [--] COMMAND..."
    parser.epilog = EPILOG
    add_locks_option(parser)
    add = parser.add_argument
    add(
        "--runs",
        type=positive,
        default=7,
        metavar="N",
        help="measured runs of each lock (default: 7)",
    )
    add(
        "--warmup",
        type=natural,
        default=1,
        metavar="N",
        help="runs of each lock before them that do not count (default: 1)",
    )
    add(
        "--threads",
        type=thread_counts,
        metavar="LIST",
        help="numbers of threads, such as 1,2,4: put in place of {threads} everywhere",
    )
    add(
        "--timeout",
        type=duration_argument,
        default=60.0,
        metavar="TIME",
        help="a run that takes longer is hung (default: 60s)",
    )
    add(
        "--seed",
        type=natural,
        metavar="N",
        help="for the order of the runs (default: a new one each time)",
    )
    figures = parser.add_argument_group("the program's own figures")
    add = figures.add_argument
    add(
        "--metric",
        action=AddMetric,
        dest="metrics",
        metavar="[NAME=]REGEX",
        help="a figure in the output: first group of the last match; may be repeated",
    )
    add("--unit", action=DescribeMetric, metavar="UNIT", help="its unit")
    add(
        "--lower-is-better",
        action=DescribeMetric,
        nargs=0,
        help="it is a time or a cost, not a rate",
    )
    around = parser.add_argument_group("around each run (run natively, in the shell)")
    add = around.add_argument
    add("--prepare", metavar="CMD", help="run before each run, not measured")
    add(
        "--check",
        metavar="CMD",
        help="gets the run's stdout on stdin (and its file's name in HASP_OUTPUT); "
        "non-zero means different output",
    )
    add(
        "--server",
        metavar="CMD",
        help="a server to run under the lock; COMMAND is then its load, run natively",
    )
    add(
        "--ready",
        metavar="HOW",
        help="when the server can serve: tcp:PORT, tcp:HOST:PORT, file:PATH, or a time",
    )
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
    plan = plan_of(arguments)

    from hasp.study.children import interrupt_on_signals
    from hasp.study.run import Runner

    runner = Runner(plan)
    study = _new_study(plan)
    interrupt_on_signals()
    ending: HaspError | Interrupted | None = None
    writer = _writer(arguments.json)
    try:
        _carry_out(runner, study, writer)
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


def plan_of(arguments: argparse.Namespace) -> Plan:
    """The plan that the options describe; an error for what does not fit together."""
    import random

    from hasp import native
    from hasp.selection import select
    from hasp.study.plan import THREADS_MARK, Plan, parse_ready

    if not arguments.command:
        raise HaspError(
            "which program should be compared?",
            "for example: hasp compare -- ./program",
        )
    if (arguments.server is None) != (arguments.ready is None):
        raise HaspError(
            "--server and --ready belong together",
            "for example: --server './server -p 8080' --ready tcp:8080",
        )
    lines = [*arguments.command, arguments.server or ""]
    mentioned = any(THREADS_MARK in line for line in lines)
    if arguments.threads and not mentioned:
        raise HaspError(
            f"--threads is given, but {THREADS_MARK} is not in the command",
            f"write {THREADS_MARK} where the program takes its number of threads",
        )
    if mentioned and not arguments.threads:
        raise HaspError(
            f"{THREADS_MARK} is in the command, but --threads is not given",
            "for example: --threads 1,2,4",
        )
    chosen = [lock.name for lock in select(arguments.locks)]
    others = [name for name in chosen if name != native.REFERENCE]
    seed = arguments.seed
    return Plan(
        command=tuple(arguments.command),
        locks=(native.REFERENCE, *others),
        threads=arguments.threads or (None,),
        runs=arguments.runs,
        warmup=arguments.warmup,
        seed=random.SystemRandom().randrange(1 << 31) if seed is None else seed,
        timeout_s=arguments.timeout,
        metrics=_distinct(arguments.metrics or []),
        prepare=arguments.prepare,
        check=arguments.check,
        server=arguments.server,
        ready=parse_ready(arguments.ready) if arguments.ready else None,
    )


def _distinct(metrics: list[Metric]) -> tuple[Metric, ...]:
    from hasp.study.record import RESOURCES

    taken = {measure.name for measure in RESOURCES}
    for metric in metrics:
        if metric.name in taken:
            raise HaspError(
                f"two measures are called {metric.name!r}",
                "name them apart: NAME=REGEX",
            )
        taken.add(metric.name)
    return tuple(metrics)


def _new_study(plan: Plan) -> Study:
    from datetime import datetime, timezone

    from hasp import host, native, version
    from hasp.study.store import Study, lock_facts

    return Study(
        plan=plan,
        host=host.facts().as_json(),
        locks=[lock_facts(native.lock(name)) for name in plan.locks],
        version=version(),
        started=datetime.now(timezone.utc).isoformat(timespec="seconds"),
    )


def _writer(destination: str | None) -> Writer | None:
    from hasp.study.store import Writer

    return Writer(destination) if destination else None


def _carry_out(runner: Any, study: Study, writer: Writer | None) -> None:
    from hasp.study.progress import Progress

    with runner, Progress(study.plan) as progress:
        study.peak_floor_bytes = runner.floor_bytes
        if writer:
            writer.header(study)
        run: Run
        for run in runner.runs(progress.starting):
            study.runs.append(run)
            progress.finished(run, runner.given_up(run.cell))
            if writer:
                writer.run(run)


def _finish_json(study: Study, writer: Writer) -> None:
    from hasp.study.doubts import doubts
    from hasp.study.summary import as_json, summarise

    rows = summarise(study)
    found = [
        {"warning": doubt.kind, "words": doubt.words} for doubt in doubts(study, rows)
    ]
    writer.summary(as_json(rows), found)


def _report(study: Study, arguments: argparse.Namespace) -> int:
    """Print the tables and write the files; 1 when a lock failed."""
    from hasp.report import comparison
    from hasp.study.doubts import doubts
    from hasp.study.summary import summarise

    rows = summarise(study)
    found = doubts(study, rows)
    # Files first: a reader of stdout that goes away must not cost them.
    if arguments.csv:
        _write(arguments.csv, comparison.csv_text(study))
    if arguments.markdown:
        _write(arguments.markdown, comparison.markdown(study, rows, found))
    if arguments.plot:
        from hasp.plots.comparison import draw

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
    from hasp.study.store import load

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
