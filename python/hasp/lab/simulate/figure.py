# SPDX-License-Identifier: MIT
"""Figure of a simulation: throughput by thread count, one curve for each lock."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from hasp.base.figures import (
    CURVE_COLOURS,
    add_legend,
    draw_curve,
    save,
    settings,
    style_axes,
    ticks,
)
from hasp.compare.figure import LOG_RANGE
from hasp.lab.simulate.job import OK, Record
from hasp.lab.simulate.machines.machine import Machine

if TYPE_CHECKING:
    from matplotlib.axes import Axes


LINES = ("-", "--", ":")  # when there are more locks than colours


def draw(
    machine: Machine, workload: str, records: Sequence[Record], path: Path
) -> None:
    """Write the figure to `path`, in the format of its suffix."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    done = [record for record in records if record["outcome"] == OK]
    with rc_context(settings(9.5)):
        figure = Figure(figsize=(8.0, 4.8), layout="constrained")
        axes = figure.subplots()
        _axes(axes, done)
        for number, (name, own) in enumerate(_by_name(done)):
            _curve(axes, number, name, own)
        _mark_places(axes, machine, max(record["threads"] for record in done))
        add_legend(axes)
        words = f"Simulated, not measured: {workload} on {machine.name}"
        save(figure, f"{words}\n{machine.title}", path)


def _by_name(records: list[Record]) -> list[tuple[str, list[Record]]]:
    groups = groupby(records, key=lambda record: record["lock"] or record["workload"])
    return [(name, list(own)) for name, own in groups]


def _axes(axes: Axes, records: list[Record]) -> None:
    values = [record["throughput_mops"] for record in records]
    low, high = min(values), max(values)
    if low > 0 and high / low > LOG_RANGE:
        low, high = low / 1.3, high * 1.3
        axes.set_yscale("log")
        marks = ticks(low, high)
        axes.set_yticks(marks, [f"{mark:g}" for mark in marks])
        axes.minorticks_off()
        axes.set_ylim(low, high)
    else:
        axes.set_ylim(0, high * 1.08)
    counts = sorted({record["threads"] for record in records})
    axes.set_xlim(0, max(counts) * 1.02)
    axes.set_xlabel("threads")
    axes.set_ylabel("million operations a second")
    style_axes(axes)


def _curve(axes: Axes, number: int, name: str, records: list[Record]) -> None:
    """Medians over the seeds, with the range shaded."""
    counts = sorted({record["threads"] for record in records})
    values = [
        [record["throughput_mops"] for record in records if record["threads"] == count]
        for count in counts
    ]
    line = LINES[number // len(CURVE_COLOURS) % len(LINES)]
    lows, highs = [min(own) for own in values], [max(own) for own in values]
    medians = [median(own) for own in values]
    draw_curve(axes, number, name, counts, (lows, medians, highs), line)


def _mark_places(axes: Axes, machine: Machine, most: int) -> None:
    """Draw a line at each thread count that fills a die, tile or chip."""
    topology = machine.topology
    if topology.cpus_per_place == 1 or topology.placement != "fill":
        return
    for edge in range(topology.cpus_per_place, most, topology.cpus_per_place):
        axes.axvline(edge, color="#c8c8c8", linewidth=0.8, linestyle=":", zorder=0)
