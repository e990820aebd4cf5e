# SPDX-License-Identifier: MIT
"""Figure of a prediction: throughput under each lock, and how busy the locks are."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from hasp.base.figures import add_legend, draw_curve, save, settings, style_axes
from hasp.predict.answer import Answer, Range
from hasp.predict.options import Options
from hasp.predict.saturation import SATURATED
from hasp.profile.model.profile import Profile
from hasp.profile.report.layout import shortened

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
        command = shortened(shlex.join(profile.command), COMMAND)
        machine = options.machine
        words = f"Simulated, not measured: {command} on {machine.name}"
        save(figure, f"{words}\n{machine.title}", path)


def _throughput(axes: Axes, answer: Answer) -> None:
    most = answer.threads[-1]
    curves = sorted(answer.curves, key=lambda curve: -curve.points[most].median)
    for number, curve in enumerate(curves):
        _curve(axes, number, curve.lock, curve.points)
    _style(axes, "times the recorded throughput")


def _busy(axes: Axes, answer: Answer) -> None:
    for number, site in enumerate(answer.load.sites):
        points = {count: ranges[number] for count, ranges in answer.busy.items()}
        name = "\n".join(wrap(site.name, LINE, max_lines=2, placeholder=" ..."))
        _curve(axes, number, name, points, 100)
    axes.axhline(100 * SATURATED, color="#d55e00", linewidth=0.8, linestyle=":")
    _style(axes, f"% of the time in use, under {answer.reference}")
    axes.set_xlabel("threads")
    axes.set_xlim(0, answer.threads[-1] * 1.02)


def _curve(
    axes: Axes, number: int, name: str, points: Mapping[int, Range], scale: float = 1
) -> None:
    """Draw the medians over the numbers of threads, and shade the ranges."""
    ranges = points.values()
    lows = [scale * one.low for one in ranges]
    highs = [scale * one.high for one in ranges]
    medians = [scale * one.median for one in ranges]
    draw_curve(axes, number, name, list(points), (lows, medians, highs))


def _style(axes: Axes, label: str) -> None:
    axes.set_ylim(0)
    axes.set_ylabel(label)
    style_axes(axes)
    add_legend(axes)
