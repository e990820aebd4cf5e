# SPDX-License-Identifier: MIT
"""`hasp study diff`: compare two stores."""

from __future__ import annotations

import argparse
from pathlib import Path

from hasp.base.output import add_json_option

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
    from hasp.study.report.difference import Options, show_differences

    return show_differences(
        Options(
            before=arguments.before,
            after=arguments.after,
            machine=arguments.machine,
            metric=arguments.metric,
            top=arguments.top,
            fail_if_worse=arguments.fail_if_worse,
            json=arguments.json,
        )
    )
