# SPDX-License-Identifier: MIT
"""The figures of a study: scalability, coverage and harm, locks on programs, lock
against lock, and one metric against another (Figures 4 and 6 of "Lock - Unlock: Is That
All?", ACM TOCS 2019)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy

from hasp.base.figures import COLOURS, CURVE_COLOURS, MARKERS, metadata, settings
from hasp.base.files import replacing
from hasp.statistics.grid import Array, best_of
from hasp.study.report.summary import Summary, ranking, stem

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("png", "svg", "pdf")
MOST_PANELS = 8  # panels of scalability, one for each program
TOP_CURVES = 5  # curves in each, besides the worst lock and the reference
MOST_NAMED = 30  # programs in a legend
POINT_NAMES = {"one": "smallest size", "max": "largest size", "opt": "best size"}


def draw_all(
    summary: Summary, others: list[Summary], folder: Path, formats: list[str]
) -> list[Path]:
    """Write every figure of a summary; `others` are other metrics of its machine."""
    written = []
    figures: list[tuple[str, Callable[[], Figure]]] = []
    if summary.sensitive.any():
        figures += [
            ("coverage", lambda: coverage(summary)),
            ("programs", lambda: locks_on_programs(summary)),
            ("superiority", lambda: lock_against_lock(summary)),
        ]
        if len(summary.grid.sizes) > 1:
            figures.append(("scalability", lambda: scalability(summary)))
    for other in others:
        name = f"against-{other.metric}".replace("/", "_")
        figures.append((name, lambda other=other: against(summary, other)))  # type: ignore[misc]
    for name, make in figures:
        from matplotlib import rc_context

        with rc_context(settings(9.0)):
            figure = make()
            _lay_out(figure)
            for kind in formats:
                path = folder / f"{stem(summary)}-{name}.{kind}"
                with replacing(path) as file:
                    _save(figure, file)
                written.append(path)
    return written


def _lay_out(figure: Figure) -> None:
    """Compute the layout once for all formats, because it takes most of the time."""
    figure.dpi = 150
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine("none")


def _save(figure: Figure, path: Path) -> None:
    """Like savefig, without an extra drawing pass to measure the figure."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_pdf import FigureCanvasPdf
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    if path.suffix == ".svg":
        canvas = FigureCanvasSVG(figure)
        canvas.print_svg(path, metadata=metadata(path))  # type: ignore[no-untyped-call]
    elif path.suffix == ".pdf":
        FigureCanvasPdf(figure).print_pdf(path)  # type: ignore[no-untyped-call]
    else:
        FigureCanvasAgg(figure).print_png(path)  # type: ignore[no-untyped-call]


def _figure(width: float, height: float, title: str) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    axes.set_title(title, loc="left", fontsize=10)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return figure, axes


def coverage(summary: Summary, point: str = "opt") -> Figure:
    """The shares of programs on which each lock is among the best, and harmful."""
    figure, axes = _figure(
        8,
        4,
        f"{summary.machine}, {summary.metric}, each lock at its {POINT_NAMES[point]}",
    )
    order = ranking(summary.coverage[point])
    places = numpy.arange(len(order))
    for shift, (name, values, colour) in enumerate(
        (
            ("within 5 % of the best", summary.coverage[point], COLOURS["better"]),
            ("over 15 % behind", summary.harmful[point], COLOURS["worse"]),
        )
    ):
        axes.bar(places + 0.4 * shift, values[order], 0.38, label=name, color=colour)
    axes.set_xticks(
        places + 0.2, [summary.grid.locks[index] for index in order], rotation=90
    )
    axes.set_ylabel("% of the lock-sensitive programs")
    axes.set_ylim(0, 100)
    axes.legend(frameon=False, ncols=2, loc="upper right")
    return figure


def _map(
    axes: Axes, figure: Figure, values: Array, rows: list[str], columns: list[str]
) -> None:
    image = axes.imshow(values, vmin=0, vmax=100, cmap="viridis", aspect="auto")
    axes.set_xticks(range(len(columns)), columns, rotation=90, fontsize=7)
    axes.set_yticks(range(len(rows)), rows, fontsize=7)
    figure.colorbar(image, ax=axes, label="%", fraction=0.03)


def locks_on_programs(summary: Summary, point: str = "max") -> Figure:
    """Return each lock's mean as a share of the program's best."""
    rows = [int(index) for index in numpy.flatnonzero(summary.sensitive)]
    figure, axes = _figure(
        8.5,
        1.8 + 0.17 * max(1, len(rows)),
        f"{summary.machine}, {summary.metric} at the {POINT_NAMES[point]}: "
        "% of the program's best",
    )
    means = summary.grid.at(point)[rows]
    _map(
        axes,
        figure,
        100 * means / best_of(means) if rows else means,
        [summary.grid.programs[index] for index in rows],
        list(summary.grid.locks),
    )
    return figure


def lock_against_lock(summary: Summary, point: str = "opt") -> Figure:
    """Return the percentage of programs on which the row's lock beats the column's."""
    locks = list(summary.grid.locks)
    size = 2.2 + 0.19 * len(locks)
    figure, axes = _figure(
        size + 0.8,
        size,
        f"{summary.machine}, {summary.metric} at the {POINT_NAMES[point]}: "
        "% of programs where the row beats the column",
    )
    _map(axes, figure, summary.superiority[point], locks, locks)
    return figure


def scalability(summary: Summary) -> Figure:
    """Return a panel for each lock-sensitive program, the most sensitive first.

    With many locks, a panel shows the best ones at the largest size, the worst, and the
    reference, each with the 95 % intervals of its means.
    """
    from matplotlib.figure import Figure

    grid, gains, spread = summary.grid, summary.gain["max"], summary.spread
    order = [index for index in ranking(gains) if summary.sensitive[index]]
    shown = order[:MOST_PANELS]
    columns = min(4, len(shown))
    lines = -(-len(shown) // columns)
    figure = Figure(figsize=(2.6 * columns + 0.6, 2.3 * lines), layout="constrained")
    panels = figure.subplots(lines, columns, squeeze=False).flatten()
    with numpy.errstate(divide="ignore"):
        values = 1 / grid.values if summary.inverted else grid.values
    for axes, program in zip(panels, shown, strict=False):
        locks = ranking(grid.at("max")[program])
        for index in locks:
            rank = locks.index(index)
            if rank < TOP_CURVES:
                style = {"color": CURVE_COLOURS[rank], "linewidth": 1.2}
            elif grid.locks[index] == summary.reference:
                style = {"color": "#000000", "linewidth": 1.6, "linestyle": "--"}
            elif index == locks[-1]:
                style = {"color": COLOURS["worse"], "linewidth": 1.2, "linestyle": ":"}
            else:
                continue
            known = ~numpy.isnan(values[program, index])
            means = values[program, index, known]
            axes.errorbar(
                numpy.asarray(grid.sizes)[known],
                means,
                yerr=means * numpy.nan_to_num(spread[program, index, known]),
                label=grid.locks[index],
                elinewidth=0.7,
                **style,
            )
        axes.set_title(grid.programs[program], loc="left", fontsize=8)
        used = ~numpy.isnan(values[program]).all(axis=0)
        axes.set_xticks(numpy.asarray(grid.sizes)[used])
        axes.set_ylim(bottom=0)
        axes.tick_params(labelsize=6)
        axes.legend(fontsize=5.5, frameon=False, handlelength=1.2, labelspacing=0.15)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    for axes in panels[len(shown) :]:
        axes.set_visible(False)
    better = "less" if summary.inverted else "more"
    figure.suptitle(
        f"{summary.machine}: {summary.metric} ({better} is better) by "
        f"{summary.size_unit}: the best {TOP_CURVES} locks, the worst"
        + (f", and {summary.reference}" if summary.reference else ""),
        fontsize=9,
        x=0.01,
        ha="left",
    )
    return figure


def against(summary: Summary, other: Summary, point: str = "max") -> Figure:
    """Each program and lock in two metrics, both as shares of the program's best.

    Programs are distinguished by colour, to show for which of them the metrics
    correlate.
    """
    figure, axes = _figure(
        7.5,
        5,
        f"{summary.machine}: {other.metric} against {summary.metric}, "
        f"{POINT_NAMES[point]}",
    )
    shares = [
        100 * one.grid.at(point) / best_of(one.grid.at(point))
        for one in (summary, other)
    ]
    programs = [name for name in summary.grid.programs if name in other.grid.programs]
    locks = [name for name in summary.grid.locks if name in other.grid.locks]
    for number, program in enumerate(programs):
        across, up = (
            part[
                one.grid.programs.index(program), list(map(one.grid.locks.index, locks))
            ]
            for part, one in zip(shares, (summary, other), strict=True)
        )
        axes.scatter(
            across,
            up,
            s=14,
            label=program,
            color=CURVE_COLOURS[number % len(CURVE_COLOURS)],
            marker=MARKERS[number // len(CURVE_COLOURS) % len(MARKERS)],
        )
    axes.set_xlabel(f"{summary.metric}, % of the best")
    axes.set_ylabel(f"{other.metric}, % of the best")
    if len(programs) <= MOST_NAMED:
        figure.legend(loc="outside right upper", fontsize=7, frameon=False)
    return figure
