# SPDX-License-Identifier: MIT
"""How options of a study are read: numbers, thread counts, and metrics."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from hasp.errors import HaspError

if TYPE_CHECKING:
    from hasp.study.plan import Metric


class AddMetric(argparse.Action):
    """--metric: begins a metric that the next --unit and --lower-is-better describe."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        from hasp.study.plan import parse_metric

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
