# SPDX-License-Identifier: MIT
"""`hasp doctor`: checks the machine, and whether Hasp can interpose a program."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from hasp.base.errors import EXIT_FINDING
from hasp.base.output import STDOUT, add_json_option

if TYPE_CHECKING:
    from hasp.doctor import Finding

NAME = "doctor"
HELP = "what this machine offers, and whether a program can be interposed"
SCHEMA = "hasp.doctor/1"

EPILOG = """\
examples:
  hasp doctor                        this machine
  hasp doctor ./server               this machine and this program
  hasp doctor --json -- ./server     JSON lines; the -- is necessary

exit status: 0; 1 if the program cannot be interposed; 2 if it does not exist.
"""
MARKS = {"fine": "", "note": "note:", "lack": "!"}
STYLES = {"fine": None, "note": None, "lack": "yellow"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `hasp doctor`."""
    parser.usage = "hasp doctor [--json [FILE]] [--] [PROGRAM]"
    parser.epilog = EPILOG
    add_json_option(parser)
    parser.add_argument(
        "command", nargs=argparse.REMAINDER, metavar="PROGRAM", help=argparse.SUPPRESS
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the findings."""
    from dataclasses import asdict

    from hasp.base import output
    from hasp.doctor import host as machine
    from hasp.launch import interpose

    _take_back_program(arguments)
    found: list[Finding] = []
    usable = True
    if arguments.json:
        output.check_writable(arguments.json)
    if arguments.command:
        from hasp.doctor.program import diagnose

        environment = interpose.original_environment()
        found, usable = diagnose(arguments.command[0], environment)
    found = [*machine.findings(), *found]
    if arguments.json:
        records = [{"schema": SCHEMA, **asdict(finding)} for finding in found]
        output.write_json(records, arguments.json)
    else:
        _print(found)
    return 0 if usable else EXIT_FINDING


def _take_back_program(arguments: argparse.Namespace) -> None:
    """Treat the argument in `--json ./program` as the program, not an output file."""
    word = arguments.json
    if arguments.command or not word or word == STDOUT:
        return
    if Path(word).is_file() and os.access(word, os.X_OK):
        arguments.command, arguments.json = [word], STDOUT


def _print(found: list[Finding]) -> None:
    from rich.text import Text

    from hasp.base.output import console, table

    out = console()
    topics = dict.fromkeys(finding.topic for finding in found)
    for topic in topics:
        form = table(title=topic)
        form.show_header = False
        form.add_column("name", no_wrap=True, width=22)
        form.add_column("value and words", overflow="fold")
        for finding in found:
            if finding.topic != topic:
                continue
            text = Text(finding.value)
            if finding.words:
                style = STYLES[finding.level] if not out.no_color else None
                mark = MARKS[finding.level]
                text.append(f"\n{mark + ' ' if mark else ''}", style=style or "")
                text.append(finding.words, style=style or "")
            form.add_row(finding.name, text)
        out.print(form)
        out.print()
