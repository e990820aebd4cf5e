# SPDX-License-Identifier: MIT
"""The figure of a comparison: ratios to the reference with their intervals."""

from __future__ import annotations

import math
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from hasp.base.figures import (
    COLOURS,
    CURVE_COLOURS,
    MARKERS,
    UNCERTAIN,
    add_legend,
    save,
    settings,
    style_axes,
    ticks,
)
from hasp.compare.report import headline, interval, quantity, times
from hasp.compare.run_record import Measure
from hasp.compare.store import Comparison
from hasp.compare.summary import CellSummary, Estimate
from hasp.locks.native import REFERENCE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEWEST_FOR_CURVES = 3
MOST_CURVES = (
    14  # with more locks, bars are drawn because curves would be hard to follow
)
LOG_RANGE = 3.0  # ratios that differ by a larger factor get a log scale


def draw(comparison: Comparison, rows: list[CellSummary], path: Path) -> None:
    """Write the figure to `path`, in the format given by its suffix."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    counts = [count for count in comparison.settings.threads if count is not None]
    few = len(comparison.settings.locks) <= MOST_CURVES
    curves = few and len(counts) >= FEWEST_FOR_CURVES
    measures = comparison.judged
    columns = len(measures)
    lines = 1 if curves else len(comparison.settings.threads)
    if lines > 1 and columns == 1 and not few:
        lines, columns = columns, lines  # tall panels are placed side by side
    locks = len(comparison.settings.locks)
    panel = (6.4, 4.6) if curves else (6.0, 1.0 + 0.33 * locks)
    size = (max(8.0, panel[0] * columns), panel[1] * lines + 0.6)
    with rc_context(settings(9.5)):
        figure = Figure(figsize=size, layout="constrained")
        panels = figure.subplots(lines, columns, squeeze=False)
        for column, measure in enumerate(measures):
            if curves:
                _curves(panels[0][column], comparison, rows, measure)
                continue
            for line, count in enumerate(comparison.settings.threads):
                chosen = [row for row in rows if row.cell.threads == count]
                axes = panels[line % lines][column + line // lines]
                _bars(axes, chosen, measure)
                if len(comparison.settings.threads) > 1:
                    words = "1 thread" if count == 1 else f"{count} threads"
                    axes.set_title(
                        f"{_title(measure)}, {words}", fontsize=10.5, loc="left"
                    )
        subject, _, where = headline(comparison).partition("\n")
        wide = int(size[0] * 13)
        title = textwrap.shorten(subject, wide, placeholder=" ...")
        below = textwrap.shorten(where, wide, placeholder=" ...")
        save(figure, f"{title}\n{below}", path)


def _title(measure: Measure) -> str:
    better = "lower" if measure.lower_is_better else "higher"
    return f"{measure.name} ({better} is better)"


def _extent(entries: list[Estimate]) -> tuple[float, float]:
    """Return the smallest and the largest value of the axis, bounds included."""
    values = [1.0]
    for entry in entries:
        if entry.ratio is not None:
            bounds = (entry.ratio.value, entry.ratio.low, entry.ratio.high)
            values += [v for v in bounds if v is not None and 0 < v < math.inf]
    return min(values), max(values)


def _bars(axes: Axes, rows: list[CellSummary], measure: Measure) -> None:
    """One bar for each lock, from 1.0 (glibc) to its ratio."""
    rows = list(reversed(rows))
    entries = [row.entry(measure) for row in rows]
    low, high = _extent(entries)
    logarithmic = high / low > LOG_RANGE
    if logarithmic:
        low, high = low / 1.35, high * 1.35
        axes.set_xscale("log")
        marks = ticks(low, high)
        axes.set_xticks(marks, [f"{tick:g}" for tick in marks])
        axes.minorticks_off()
    else:
        margin = 0.06 * max(high - low, 0.1)
        low, high = low - margin, high + margin
    axes.set_xlim(low, high)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    style_axes(axes, "x")
    for index, (row, entry) in enumerate(zip(rows, entries, strict=True)):
        _bar(axes, index, row, entry)
    axes.axvline(1.0, color="#202020", linewidth=1.2)
    axes.set_yticks(range(len(rows)), [row.cell.lock for row in rows])
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(f"ratio to {REFERENCE}, with 95 % interval (grey: cannot tell)")
    axes.set_title(_title(measure), fontsize=10.5, loc="left")


def _bar(axes: Axes, place: int, row: CellSummary, entry: Estimate) -> None:
    margin = axes.get_yaxis_transform()
    median = quantity(entry.median, entry.measure.unit)
    unit = entry.measure.unit if entry.measure.unit not in ("s", "bytes") else ""
    if row.is_reference:
        words = f"{median} {unit}".strip()
    elif entry.ratio is None or not 0 < entry.ratio.value < math.inf:
        words = " and ".join(row.failures) or "not measured"
        right = _more_space_right(axes)  # the side of the line with more space
        axes.annotate(
            words,
            (1.0, place),
            xytext=(8 if right else -8, 0),
            textcoords="offset points",
            color=COLOURS["worse"],
            fontweight="bold",
            va="center",
            ha="left" if right else "right",
        )
        return
    else:
        ratio = entry.ratio
        colour = COLOURS.get(entry.verdict, UNCERTAIN)
        axes.barh(place, ratio.value - 1.0, left=1.0, height=0.62, color=colour)
        if ratio.low is not None and ratio.high is not None:
            axes.plot(
                [max(ratio.low, 1e-9), min(ratio.high, 1e9)],
                [place, place],
                color="#202020",
                linewidth=1.4,
                marker="|",
                markersize=6,
            )
        bounds = interval(ratio)
        words = f"{times(ratio)}  ({bounds})" if bounds else times(ratio)
        if row.failures:
            words += f"  {' and '.join(row.failures)} in {sum(row.failures.values())}"
    axes.text(1.02, place, words, transform=margin, va="center", fontsize=9)


def _more_space_right(axes: Axes) -> bool:
    low, high = axes.get_xlim()
    if axes.get_xscale() == "log":
        return math.log(high) >= -math.log(low)
    return high - 1.0 >= 1.0 - low


def _curves(
    axes: Axes, comparison: Comparison, rows: list[CellSummary], measure: Measure
) -> None:
    """One curve for each lock over the number of threads, with a shaded interval."""
    entries = [row.entry(measure) for row in rows]
    low, high = _extent(entries)
    if high / low > LOG_RANGE:
        low, high = low / 1.3, high * 1.3
        axes.set_yscale("log")
        marks = ticks(low, high)
        axes.set_yticks(marks, [f"{tick:g}" for tick in marks])
    else:
        margin = 0.08 * max(high - low, 0.1)
        low, high = low - margin, high + margin
    axes.set_ylim(low, high)
    counts = [count for count in comparison.settings.threads if count is not None]
    axes.set_xscale("log")
    axes.set_xticks(counts, [str(count) for count in counts])
    axes.minorticks_off()
    style_axes(axes)
    axes.axhline(1.0, color="#202020", linewidth=1.4, label=f"{REFERENCE} = 1")
    others = [lock for lock in comparison.settings.locks if lock != REFERENCE]
    for number, lock in enumerate(others):
        colour = CURVE_COLOURS[number % len(CURVE_COLOURS)]
        own = {row.cell.threads: row for row in rows if row.cell.lock == lock}
        _curve(axes, own, counts, measure, colour, MARKERS[number % len(MARKERS)], lock)
    _say_failures(axes, rows, counts)
    axes.set_xlabel("threads")
    axes.set_ylabel(f"ratio to {REFERENCE}, with 95 % interval")
    axes.set_title(_title(measure), fontsize=10.5, loc="left")
    add_legend(axes)


def _curve(
    axes: Axes,
    rows: dict[int | None, CellSummary],
    counts: list[int],
    measure: Measure,
    colour: str,
    marker: str,
    lock: str,
) -> None:
    places, values, lows, highs = [], [], [], []
    for count in counts:
        row = rows.get(count)
        ratio = row.entry(measure).ratio if row else None
        good = ratio is not None and 0 < ratio.value < math.inf
        places.append(count)
        values.append(ratio.value if ratio and good else math.nan)
        lows.append(ratio.low if ratio and good and ratio.low else math.nan)
        highs.append(ratio.high if ratio and good and ratio.high else math.nan)
    axes.plot(places, values, color=colour, marker=marker, markersize=5, label=lock)
    axes.fill_between(places, lows, highs, color=colour, alpha=0.15, linewidth=0)


def _say_failures(axes: Axes, rows: list[CellSummary], counts: list[int]) -> None:
    """Write the locks that failed at the bottom of the panel, by number of threads."""
    for count in counts:
        failed = [
            f"{row.cell.lock}: {' and '.join(row.failures)}"
            for row in rows
            if row.cell.threads == count and row.failures
        ]
        if failed:
            axes.annotate(
                "\n".join(failed),
                (count, 0.02),
                xycoords=axes.get_xaxis_transform(),
                color=COLOURS["worse"],
                fontsize=7.5,
                ha="center"
                if counts[0] < count < counts[-1]
                else "left"
                if count == counts[0]
                else "right",
                va="bottom",
            )
