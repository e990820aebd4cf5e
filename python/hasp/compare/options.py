# SPDX-License-Identifier: MIT
"""How options of a study are read: numbers, thread counts, and metrics."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from hasp.base.durations import duration_argument
from hasp.base.errors import HaspError

if TYPE_CHECKING:
    from hasp.compare.settings import Metric


class AddMetric(argparse.Action):
    """--metric: begins a metric that the next --unit and --lower-is-better describe."""

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
    """--unit and --lower-is-better: about the metric before them."""

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
                f"{option_string} stands before any --metric",
                "write it after the --metric that it describes",
            )
        change = {self.dest: values if self.dest == "unit" else True}
        metrics = list(namespace.metrics)
        metrics[-1] = dataclasses.replace(metrics[-1], **change)
        namespace.metrics = metrics


def positive(text: str) -> int:
    """A number from 1."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return value


def natural(text: str) -> int:
    """A number from 0."""
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is negative")
    return value


def thread_counts(text: str) -> tuple[int, ...]:
    """Different numbers from 1, separated by commas."""
    try:
        counts = tuple(positive(word) for word in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no list of numbers; write for example 1,2,4"
        ) from None
    return tuple(dict.fromkeys(counts))


def add_measuring_options(parser: argparse.ArgumentParser) -> None:
    """How often and how a program is run, and what of its output is measured."""
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
