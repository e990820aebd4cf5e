# SPDX-License-Identifier: MIT
"""`hasp study diff`: compare two stores."""

from __future__ import annotations

import argparse
from pathlib import Path

from hasp.base.output import add_json_option
from hasp.cli.study_actions.common import SCHEMA, show

HELP = "compare two stores"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `hasp study diff`."""
    parser.add_argument("before", type=Path, metavar="BEFORE")
    parser.add_argument("after", type=Path, metavar="AFTER")
    parser.add_argument("--machine", help="only these, separated by commas")
    parser.add_argument("--metric", help="only this one (default: all)")
    parser.add_argument(
        "--top",
        type=_count,
        default=20,
        metavar="N",
        help="rows (default: %(default)s)",
    )
    parser.add_argument(
        "--fail-if-worse",
        action="store_true",
        help="end with status 1 if a configuration became worse",
    )
    add_json_option(parser)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    """Print the differences for each machine and metric in both stores."""
    from hasp.base import output
    from hasp.base.errors import EXIT_FINDING
    from hasp.study.differences import WORSE
    from hasp.study.report import difference
    from hasp.study.sides import comparisons

    found = comparisons(
        arguments.before, arguments.after, arguments.machine, arguments.metric
    )
    if arguments.json:
        records = (
            {"schema": SCHEMA, **record}
            for one in found
            for record in difference.records(one)
        )
        output.write_json(records, arguments.json)
    if arguments.json != output.STDOUT:
        for one in found:
            for sentence in difference.sentences(one):
                output.console().print(sentence)
            changed = difference.table(one, arguments.top)
            if changed.rows:
                show(changed, None)
    worse = any(one.of(WORSE) for one in found)
    return EXIT_FINDING if worse and arguments.fail_if_worse else 0
