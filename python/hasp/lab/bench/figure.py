# SPDX-License-Identifier: MIT
"""The figure of `hasp bench locks` and of the other kinds: ratios to glibc, a panel per
case.

Locks are grouped by family and sorted by the first panel's ratio, so that a row shows
one lock in all panels. A tick marks the target of a lock.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hasp.base.figures import COLOURS, UNCERTAIN, save, settings, style_axes, ticks
from hasp.lab.bench.cases import BATON, GLIBC, Case
from hasp.lab.bench.judge import limit_of
from hasp.lab.bench.rows import Row
from hasp.lab.bench.runner import FAILED, HANG
from hasp.lab.bench.targets import BATON_RATIO, RATIO
from hasp.locks.kinds import MUTEX, kind_of
from hasp.locks.native import LockInfo

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The most informative cases. If none was measured, the first cases are drawn.
PANELS = (
    # case, threads (None: any number)
    ("uncontended", 2),
    ("contended", None),
    ("oversubscribed", None),
    ("trylock_hammer", None),
    ("read_pair", 2),
    ("write_pair", 2),
    ("reads_100", 2),
    ("reads_99", 8),
    ("reads_90", 8),
    ("reads_50", 8),
    ("spin_pair", 2),
    ("spin", None),
    ("barrier", None),
)
PANELS_MOST = 6
TARGET_COLOUR = "#0072b2"
# Ratios beyond these are drawn as arrows at the edge to keep the rest readable.
LEAST, MOST = 0.004, 120.0

NARROW = 6.0  # an axis that spans less than this factor gets FINE_TICKS
FINE_TICKS = [0.3, 0.4, 0.5, 0.65, 0.8, 1.0, 1.25, 1.6, 2.0, 2.5, 3.0]

Lines = list[tuple[str, str]]  # from top to bottom: family, lock


def draw(
    rows: Sequence[Row],
    locks: Sequence[LockInfo],
    path: Path,
    words: str,
    *,
    biased: bool,
) -> None:
    """Write the figure to `path`, in the format of its suffix (.png or .svg)."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    cases = panels_of(rows)
    lines = lines_of(rows, locks, cases)
    by_name = {lock.name: lock for lock in locks}
    families = len({family for family, _ in lines})
    height = 1.9 + 0.19 * (len(lines) + 0.9 * families)
    size = (2.0 + 2.75 * len(cases), max(3.2, height))
    with rc_context(settings(9)):
        figure = Figure(figsize=size, layout="constrained")
        panels = figure.subplots(1, len(cases), squeeze=False, sharey=True)[0]
        places = places_of(lines)
        for axes, case in zip(panels, cases, strict=True):
            of_case = {row.lock: row for row in rows if row.case == case}
            _panel(axes, case, of_case, places, by_name, biased)
        _label_locks(panels[0], places)
        _legend(figure, columns=5 if len(cases) > 2 else 3)
        title = textwrap.shorten(words, int(size[0] * 15), placeholder=" ...")
        heading = f"{heading_of(cases)}: ratios with 95 % intervals"
        save(figure, f"{heading}\n{title}", path, font_size=10, dpi=130)


def heading_of(cases: Sequence[Case]) -> str:
    """Return the subject of the figure: `Locks beside glibc's mutex`."""
    kind = kind_of(cases[0].kind) if cases else MUTEX
    nouns = "Locks" if kind is MUTEX else kind.nouns.capitalize()
    return f"{nouns} beside glibc's{' mutex' if kind is MUTEX else ''}"


def panels_of(rows: Sequence[Row]) -> list[Case]:
    """Return the cases to draw, in the order of PANELS."""
    cases = list(dict.fromkeys(row.case for row in rows if row.ratio is not None))
    chosen = [
        case
        for name, threads in PANELS
        for case in cases
        if case.name == name and threads in (None, case.threads)
    ]
    return (chosen or cases)[:PANELS_MOST]


def lines_of(
    rows: Sequence[Row], locks: Sequence[LockInfo], cases: Sequence[Case]
) -> Lines:
    """Return the locks by family, sorted from the cheapest to the most expensive."""
    first = {row.lock: row for row in rows if cases and row.case == cases[0]}
    measured = {row.lock for row in rows} - {BATON}
    families = {lock.name: lock.category for lock in locks}
    order = list(dict.fromkeys(lock.category for lock in locks))

    def key(name: str) -> tuple[int, float, str]:
        row = first.get(name)
        ratio = row.ratio.value if row and row.ratio else math.inf
        if not cases[0].lower_is_better:
            ratio = -ratio
        family = families.get(name)
        return (order.index(family) if family else -1, ratio, name)

    names = sorted(measured - {GLIBC}, key=key)
    return [(families.get(name, "for comparison"), name) for name in names]


def places_of(lines: Lines) -> dict[str, float]:
    """Return the vertical position of each line, with gaps between families.

    Headings of families are included as `family:`.
    """
    places: dict[str, float] = {}
    place, before = 0.0, ""
    for family, name in lines:
        if family != before:
            place -= 0.3
            places[f"{family}:"] = place
            place -= 1.0
            before = family
        places[name] = place
        place -= 1.0
    return places


def _label_locks(axes: Axes, places: dict[str, float]) -> None:
    axes.set_yticks(list(places.values()), list(places))
    for label in axes.get_yticklabels():
        if label.get_text().endswith(":"):
            label.set_fontweight("bold")
    axes.set_ylim(min(places.values()) - 0.7, 0.3)


def _panel(
    axes: Axes,
    case: Case,
    rows: dict[str, Row],
    places: dict[str, float],
    locks: dict[str, LockInfo],
    biased: bool,
) -> None:
    low, high = _extent(list(rows.values()))
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    shown = ticks(low, high) if high / low > NARROW else FINE_TICKS
    shown = [tick for tick in shown if low <= tick <= high]
    axes.set_xticks(shown, [f"{tick:g}" for tick in shown])
    axes.minorticks_off()
    axes.tick_params(axis="x", labelsize=8)
    axes.tick_params(axis="y", length=0)
    style_axes(axes, "x")
    axes.axvline(1.0, color="#202020", linewidth=1.1)
    for name, place in places.items():
        if name.endswith(":"):
            axes.axhspan(place - 0.5, place + 0.5, color="#f2f2f2", linewidth=0)
            continue
        axes.axhline(place, color="#efefef", linewidth=0.6, zorder=0)
        row = rows.get(name)
        if row is not None and name != GLIBC:
            _dot(axes, place, row, locks.get(name), biased)
    better = "lower" if case.lower_is_better else "higher"
    axes.set_title(
        f"{case.name}\n{case.load}, {better} is better", fontsize=9.5, loc="left"
    )


def _extent(rows: Sequence[Row]) -> tuple[float, float]:
    values = [0.8, 1.25]
    for row in rows:
        if row.ratio is not None and 0 < row.ratio.value < math.inf:
            values.append(min(max(row.ratio.value, LEAST), MOST))
            # Include the ends of intervals unless they would compress everything else.
            for end in (row.ratio.low, row.ratio.high):
                if end is not None and row.ratio.value / 3 < end < row.ratio.value * 3:
                    values.append(min(max(end, LEAST), MOST))
    return min(values) / 1.35, max(values) * 1.35


def _dot(
    axes: Axes, place: float, row: Row, lock: LockInfo | None, biased: bool
) -> None:
    low, high = axes.get_xlim()
    target, missed = _target(row, lock, biased)
    if target is not None:
        axes.plot([target], [place], "|", color=TARGET_COLOUR, markersize=9, mew=1.8)
    ratio = row.ratio
    if row.outcome in (HANG, FAILED) or ratio is None or ratio.value <= 0:
        edge = high if row.case.lower_is_better else low
        axes.annotate(
            row.outcome,
            (edge, place),
            color=COLOURS["worse"],
            fontsize=7.5,
            fontweight="bold",
            va="center",
            ha="right" if row.case.lower_is_better else "left",
        )
        return
    colour = _colour(row)
    value = min(max(ratio.value, low * 1.08), high / 1.08)
    if ratio.low is not None and ratio.high is not None:
        ends = [min(max(bound, low), high) for bound in (ratio.low, ratio.high)]
        axes.plot(ends, [place, place], color=colour, linewidth=1.6)
    marker = "o"
    if ratio.value < low or ratio.value > high:
        marker = "<" if ratio.value < low else ">"
    axes.plot(
        [value],
        [place],
        marker,
        color=colour,
        markersize=5,
        markeredgecolor="#000000" if missed else colour,
        markeredgewidth=1.2,
    )


def _colour(row: Row) -> str:
    ratio = row.ratio
    if ratio is None or not (ratio.above or ratio.below):
        return UNCERTAIN
    good = ratio.below if row.case.lower_is_better else ratio.above
    return COLOURS["better" if good else "worse"]


def _target(row: Row, lock: LockInfo | None, biased: bool) -> tuple[float | None, bool]:
    """Return the lock's target ratio to glibc, and whether it misses it."""
    if lock is None or row.ratio is None:
        return None, False
    limit = limit_of(row, lock, RATIO, biased=biased)
    if limit is None:
        baton = limit_of(row, lock, BATON_RATIO, biased=biased)
        if baton is None or not row.baton_ratio or row.baton_ratio.value <= 0:
            return None, False
        # Convert the limit to this axis: the ratio of the ring to glibc.
        limit = baton * row.ratio.value / row.baton_ratio.value
    if row.case.lower_is_better:
        return limit, row.ratio.value > limit
    return limit, row.ratio.value < limit


def _legend(figure: Any, columns: int) -> None:
    from matplotlib.lines import Line2D

    def dot(colour: str, words: str, edge: str = "") -> Line2D:
        return Line2D(
            [],
            [],
            marker="o",
            linestyle="",
            color=colour,
            markeredgecolor=edge or colour,
            label=words,
        )

    figure.legend(
        handles=[
            dot(COLOURS["better"], "better than glibc"),
            dot(COLOURS["worse"], "worse"),
            dot(UNCERTAIN, "cannot tell"),
            Line2D(
                [],
                [],
                marker="|",
                linestyle="",
                color=TARGET_COLOUR,
                markersize=9,
                markeredgewidth=1.8,
                label="target",
            ),
            dot("#ffffff", "black edge: misses its target", edge="#000000"),
        ],
        loc="outside lower left",
        ncols=columns,
        frameon=False,
        fontsize=8.5,
    )
