# SPDX-License-Identifier: MIT
"""Parse the options of a comparison: numbers, thread counts, and metrics."""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hasp.base.durations import duration_argument
from hasp.base.errors import HaspError
from hasp.base.output import quoted

if TYPE_CHECKING:
    from hasp.compare.settings import Metric, Settings


class AddMetric(argparse.Action):
    """--metric: adds a metric, which the next --unit and --lower-is-better describe."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        from hasp.compare.settings import parse_metric

        metrics: list[Metric] = list(namespace.metrics or ())
        metrics.append(parse_metric(values, len(metrics) + 1))
        namespace.metrics = metrics


class DescribeMetric(argparse.Action):
    """--unit and --lower-is-better: describe the preceding --metric."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        import dataclasses

        if not namespace.metrics:
            raise HaspError(
                f"{option_string} comes before any --metric",
                "write it after the --metric that it describes",
            )
        change = {self.dest: values if self.dest == "unit" else True}
        metrics = list(namespace.metrics)
        metrics[-1] = dataclasses.replace(metrics[-1], **change)
        namespace.metrics = metrics


def positive(text: str) -> int:
    """Parse an integer of at least 1."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return value


def natural(text: str) -> int:
    """Parse an integer of at least 0."""
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is negative")
    return value


def thread_counts(text: str) -> tuple[int, ...]:
    """Parse integers of at least 1, separated by commas; drop duplicates."""
    try:
        counts = tuple(positive(word) for word in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{quoted(text)} is not a list of numbers; write for example 1,2,4"
        ) from None
    return tuple(dict.fromkeys(counts))


def add_measuring_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that control the runs of a program and their measures."""
    _add_round_options(parser)
    add_single_run_options(parser)


def add_single_run_options(
    parser: argparse.ArgumentParser, usual_timeout: str = "60s"
) -> None:
    """Add those options except the number of rounds."""
    _add_run_options(parser, usual_timeout)
    figures = parser.add_argument_group("the program's own figures")
    add = figures.add_argument
    add(
        "--metric",
        action=AddMetric,
        dest="metrics",
        metavar="[NAME=]REGEX",
        help="a figure in the output: first group of the last match; may be repeated",
    )
    add("--unit", action=DescribeMetric, metavar="UNIT", help="unit of that metric")
    add(
        "--lower-is-better",
        action=DescribeMetric,
        nargs=0,
        help="that metric is a time or a cost, not a rate",
    )
    around = parser.add_argument_group("around each run (run natively, in the shell)")
    add = around.add_argument
    add("--prepare", metavar="CMD", help="command to run before each run, not measured")
    add(
        "--check",
        metavar="CMD",
        help="command that gets the run's stdout on stdin (and its file's name in "
        "HASP_OUTPUT); a non-zero status means different output",
    )
    add(
        "--server",
        metavar="CMD",
        help="server to run under the lock; COMMAND is then its load, run natively",
    )
    add(
        "--ready",
        metavar="HOW",
        help="when the server is ready: tcp:PORT, tcp:HOST:PORT, file:PATH, or a time",
    )


def _add_round_options(parser: argparse.ArgumentParser) -> None:
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
        help="warm-up runs of each lock, which do not count (default: 1)",
    )


def _add_run_options(parser: argparse.ArgumentParser, usual_timeout: str) -> None:
    add = parser.add_argument
    add(
        "--threads",
        type=thread_counts,
        metavar="LIST",
        help="numbers of threads, such as 1,2,4, which replace {threads} everywhere",
    )
    add(
        "--timeout",
        type=duration_argument,
        default=60.0,
        metavar="TIME",
        help=f"time after which a run counts as hung (default: {usual_timeout})",
    )
    add(
        "--seed",
        type=natural,
        metavar="N",
        help="seed for the order of the runs (default: a new one each time)",
    )


def mentions_threads(arguments: argparse.Namespace) -> bool:
    """Return true if the command or the server takes a number of threads."""
    from hasp.compare.settings import THREADS_MARK

    lines = [*arguments.command, arguments.server or ""]
    return any(THREADS_MARK in line for line in lines)


def settings_of(arguments: argparse.Namespace, locks: Sequence[str]) -> Settings:
    """Return the settings from the options; raise HaspError if options conflict."""
    from hasp.compare.settings import THREADS_MARK, Settings
    from hasp.launch.ready import parse_ready
    from hasp.locks import native

    if (arguments.server is None) != (arguments.ready is None):
        raise HaspError(
            "--server and --ready belong together",
            "for example: --server './server -p 8080' --ready tcp:8080",
        )
    mentioned = mentions_threads(arguments)
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
    others = [name for name in locks if name != native.REFERENCE]
    seed = arguments.seed
    return Settings(
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
    from hasp.compare.run_record import RESOURCES

    taken = {measure.name for measure in RESOURCES}
    for metric in metrics:
        if metric.name in taken:
            raise HaspError(
                f"two measures are called {quoted(metric.name)}",
                "give each its own name: NAME=REGEX",
            )
        taken.add(metric.name)
    return tuple(metrics)
