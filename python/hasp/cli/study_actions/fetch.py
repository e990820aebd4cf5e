# SPDX-License-Identifier: MIT
"""`hasp study fetch`: download the runs that the lock study's authors published."""

from __future__ import annotations

import argparse

from hasp.base.output import add_json_option
from hasp.cli.study_actions.common import add_store_option

HELP = "download the published runs of the lock study into a store"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `hasp study fetch`."""
    parser.add_argument(
        "--machine",
        metavar="LIST",
        help="A-64, A-64-pinned, A-64-latency, A-48, I-48, I-20 (default: all)",
    )
    parser.add_argument(
        "--from",
        dest="source",
        metavar="DIR|FILE|URL",
        help="where the files are (default: the public repository of LiTL)",
    )
    add_store_option(parser)
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Download and check the files that the store lacks."""
    from hasp.base.output import note
    from hasp.study.fetching import SOURCE, chosen, fetch
    from hasp.study.records import write_records
    from hasp.study.samples import create_or_open

    wanted = chosen(arguments.machine.split(",") if arguments.machine else ())
    store = create_or_open(arguments.store)
    batches = fetch(store, wanted, arguments.source or SOURCE)
    for batch in batches:
        metrics = ", ".join(batch["metrics"])
        note(
            f"{batch['source']}: {batch['runs']} runs on {batch['machine']}, {metrics}"
        )
    if len(batches) < len(wanted):
        note(f"{len(wanted) - len(batches)} of {len(wanted)} were already in the store")
    if arguments.json:
        write_records(batches, arguments.json)
    return 0
