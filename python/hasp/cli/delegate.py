# SPDX-License-Identifier: MIT
"""`hasp delegate`: rewrite the sections of a lock for an executor."""

from __future__ import annotations

import argparse
from pathlib import Path

from hasp.base.output import add_json_option

NAME = "delegate"
HELP = "rewrite C sources so that a lock's sections run where their data is"

EXAMPLES = """\
examples:
  hasp delegate --lock 'db.c:88'
  hasp delegate --from hasp.trace -p out/ --diff > delegate.patch
  hasp delegate --lock 'db.c:88 &db->mu' --in-place --check 'make check'

It rewrites all sections of the lock or nothing. exit status: 0 success; 1 the tests
of --check fail with the rewritten source; 2 a section cannot be rewritten, and why.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `hasp delegate`."""
    parser.usage = "hasp delegate (--lock SITE | --from TRACE) [-p BUILD] [options]"
    parser.epilog = EXAMPLES
    lock = parser.add_mutually_exclusive_group()
    lock.add_argument(
        "--lock",
        metavar="SITE",
        help="the line that declares or uses the lock, FILE:LINE, or its name",
    )
    lock.add_argument(
        "--from",
        dest="trace",
        metavar="TRACE",
        type=Path,
        help="take the lock that the verdict of this profile names",
    )
    parser.add_argument(
        "-p",
        dest="database",
        metavar="BUILD",
        type=Path,
        help="the folder with compile_commands.json, or such a file (default: the "
        "current folder or build/, whichever has one)",
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--diff", action="store_true", help="print a patch")
    where.add_argument(
        "--in-place", action="store_true", help="change the sources themselves"
    )
    where.add_argument(
        "--out", metavar="DIR", type=Path, help="write the changed files below DIR"
    )
    parser.add_argument(
        "--executor",
        metavar="EXECUTOR",
        default="adaptive",
        help="the executor of the sections, or lock:NAME (default: adaptive)",
    )
    parser.add_argument(
        "--check",
        metavar="CMD",
        help="build and test the program in a copy with this shell command: unchanged, "
        "with each section on its own thread, on one server, on a second one, and with "
        "the executor",
    )
    _add_details(parser)
    add_json_option(parser)


def _add_details(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--no-compile",
        action="store_true",
        help="do not compile the files before and after to compare the warnings",
    )
    parser.add_argument(
        "--lines",
        action=argparse.BooleanOptionalAction,
        help="write #line with the original lines (default: with --out only)",
    )
    parser.add_argument(
        "--ignore",
        metavar="PATH",
        type=Path,
        action="append",
        default=[],
        help="a file or folder that does not belong to the program, or a line of it, "
        "FILE:LINE, that is never compiled; may be repeated",
    )


def run(arguments: argparse.Namespace) -> int:
    """Rewrite, check and write."""
    from hasp.delegate.delegate import Options, delegate

    return delegate(
        Options(
            database=arguments.database,
            lock=arguments.lock,
            trace=arguments.trace,
            diff=arguments.diff,
            in_place=arguments.in_place,
            out=arguments.out,
            executor=arguments.executor,
            check=arguments.check,
            compiles=not arguments.no_compile,
            lines=arguments.lines,
            ignored=tuple(arguments.ignore),
            json=arguments.json,
        )
    )
