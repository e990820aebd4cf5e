# SPDX-License-Identifier: MIT
"""`hasp study library`: list programs to study, and write campaigns with them."""

from __future__ import annotations

import argparse
from pathlib import Path

from hasp.base.output import add_json_option

HELP = "list programs to study, or write a campaign with them"
EPILOG = """\
examples:
  hasp study library
  hasp study library --programs shape
  hasp study library --write plan.toml
  hasp study library --write plan.toml --programs rocksdb,pigz,task-queue

Real programs come from Debian packages. Shapes are programs of Hasp that take
locks as the applications of the lock study do; they have knobs, and also run on
simulated machines.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `hasp study library`."""
    parser.epilog = EPILOG
    parser.add_argument(
        "--programs",
        metavar="LIST",
        help="names, and all, installed, real, shape (default: all; for a plan: "
        "installed)",
    )
    parser.add_argument("--write", type=Path, metavar="FILE", help="a plan of them")
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the list, or write a campaign."""
    from hasp.study.library_list import Options, show_library

    show_library(Options(arguments.programs, arguments.write, arguments.json))
    return 0
