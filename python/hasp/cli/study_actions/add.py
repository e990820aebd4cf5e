# SPDX-License-Identifier: MIT
"""`hasp study add`: import existing measurements into a store."""

from __future__ import annotations

import argparse
from pathlib import Path

from hasp.base.output import add_json_option
from hasp.cli.study_actions.common import add_store_option

HELP = "import CSV files of runs into a store"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `hasp study add`."""
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE.csv")
    parser.add_argument(
        "--machine", required=True, help="name of the machine they were measured on"
    )
    parser.add_argument(
        "--less-is-better",
        action="append",
        default=[],
        metavar="COLUMN",
        help="a metric for which lower is better (like latency); may be repeated",
    )
    add_store_option(parser)
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Import CSV files, each completely or not at all."""
    from hasp.base.output import note
    from hasp.study.importing import import_csv
    from hasp.study.records import write_records
    from hasp.study.samples import create_or_open

    store = create_or_open(arguments.store)
    batches = []
    for path in arguments.files:
        batch = import_csv(store, arguments.machine, path, arguments.less_is_better)
        batches.append(batch)
        note(
            f"{path}: {batch['runs']} runs on {batch['machine']}, "
            f"{', '.join(batch['metrics'])}"
        )
    if arguments.json:
        write_records(batches, arguments.json)
    return 0
