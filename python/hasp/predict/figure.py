# SPDX-License-Identifier: MIT
"""Figure of a prediction: throughput under each lock, and how busy the locks are."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from hasp.base.figures import CURVE_COLOURS, MARKERS, metadata, settings
from hasp.base.files import replacing
from hasp.predict.answer import Answer, Range
from hasp.predict.options import Options
from hasp.predict.saturation import SATURATED
from hasp.profile.model.profile import Profile

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINE = 30  # characters of a legend's line
COMMAND = 60  # characters of the command


def draw(options: Options, profile: Profile, answer: Answer, path: Path) -> None:
    """Write the figure to `path`, in the format of its suffix."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(settings(9.5)):
        figure = Figure(figsize=(8.6, 6.4), layout="constrained")
        above, below = figure.subplots(2, sharex=True)
        _throughput(above, answer)
        _busy(below, answer)
        figure.suptitle(
            f"Simulated, not measured: {_short(shlex.join(profile.command))} on "
            f"{options.machine.name}\n{options.machine.title}",
            fontsize=9.5,
            x=0.01,
            ha="left",
        )
        with replacing(path) as file:
            figure.savefig(file, dpi=150, metadata=metadata(path))


def _throughput(axes: Axes, answer: Answer) -> None:
    most = answer.threads[-1]
    curves = sorted(answer.curves, key=lambda curve: -curve.points[most].median)
    for number, curve in enumerate(curves):
        counts = list(curve.points)
        _curve(axes, number, curve.lock, counts, [curve.points[n] for n in counts])
    _style(axes, "times the recorded throughput")


def _busy(axes: Axes, answer: Answer) -> None:
    counts = list(answer.busy)
    for number, site in enumerate(answer.load.sites):
        ranges = [answer.busy[n][number] for n in counts]
        in_percent = [
            Range(100 * one.median, 100 * one.low, 100 * one.high) for one in ranges
        ]
        name = "\n".join(wrap(site.name, LINE, max_lines=2, placeholder=" ..."))
        _curve(axes, number, name, counts, in_percent)
    axes.axhline(100 * SATURATED, color="#d55e00", linewidth=0.8, linestyle=":")
    _style(axes, f"% of the time in use, under {answer.reference}")
    axes.set_xlabel("threads")
    axes.set_xlim(0, answer.threads[-1] * 1.02)


def _curve(
    axes: Axes, number: int, name: str, counts: Sequence[int], ranges: Sequence[Range]
) -> None:
    """Draw the medians, and shade the range."""
    colour = CURVE_COLOURS[number % len(CURVE_COLOURS)]
    marker = MARKERS[number % len(MARKERS)]
    middle = [one.median for one in ranges]
    axes.plot(counts, middle, color=colour, marker=marker, markersize=4.5, label=name)
    lows, highs = [one.low for one in ranges], [one.high for one in ranges]
    axes.fill_between(counts, lows, highs, color=colour, alpha=0.15, linewidth=0)


def _style(axes: Axes, label: str) -> None:
    axes.set_ylim(0)
    axes.set_ylabel(label)
    axes.grid(color="#e4e4e4", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)


def _short(text: str) -> str:
    return text if len(text) <= COMMAND else f"{text[: COMMAND - 3]}..."
