# SPDX-License-Identifier: MIT
"""What several actions of `hasp study` share: the store's option, and printing."""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hasp.study.tables import Table

SCHEMA = "hasp.study/1"


def add_store_option(parser: argparse.ArgumentParser) -> None:
    """The --store that all actions have but `diff`."""
    parser.add_argument("--store", required=True, type=Path, metavar="DIR")


def add_plan_options(parser: argparse.ArgumentParser) -> None:
    """The plan and where its runs go."""
    parser.add_argument("plan", type=Path, metavar="PLAN.toml")
    parser.add_argument("--machine", help="name in the store (default: this host's)")
    add_store_option(parser)


def show(table: Table, json: str | None, *, as_csv: bool = False) -> None:
    """Print a table as JSON lines, as CSV, or for people."""
    from hasp import output

    if json:
        records = (
            {"schema": SCHEMA, **dict(zip(table.columns, row, strict=True))}
            for row in table.rows
        )
        output.write_json(records, json)
    elif as_csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerows([table.columns, *table.rows])
    else:
        shown = output.table()
        for place, column in enumerate(table.columns):
            number = any(isinstance(row[place], int | float) for row in table.rows)
            shown.add_column(
                column.replace("_", " "), justify="right" if number else "left"
            )
        for row in table.rows:
            shown.add_row(*("" if cell is None else str(cell) for cell in row))
        output.console().print(shown)
