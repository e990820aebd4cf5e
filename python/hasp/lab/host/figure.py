# SPDX-License-Identifier: MIT
"""The figure of `hasp machine`: cache-line latency between all pairs of CPUs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy

from hasp.base.errors import HaspError
from hasp.base.figures import save, settings
from hasp.lab.host.heat import matrix
from hasp.lab.host.target import Row

NUMBERS_MOST = 24  # cells show numbers for up to this many CPUs


def draw(rows: Sequence[Row], path: Path) -> None:
    """Write the map to `path`, in the format of its suffix (.png or .svg)."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    numbers, cells = matrix(rows)
    if not numbers:
        raise HaspError("there is no pair of CPUs to draw", "measure at least two CPUs")
    values = numpy.array(
        [[numpy.nan if cell is None else cell for cell in row] for row in cells]
    )
    size = min(14.0, max(4.2, 2.2 + 0.42 * len(numbers)))
    with rc_context(settings(9)):
        figure = Figure(figsize=(size + 0.8, size), layout="constrained")
        axes = figure.subplots()
        image = axes.imshow(values, cmap="viridis_r")
        figure.colorbar(image, ax=axes, label="ns", shrink=0.8)
        step = max(1, len(numbers) // 32)
        places = list(range(0, len(numbers), step))
        axes.set_xticks(places, [str(numbers[index]) for index in places])
        axes.set_yticks(places, [str(numbers[index]) for index in places])
        axes.set_xlabel("CPU")
        axes.set_ylabel("CPU")
        if len(numbers) <= NUMBERS_MOST:
            middle = float(numpy.nanmean(values))
            for row, line in enumerate(cells):
                for column, cell in enumerate(line):
                    if cell is not None:
                        colour = "white" if cell > middle else "black"
                        axes.text(
                            *(column, row, f"{cell:.0f}"),
                            ha="center",
                            va="center",
                            color=colour,
                        )
        words = "ns to load a line that the other CPU modified"
        save(figure, f"{words}\n{_where(rows[0])}", path, font_size=10, dpi=130)


def _where(first: Row) -> str:
    if first["simulated"]:
        return f"simulated: {first['machine']}"
    return str(first["host"]["cpu_model"])
