# SPDX-License-Identifier: MIT
"""Prints slowdowns in 80 columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rich.console import Console
from rich.markup import escape

from hasp.base import output
from hasp.base.durations import three_digits
from hasp.lab.bench.overhead.figures import Figure
from hasp.lab.bench.runner import OK


def print_figures(console: Console, figures: Sequence[Figure]) -> None:
    """Print a table for each case."""
    for (_, threads, summary), of_case in groupby(
        figures, key=lambda figure: (figure.case, figure.threads, figure.summary)
    ):
        group = list(of_case)
        counted = "1 thread" if threads == 1 else f"{threads} threads"
        console.print(f"{group[0].case}, {counted}: {summary}", style="bold")
        table = output.table()
        table.add_column("profiled", min_width=10)
        for heading in ("value", "slowdown", "95 %", "reported", "allowed"):
            table.add_column(heading, justify="right", no_wrap=True, min_width=8)
        for figure in group:
            table.add_row(
                figure.profiling,
                _value(figure),
                _factor(figure.slowdown.value if figure.slowdown else None),
                _interval(figure),
                "" if figure.told is None else f"{figure.told:.1%}",
                _factor(figure.most if figure.slowdown else None),
            )
        console.print(table)
        for figure in group:
            if figure.outcome != OK:
                words = f"{figure.profiling}: {figure.outcome}: {figure.reason}"
                console.print(escape(words), style="red")
        console.print()


def print_targets(console: Console, figures: Sequence[Figure]) -> None:
    """Print how many limits are met, and describe the missed ones."""
    judged = [figure for figure in figures if figure.met is not None]
    missed = [figure for figure in judged if not figure.met]
    console.print(f"targets: {len(judged) - len(missed)} of {len(judged)} met")
    for figure in missed:
        what = f"{figure.case} ({figure.threads} threads), {figure.profiling}"
        console.print(f"missed: {what}", style="bold")
        if figure.slowdown is None:
            console.print(f"  {escape(figure.reason or 'not measured')}")
            continue
        doubt = "" if figure.clear else ", which the interval includes"
        console.print(
            f"  {_factor(figure.slowdown.value)} ({_interval(figure)}) times as long; "
            f"allowed: {_factor(figure.most)}{doubt}"
        )


def _value(figure: Figure) -> str:
    if figure.value is None:
        return "-"
    if figure.unit.endswith("/s") and figure.value >= 1e3:
        size, prefix = (1e6, "M") if figure.value >= 1e6 else (1e3, "k")
        return f"{three_digits(figure.value / size)} {prefix}/s"
    return f"{three_digits(figure.value)} {figure.unit}"


def _factor(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}" if value < 2 else three_digits(value)


def _interval(figure: Figure) -> str:
    slowdown = figure.slowdown
    if slowdown is None or slowdown.low is None or slowdown.high is None:
        return ""
    return f"{_factor(slowdown.low)} - {_factor(slowdown.high)}"
