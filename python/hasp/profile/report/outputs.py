# SPDX-License-Identifier: MIT
"""The formats of a report, each written to a file or to stdout."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hasp.base.errors import HaspError
from hasp.base.extras import require
from hasp.base.files import write_file
from hasp.base.output import STDOUT, check_writable, json_line
from hasp.profile.model.profile import Profile
from hasp.profile.report.chrome import chrome_text
from hasp.profile.report.document import document
from hasp.profile.report.figures import Metric
from hasp.profile.report.firefox import firefox_text
from hasp.profile.report.page import render
from hasp.profile.report.pprof import pprof
from hasp.profile.report.stacks import folded, speedscope_text
from hasp.profile.report.tables import csv_text, markdown

Maker = Callable[[Profile, Metric, "int | None"], "str | bytes"]


@dataclass(frozen=True)
class Output:
    """A format and its destination."""

    form: str
    destination: str


FORMS: dict[str, Maker] = {
    "json": lambda profile, by, top: f"{json_line(document(profile))}\n",
    "csv": lambda profile, by, top: csv_text(profile),
    "markdown": markdown,
    "html": lambda profile, by, top: render(profile),
    "folded wait": lambda profile, by, top: folded(profile, "wait"),
    "folded hold": lambda profile, by, top: folded(profile, "hold"),
    "speedscope": lambda profile, by, top: speedscope_text(profile),
    "chrome_trace": lambda profile, by, top: chrome_text(profile),
    "firefox": lambda profile, by, top: firefox_text(profile),
    "pprof": lambda profile, by, top: pprof(profile),
}


def outputs(options: Mapping[str, Any], trace: Path) -> list[Output]:
    """Return the outputs that the options request; raises HaspError for a bad one.

    `options` are those of `hasp report`, by name: destinations, and `folded`.
    """
    found = [
        Output(form, destination)
        for form in FORMS
        if (destination := options.get(form)) is not None
    ]
    if options["folded"]:
        found.append(_folded(options["folded"]))
    for output in found:
        if output.form in ("html", "pprof"):
            require("report")
        check_writable(output.destination)
        _check_not_the_trace(output.destination, trace)
    on_stdout = [output.form for output in found if output.destination == STDOUT]
    if len(on_stdout) > 1:
        raise HaspError(
            f"{' and '.join(on_stdout)} would both go to standard output",
            "name a FILE for all but one",
        )
    return found


def _folded(words: list[str]) -> Output:
    if words[0] not in ("wait", "hold") or len(words) > 2:
        raise HaspError(
            f"--folded {' '.join(words)}: wait or hold time?",
            "write --folded wait or --folded hold, optionally with a FILE",
        )
    return Output(f"folded {words[0]}", words[1] if len(words) > 1 else STDOUT)


def _check_not_the_trace(destination: str, trace: Path) -> None:
    path = Path(destination)
    if destination == STDOUT or not path.exists() or not trace.exists():
        return
    if path.samefile(trace):
        raise HaspError(
            f"{destination} is the trace itself, and would be overwritten",
            "name another file",
        )


def write(profile: Profile, output: Output, by: Metric, top: int | None) -> None:
    """Write one format; it is rendered completely before writing begins."""
    made = FORMS[output.form](profile, by, top)
    content = made if isinstance(made, bytes) else made.encode(errors="replace")
    if output.destination == STDOUT:
        if isinstance(made, bytes) and sys.stdout.isatty():
            raise HaspError(
                f"{output.form} is binary, and standard output is a terminal",
                f"name a file: --{output.form} FILE",
            )
        sys.stdout.flush()
        left = memoryview(content)
        while left:  # an unbuffered stream may accept only a part
            left = left[sys.stdout.buffer.write(left) :]
        sys.stdout.buffer.flush()
        return
    write_file(output.destination, content)
