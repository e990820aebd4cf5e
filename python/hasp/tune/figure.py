# SPDX-License-Identifier: MIT
"""The figure of a race: every candidate that ran, beside glibc's lock."""

from __future__ import annotations

import math
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from hasp.base.figures import COLOURS, UNCERTAIN, save, settings, style_axes, ticks
from hasp.compare.report import headline, quantity, ratio_text
from hasp.compare.run_record import Measure
from hasp.locks.native import REFERENCE
from hasp.tune.answer import BEHIND, BEST, Answer, Row, measures_of
from hasp.tune.report import best_words, ending_words, name_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOG_RANGE = 3.0  # medians that differ by a larger factor get a log scale
MOST_ROWS = 24


def draw(answer: Answer, path: Path) -> None:
    """Write the figure to `path`, in the format given by its suffix."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    rows = [row for row in answer.rows if row.runs and row.medians]
    rows = list(reversed(rows[:MOST_ROWS]))
    measures = measures_of(answer.contest)
    size = (max(8.0, 5.2 * len(measures)), 1.6 + 0.3 * len(rows))
    with rc_context(settings(9.5)):
        figure = Figure(figsize=size, layout="constrained")
        panels = figure.subplots(1, len(measures), squeeze=False, sharey=True)
        for axes, measure in zip(panels[0], measures, strict=True):
            _panel(axes, answer, rows, measure)
        subject, _, where = headline(answer.contest.comparison).partition("\n")
        wide = int(size[0] * 13)
        lines = (subject, where, f"{best_words(answer)} {ending_words(answer)}")
        shown = (textwrap.shorten(line, wide, placeholder=" ...") for line in lines)
        save(figure, "\n".join(shown), path)


def _short(mark: float) -> str:
    """A tick's label, such as 300 k: neighbours must not overlap."""
    for factor, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if mark >= factor:
            return f"{mark / factor:g}{unit}"
    return f"{mark:g}"


def _panel(axes: Axes, answer: Answer, rows: list[Row], measure: Measure) -> None:
    """A bar for the median of each row, and a dot for each run."""
    medians = [row.medians.get(measure.name) for row in rows]
    positive = [value for value in medians if value is not None and value > 0]
    if not positive:
        return
    if max(positive) / min(positive) > LOG_RANGE:
        low, high = min(positive) / 1.5, max(positive) * 1.6
        axes.set_xscale("log")
        marks = ticks(low, high)
        axes.set_xticks(marks, [_short(mark) for mark in marks])
        axes.minorticks_off()
    else:
        low, high = 0.0, max(positive) * 1.12
    axes.set_xlim(low, high)
    reference = _reference(answer, measure)
    for place, (row, median) in enumerate(zip(rows, medians, strict=True)):
        if median is None:
            continue
        colour = {BEST: COLOURS["better"], BEHIND: COLOURS["worse"]}.get(
            row.standing, UNCERTAIN
        )
        start = low if low else 0.0
        axes.barh(place, median - start, left=start, height=0.62, color=colour)
        runs = answer.contest.runs_of(row.cell)
        values = [value for run in runs if (value := run.value(measure)) is not None]
        axes.plot(values, [place] * len(values), ".", color="#202020", markersize=3)
        words = quantity(median, measure.unit)
        if reference and row.cell.lock != REFERENCE and not math.isinf(median):
            words += f"  ({ratio_text(median / reference)} x)"
        axes.text(1.01, place, words, transform=axes.get_yaxis_transform(), va="center")
    if reference:
        axes.axvline(reference, color="#202020", linewidth=1.2)
    names = [f"{name_of(answer, row.cell)}  ({row.runs})" for row in rows]
    axes.set_yticks(range(len(rows)), names)
    axes.tick_params(axis="y", length=0)
    better = "lower" if measure.lower_is_better else "higher"
    unit = f", {measure.unit}" if measure.unit else ""
    axes.set_title(
        f"{measure.name}{unit} ({better} is better)", fontsize=10.5, loc="left"
    )
    axes.set_xlabel(f"medians and (number of) runs; line: {REFERENCE}")
    style_axes(axes, "x")


def _reference(answer: Answer, measure: Measure) -> float | None:
    """The median of the reference at the number of threads of the best candidate."""
    threads = answer.best.cell.threads if answer.best else None
    for row in answer.rows:
        if row.cell.lock == REFERENCE and row.cell.threads == threads:
            return row.medians.get(measure.name)
    return None
