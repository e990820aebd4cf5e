# SPDX-License-Identifier: MIT
"""The output of a table: text, CSV or JSON lines."""

from __future__ import annotations

import csv
import sys
from textwrap import wrap

from hasp.base import output
from hasp.base.durations import three_digits
from hasp.study.records import write_records
from hasp.study.tables import Table


def show(table: Table, json: str | None, *, as_csv: bool = False) -> None:
    """Print a table as JSON lines, as CSV, or as text."""
    if json:
        write_records(
            (dict(zip(table.columns, row, strict=True)) for row in table.rows), json
        )
    elif as_csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerows([table.columns, *table.rows])
    else:
        _print(table)


def _print(table: Table) -> None:
    """Print a table in 80 columns, wrapping headings and then cells between words.

    Numbers are rounded to three digits, unlike in --csv and --json.
    """
    out = output.console()
    rows = [[_words(cell) for cell in row] for row in table.rows]
    heads = [column.replace("_", " ") for column in table.columns]
    least, widths = [], []
    for index, head in enumerate(heads):
        cells = [row[index] for row in rows]
        words = [word for text in (head, *cells) for word in text.split()]
        least.append(max(map(len, words), default=0))
        widths.append(max(least[-1], *map(len, cells), 0))
    unfolded = [max(pair) for pair in zip(widths, map(len, heads), strict=True)]
    if sum(unfolded) + 2 * len(widths) <= out.width:
        widths = unfolded
    gap = 2 if sum(widths) + 2 * len(widths) <= out.width else 1
    over = sum(widths) + gap * (len(widths) - 1) - out.width
    for index in sorted(range(len(heads)), key=lambda index: -widths[index]):
        cut = max(0, min(over, widths[index] - least[index]))
        widths[index] -= cut
        over -= cut
    shown = output.table()
    shown.padding = (0, gap - 1, 0, 0)
    for index, (head, width) in enumerate(zip(heads, widths, strict=True)):
        number = any(isinstance(row[index], int | float) for row in table.rows)
        shown.add_column(
            "\n".join(wrap(head, width)),
            justify="right" if number else "left",
            width=width,
            overflow="fold",
        )
    for row in rows:
        shown.add_row(*row)
    out.print(shown)


def _words(cell: str | int | float | None) -> str:
    if isinstance(cell, float):
        return three_digits(cell)
    return "" if cell is None else str(cell)
