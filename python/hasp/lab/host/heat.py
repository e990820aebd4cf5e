# SPDX-License-Identifier: MIT
"""The core-to-core map: the matrix of all pairs, and its form on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from hasp.lab.host.rows import of_kind
from hasp.lab.host.target import Row

if TYPE_CHECKING:
    from rich.console import Console

NUMBERS_MOST = 12  # CPUs; a map of numbers fits 80 columns up to here
WIDTH = 76
SHADES = ".,:-=+*#%@"  # from near to far, without colour
# 256-colour codes from near to far, taken from the viridis map.
COLOURS = (226, 190, 154, 112, 71, 36, 30, 24, 60, 54)


def matrix(
    rows: Sequence[Row], field: str = "ns"
) -> tuple[list[int], list[list[float | None]]]:
    """Return the CPUs and a row of values for each; None marks unmeasured pairs."""
    values: dict[tuple[int, int], float] = {}
    for row in of_kind(rows, "pair"):
        values[row["cpu"], row["holder"]] = row[field]
        values[row["holder"], row["cpu"]] = row[field]
    numbers = sorted({cpu for pair in values for cpu in pair})
    order = {
        row["cpu"]: (row["package"] or 0, row["node"] or 0, row["core"] or 0)
        for row in of_kind(rows, "cpu")
    }
    numbers.sort(key=lambda cpu: (order.get(cpu, (0, 0, 0)), cpu))
    return numbers, [[values.get((one, other)) for other in numbers] for one in numbers]


def show(out: Console, rows: Sequence[Row]) -> None:
    """Print the map: numbers for a few CPUs, shades for many."""
    numbers, cells = matrix(rows)
    if len(numbers) < 3:
        return
    out.print("core to core: ns to load a line that the other modified", style="bold")
    if len(numbers) <= NUMBERS_MOST:
        _show_numbers(out, numbers, cells)
    else:
        _show_shades(out, numbers, cells)
    out.print()


def _show_numbers(
    out: Console, numbers: Sequence[int], cells: Sequence[Sequence[float | None]]
) -> None:
    low, high = _bounds(cells)
    out.print("     " + "".join(f"{number:>6}" for number in numbers))
    for number, row in zip(numbers, cells, strict=True):
        text = Text(f"{number:>5}")
        for value in row:
            word = "-" if value is None else f"{value:.0f}"
            colour = None if value is None else COLOURS[_shade(value, low, high)]
            style = f"color({colour})" if colour and not out.no_color else ""
            text.append(f"{word:>6}", style=style)
        out.print(text)


def _show_shades(
    out: Console, numbers: Sequence[int], cells: Sequence[Sequence[float | None]]
) -> None:
    step = -(-len(numbers) // WIDTH)
    low, high = _bounds(cells)
    for row in cells[::step]:
        text = Text()
        for value in row[::step]:
            if value is None:
                text.append(" ")
            elif out.no_color:
                text.append(SHADES[_shade(value, low, high)])
            else:
                text.append("█", style=f"color({COLOURS[_shade(value, low, high)]})")
        out.print(text)
    every = "" if step == 1 else f", every {step}th CPU"
    out.print(f"CPUs {numbers[0]} to {numbers[-1]}{every}: {low:.0f} to {high:.0f} ns")


def _bounds(cells: Sequence[Sequence[float | None]]) -> tuple[float, float]:
    values = [value for row in cells for value in row if value is not None]
    return min(values), max(values)


def _shade(value: float, low: float, high: float) -> int:
    share = (value - low) / (high - low) if high > low else 0.0
    return min(len(SHADES) - 1, int(share * len(SHADES)))
