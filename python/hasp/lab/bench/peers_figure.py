# SPDX-License-Identifier: MIT
"""The figure of `hasp bench messages`, `hash-table` and `transactions`: a panel for
each case, a row for each of Hasp's forms and each peer.

A dot is the median of the rounds, with its interval. Whether Hasp is ahead is judged by
the ratios within rounds: a machine that changes its speed widens the intervals of the
medians, but not those of the ratios.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from hasp.base.figures import COLOURS, UNCERTAIN, save, settings, style_axes, ticks
from hasp.lab.bench.interleaved import OWN, Benchmark, Named, Record, summarise
from hasp.statistics.ratio import Ratio

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OWN_COLOUR = "#0072b2"
# How a form stands: colour, marker, and words of the legend.
HASP, AHEAD, BEHIND, UNCLEAR = "hasp", "ahead", "behind", "unclear"
STANDINGS = {
    HASP: (OWN_COLOUR, "D", "a form of Hasp's"),
    AHEAD: (COLOURS["better"], "o", "Hasp is ahead of it"),
    BEHIND: (COLOURS["worse"], "s", "it is ahead of Hasp"),
    UNCLEAR: (UNCERTAIN, "^", "cannot tell"),
}
LEAST_SPAN = 6.0  # the factor between the ends of an axis
COLUMNS = 4


@dataclass(frozen=True)
class Form:
    """A form in a case: the median of its figure, the 95 % interval if there is one,
    and how it stands."""

    name: str
    median: float
    interval: tuple[float, float] | None
    standing: str


@dataclass(frozen=True)
class Panel:
    """A case: its name, its load in words, the form of Hasp's that the others are
    compared with, and a time for comparison."""

    name: str
    words: str
    forms: Sequence[Form]
    own: str = OWN
    mark: float | None = None


@dataclass(frozen=True)
class Picture:
    """A figure's heading, what its axes show, and what its marks are, if it has any."""

    heading: str
    axis: str
    panels: Sequence[Panel]
    marks: str = ""


def standing(name: str, ratio: Ratio | None) -> str:
    """Return how a form stands; `ratio` is above 1 if Hasp's is better."""
    if name.startswith(OWN):
        return HASP
    if ratio is None or not (ratio.above or ratio.below):
        return UNCLEAR
    return AHEAD if ratio.above else BEHIND


class Described(Named, Protocol):
    """A case that can say its load in words."""

    @property
    def words(self) -> str: ...


def heading_of(title: str, rounds: int, note: str = "") -> str:
    """Return a figure's heading; `note` follows the number of rounds."""
    return f"{title}\nmedians of {rounds} interleaved rounds with 95 % intervals{note}"


@dataclass(frozen=True)
class Labels:
    """What the figure of a benchmark says: its title, axis, and note."""

    title: str
    axis: str
    note: str = ""


def draw_benchmark(
    benchmark: Benchmark,
    cases: Sequence[Described],
    records: Sequence[Record],
    labels: Labels,
    path: Path,
) -> None:
    """Draw a panel for each case that has records, with a row for each subject."""
    words = {case.name: case.words for case in cases}
    rounds = len({record["run"] for record in records})
    heading = heading_of(labels.title, rounds, labels.note)
    panels = _panels_of(benchmark, records, words)
    draw_picture(Picture(heading, labels.axis, panels), path)


def _panels_of(
    benchmark: Benchmark, records: Sequence[Record], words: Mapping[str, str]
) -> list[Panel]:
    forms: dict[str, list[Form]] = {}
    for row in summarise(benchmark, records):
        found = standing(row.label, row.hasp_is)
        form = Form(row.label, row.median, row.interval, found)
        forms.setdefault(row.case, []).append(form)
    return [Panel(name, words[name], found) for name, found in forms.items()]


def draw_picture(picture: Picture, path: Path) -> None:
    """Write the figure to `path`, in the format of its suffix (.png or .svg)."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    panels = picture.panels
    columns = 2 if len(panels) == COLUMNS else min(COLUMNS, len(panels))
    lines = -(-len(panels) // columns)
    most = max(len(panel.forms) for panel in panels)
    width = max(7.5, 1.6 + (4.0 if columns == 2 else 3.0) * columns)
    size = (width, 1.3 + lines * (0.95 + 0.22 * most))
    with rc_context(settings(9)):
        figure = Figure(figsize=size, layout=ConstrainedLayoutEngine(w_pad=0.12))
        grid = figure.subplots(lines, columns, squeeze=False)
        _fill(list(grid.flatten()), columns, picture)
        _legend(figure, picture)
        save(figure, picture.heading, path, font_size=10, dpi=130)


def _fill(grid: Sequence[Axes], columns: int, picture: Picture) -> None:
    """Draw the panels; names that the first panel of a line has are not repeated."""
    order, panels = order_of(picture.panels), picture.panels
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    left: list[str] = []
    for number, (axes, panel) in enumerate(zip(grid, panels, strict=False)):
        names = _panel(axes, panel, order)
        first = number % columns == 0
        axes.set_yticks(range(len(names)), names)
        axes.tick_params(axis="y", length=0, labelleft=first or names != left)
        left = names if first else left
        if number + columns >= len(panels):
            axes.set_xlabel(picture.axis)


def order_of(panels: Sequence[Panel]) -> list[str]:
    """Return all names from top to bottom: Hasp's, then peers; each group in the order
    of the first panel that has it."""
    own = {form.name: form.standing == HASP for panel in panels for form in panel.forms}
    return sorted(own, key=lambda name: not own[name])


def _panel(axes: Axes, panel: Panel, order: Sequence[str]) -> list[str]:
    """Draw a panel; return its names from top to bottom."""
    forms = sorted(panel.forms, key=lambda form: order.index(form.name))
    low, high = _extent(panel)
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    shown = ticks(low, high)
    axes.set_xticks(shown, [f"{tick:g}" for tick in shown])
    axes.minorticks_off()
    axes.tick_params(axis="x", labelsize=8)
    style_axes(axes, "x")
    axes.set_ylim(len(forms) - 0.4, -0.6)
    for form in forms:
        if form.name == panel.own and form.median > 0:
            axes.axvline(form.median, color=OWN_COLOUR, linewidth=0.9, linestyle="--")
    if panel.mark:
        axes.axvline(panel.mark, color="#202020", linewidth=1.1, linestyle=":")
    for place, form in enumerate(forms):
        axes.axhline(place, color="#efefef", linewidth=0.6, zorder=0)
        _dot(axes, place, form, f"{panel.name} {form.name}")
    axes.set_title(panel.name, fontsize=9.5, loc="left", fontweight="bold", pad=16)
    axes.annotate(
        panel.words,
        (0, 1),
        (0, 4),
        xycoords="axes fraction",
        textcoords="offset points",
        fontsize=8.5,
    )
    return [form.name for form in forms]


def _extent(panel: Panel) -> tuple[float, float]:
    values = [panel.mark] if panel.mark else []
    for form in panel.forms:
        values += [form.median, *(form.interval or ())]
    known = [value for value in values if value > 0] or [1.0]
    low, high = min(known) / 1.3, max(known) * 1.3
    wider = max(1.0, LEAST_SPAN / (high / low)) ** 0.5
    return low / wider, high * wider


def _dot(axes: Axes, place: int, form: Form, identity: str) -> None:
    colour, marker, _ = STANDINGS[form.standing]
    if form.median > 0:
        axes.plot(
            [form.median],
            [place],
            marker,
            color=colour,
            markersize=5.5,
            gid="-".join(re.findall(r"\w+", identity)),
        )
    if form.interval is not None:
        least, _ = axes.get_xlim()
        ends = [max(bound, least) for bound in form.interval]
        axes.plot(ends, [place, place], color=colour, linewidth=1.8)
    axes.annotate(
        figure_text(form.median),
        (1, place),
        (4, 0),
        xycoords=axes.get_yaxis_transform(),
        textcoords="offset points",
        fontsize=8,
        va="center",
    )


def figure_text(value: float) -> str:
    """Return a figure with three digits, or two decimals if it is below 1."""
    decimals = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:.{decimals}f}"


def _legend(figure: Figure, picture: Picture) -> None:
    from matplotlib.lines import Line2D

    used = {form.standing for panel in picture.panels for form in panel.forms}
    handles: list[Any] = [
        Line2D([], [], linestyle="", marker=marker, color=colour, label=words)
        for name, (colour, marker, words) in STANDINGS.items()
        if name in used
    ]
    dashed = "the form that peers are compared with"
    handles.append(Line2D([], [], linestyle="--", color=OWN_COLOUR, label=dashed))
    if picture.marks:
        handles.append(
            Line2D([], [], linestyle=":", color="#202020", label=picture.marks)
        )
    figure.legend(
        handles=handles,
        loc="outside lower left",
        ncols=3 if len(picture.panels) <= COLUMNS else len(handles),
        frameon=False,
        fontsize=8.5,
    )
