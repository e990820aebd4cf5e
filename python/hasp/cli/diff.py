# SPDX-License-Identifier: MIT
"""`hasp diff`: compare two traces, or two groups of them, lock by lock."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from hasp.base.output import STDOUT
from hasp.cli.report import top

NAME = "diff"
HELP = "compare two traces, or groups of them, lock by lock"

EPILOG = """\
examples:
  hasp diff before.trace after.trace
  hasp diff a1.trace,a2.trace,a3.trace:b1.trace,b2.trace,b3.trace
  hasp diff --fail-if 'wait.p99 > +20%' --fail-if 'db.c*: share > +10%' old new

With several runs on each side, changes are tested with Welch's test, corrected
for the number of tests (Holm). With one run each, only the noise of counting is known,
which is weaker: the variation between runs cannot be seen in one.

exit status: 0 success; 1 a --fail-if holds; 2 wrong usage, or not a trace.
"""
TOP = 10


class Json(argparse.Action):
    """Action of `--json` that records whether a trace preceded it: see traces_of."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        namespace.json = values
        namespace.json_behind = bool(namespace.traces)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `hasp diff`."""
    parser.usage = "hasp diff [options] A B | A1,A2...:B1,B2..."
    parser.epilog = EPILOG
    add = parser.add_argument
    add("traces", nargs="+", metavar="TRACE", help="before and after, see above")
    add(
        "--top",
        metavar="N",
        type=top,
        default=TOP,
        help=f"number of locks, or `all` (default: {TOP})",
    )
    add(
        "--fail-if",
        action="append",
        default=[],
        metavar="CONDITION",
        help="exit with 1 if a significant change matches: [SITE:] MEASURE > VALUE%%",
    )
    add(
        "--json",
        action=Json,
        nargs="?",
        const=STDOUT,
        metavar="FILE",
        help="one object, to FILE, or to stdout when FILE is absent or -",
    )


def traces_of(arguments: argparse.Namespace) -> list[str]:
    """Return the traces; in `hasp diff --json A B` argparse took A as the FILE.

    If a trace is missing, a FILE that exists is the trace, so that nothing overwrites
    it.
    """
    words: list[str] = arguments.traces
    file = arguments.json
    alone = len(words) == 1 and (":" not in words[0] or Path(words[0]).exists())
    if alone and file not in (None, STDOUT) and Path(file.split(",")[0]).exists():
        arguments.json = STDOUT
        return [*words, file] if arguments.json_behind else [file, *words]
    return words


def run(arguments: argparse.Namespace) -> int:
    """Compare the traces, print the result, and evaluate the conditions."""
    from hasp.profile.report.change_conditions import change_condition
    from hasp.profile.report.diff import Options, diff

    words = traces_of(arguments)
    return diff(
        Options(
            words,
            [change_condition(text) for text in arguments.fail_if],
            arguments.top,
            arguments.json,
        )
    )
