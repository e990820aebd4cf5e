# SPDX-License-Identifier: MIT
"""Tables of sites, with many figures in 80 columns and names of any length.

A name that does not fit beside its figures gets a line of its own above them, so that
it is not folded, and is shortened only in the middle.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from hasp.base.output import escaped

if TYPE_CHECKING:
    from rich.console import Console

NARROWEST = 8  # width of the column of names
LINES = 2  # lines of a name; a longer one is shortened in the middle


def shortened(name: str, most: int) -> str:
    """Return the name, or its two ends: the location, and the end of a C++ name."""
    if len(name) <= most:
        return name
    head = most // 3
    return f"{name[:head]}...{name[len(name) - (most - head - 3) :]}"


def lines(
    headings: Sequence[str], rows: Sequence[Sequence[str]], width: int
) -> tuple[list[str], list[str]]:
    """Return the lines of headings and rows; the first column has the names.

    Headings may have two lines, separated by a line feed.
    """
    parts = [heading.split("\n") for heading in headings]
    tall = max(map(len, parts))
    heads = [[""] * (tall - len(part)) + part for part in parts]
    widths = [
        max(
            *(len(line) for line in head),
            *(len(row[index]) for row in rows),
            0,
        )
        for index, head in enumerate(heads)
    ]
    room = width - sum(one + 1 for one in widths[1:])
    fitting = [len(row[0]) for row in rows if len(row[0]) <= room]
    widths[0] = max(NARROWEST, len(heads[0][-1]), *fitting, 0)
    above = [_line([head[n] for head in heads], widths) for n in range(tall)]
    above.append("─" * len(_line([""] * len(widths), widths, keep=True)))
    below: list[str] = []
    for row in rows:
        name = escaped(row[0])
        if len(name) > widths[0]:
            below += wrap(shortened(name, LINES * width - 2), width)
            name = ""
        below.append(_line([name, *row[1:]], widths))
    return above, below


def _line(cells: Sequence[str], widths: Sequence[int], keep: bool = False) -> str:
    first, *others = zip(cells, widths, strict=True)
    text = " ".join(
        [f"{first[0]:<{first[1]}}", *(f"{cell:>{width}}" for cell, width in others)]
    )
    return text if keep else text.rstrip()


def print_table(
    out: Console,
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    title: str = "",
) -> None:
    """Print the table; everything above the rows is bold."""
    if title:
        out.print(title, style="bold")
    above, below = lines(headings, rows, out.width)
    for line in above:
        out.print(line, style="bold", soft_wrap=True)
    for line in below:
        out.print(line, soft_wrap=True)
