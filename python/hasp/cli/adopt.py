# SPDX-License-Identifier: MIT
"""`hasp adopt`: what to change in the source so that a plan needs no preload."""

from __future__ import annotations

import argparse
from pathlib import Path

from hasp.base.output import add_json_option

NAME = "adopt"
HELP = "print the source changes that make a program use a plan's locks"

EXAMPLES = """\
examples:
  hasp adopt hasp.plan.toml
  hasp adopt hasp.plan.toml --source ../server --profile hasp.trace
  hasp adopt hasp.plan.toml --json changes.json

It prints the lines and never edits them. exit status: 0 success; 2 the plan, the
profile or the source cannot be used.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `hasp adopt`."""
    parser.usage = "hasp adopt PLAN [options]"
    parser.epilog = EXAMPLES
    parser.add_argument("plan", metavar="PLAN", type=Path, help="a plan")
    parser.add_argument(
        "--profile",
        metavar="TRACE",
        type=Path,
        help="the profile that led to the plan; needed if several source files have "
        "the same name",
    )
    parser.add_argument(
        "--source",
        metavar="DIR",
        type=Path,
        default=Path(),
        help="folder with the program's source (default: the current one)",
    )
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the changes."""
    from hasp.advise.adoption.adopt import Options, adopt

    return adopt(
        Options(arguments.plan, arguments.profile, arguments.source, arguments.json)
    )
