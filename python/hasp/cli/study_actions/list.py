# SPDX-License-Identifier: MIT
"""`hasp study list`: list the contents of a store."""

from __future__ import annotations

import argparse

from hasp.base.output import add_json_option
from hasp.cli.study_actions.common import add_store_option, show

HELP = "list the batches of a store"
COLUMNS = ["machine", "runs", "size_unit", "metrics", "source", "added"]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `hasp study list`."""
    add_store_option(parser)
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the batches of a store."""
    from hasp.study.samples import open_store
    from hasp.study.tables import Table

    rows: list[list[str | int | float | None]] = [
        [
            ", ".join(batch[name]) if name == "metrics" else batch[name]
            for name in COLUMNS
        ]
        for batch in open_store(arguments.store).batches()
    ]
    show(Table(COLUMNS, rows), arguments.json)
    return 0
