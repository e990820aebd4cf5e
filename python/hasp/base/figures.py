# SPDX-License-Identifier: MIT
"""What all figures share: fonts, colours, the file, curves, ticks of log axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hasp.base.errors import HaspError
from hasp.base.extras import require
from hasp.base.files import replacing
from hasp.base.output import check_writable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which colour-blind readers can tell apart.
COLOURS = {"better": "#009e73", "worse": "#d55e00", "same": "#7f7f7f"}
UNCERTAIN = "#b0b0b0"
CURVE_COLOURS = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"),
    *("#000000", "#8c564b", "#9467bd", "#7f7f7f", "#bcbd22"),
)
SUFFIXES = (".png", ".svg")
MARKERS = "osD^vP*Xh<>"


def check_figure(destination: str | None) -> None:
    """Raise HaspError if `--plot DESTINATION` cannot be drawn; None passes."""
    if not destination:
        return
    check_writable(destination)
    if Path(destination).suffix not in SUFFIXES:
        raise HaspError(
            f"--plot {destination}: unknown format",
            "use a name that ends in .png or .svg",
        )
    require("report")


def settings(font_size: float) -> Any:
    """Matplotlib's settings for every figure, with text of this size in points."""
    return {
        "font.family": "sans-serif",
        "font.size": font_size,
        "svg.fonttype": "none",
        "svg.hashsalt": "hasp",  # the same data gives the same file
        "text.parse_math": False,  # dollar signs in commands begin no formula
    }


def metadata(path: Path) -> dict[str, str | None]:
    """Return a figure's metadata, without a date so that files can be compared."""
    return {"Date": None} if path.suffix == ".svg" else {}


def save(
    figure: Figure, title: str, path: Path, *, font_size: float = 9.5, dpi: int = 150
) -> None:
    """Write the figure with its title at the top left, in the format of the suffix."""
    figure.suptitle(title, fontsize=font_size, x=0.01, ha="left")
    with replacing(path) as file:
        figure.savefig(file, dpi=dpi, metadata=metadata(path))


def draw_curve(
    axes: Axes,
    number: int,
    name: str,
    places: Sequence[float],
    ranges: tuple[Sequence[float], Sequence[float], Sequence[float]],
    line: str = "-",
) -> None:
    """Draw curve `number`; `ranges` has its lows, its medians and its highs.

    The area between the lows and the highs is shaded.
    """
    lows, medians, highs = ranges
    colour = CURVE_COLOURS[number % len(CURVE_COLOURS)]
    marker = MARKERS[number % len(MARKERS)]
    axes.plot(
        places, medians, line, color=colour, marker=marker, markersize=4.5, label=name
    )
    axes.fill_between(places, lows, highs, color=colour, alpha=0.15, linewidth=0)


def style_axes(axes: Axes, grid: Literal["both", "x"] = "both") -> None:
    """Put a light grid behind the data, and leave an axis line only where it helps."""
    axes.grid(axis=grid, color="#e4e4e4", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right") if grid == "both" else ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def add_legend(axes: Axes) -> None:
    """Put the legend to the right of the axes."""
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)


def ticks(low: float, high: float) -> list[float]:
    """Return round tick values for a log axis: as many as fit, always including 1."""
    decades = math.log10(high / low)
    digits = (1, 2, 5) if decades < 2.2 else (1, 3) if decades < 3.2 else (1,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    marks = [digit * 10.0**power for power in powers for digit in digits]
    return [mark for mark in marks if low <= mark <= high]
