# SPDX-License-Identifier: MIT
"""Settings shared by all figures: fonts, colours, file metadata, ticks of log axes."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from hasp.base.errors import HaspError
from hasp.base.extras import require
from hasp.base.output import check_writable

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
    }


def metadata(path: Path) -> dict[str, str | None]:
    """Return a figure's metadata, without a date so that files can be compared."""
    return {"Date": None} if path.suffix == ".svg" else {}


def ticks(low: float, high: float) -> list[float]:
    """Return round tick values for a log axis: as many as fit, always including 1."""
    decades = math.log10(high / low)
    digits = (1, 2, 5) if decades < 2.2 else (1, 3) if decades < 3.2 else (1,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    marks = [digit * 10.0**power for power in powers for digit in digits]
    return [mark for mark in marks if low <= mark <= high]
