# SPDX-License-Identifier: MIT
"""`hasp doctor`: checks the machine, and whether Hasp can interpose a program."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from hasp.base.output import STDOUT, add_json_option

NAME = "doctor"
HELP = "show what this machine offers, and if a program can be interposed"

EPILOG = """\
examples:
  hasp doctor                        this machine
  hasp doctor ./server               this machine and this program
  hasp doctor --json -- ./server     JSON lines; the -- is necessary
  hasp doctor --htm                  whether locks can be elided here

exit status: 0; 1 if the program cannot be interposed; 2 if it does not exist.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `hasp doctor`."""
    parser.usage = "hasp doctor [--htm] [--json [FILE]] [--] [PROGRAM]"
    parser.epilog = EPILOG
    parser.add_argument(
        "--htm",
        action="store_true",
        help="only whether this machine has hardware transactions, for elide+LOCK",
    )
    add_json_option(parser)
    parser.add_argument(
        "command", nargs=argparse.REMAINDER, metavar="PROGRAM", help=argparse.SUPPRESS
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the findings."""
    from hasp.doctor.report import examine

    _take_back_program(arguments)
    program = arguments.command[0] if arguments.command else None
    return examine(program, arguments.json, only_htm=arguments.htm)


def _take_back_program(arguments: argparse.Namespace) -> None:
    """Treat the argument in `--json ./program` as the program, not an output file."""
    word = arguments.json
    if arguments.command or not word or word == STDOUT:
        return
    if Path(word).is_file() and os.access(word, os.X_OK):
        arguments.command, arguments.json = [word], STDOUT
