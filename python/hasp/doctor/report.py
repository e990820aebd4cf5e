# SPDX-License-Identifier: MIT
"""Carries out `hasp doctor`: collects the findings and shows them."""

from __future__ import annotations

from dataclasses import asdict

from hasp.base.errors import EXIT_FINDING, EXIT_FINE
from hasp.base.output import check_writable, console, table, write_json
from hasp.doctor import Finding, host, htm
from hasp.doctor.program import diagnose
from hasp.launch import interpose

SCHEMA = "hasp.doctor/1"
NAMES = 22  # columns for the names; one is free after these, and one after the values
MARKS = {"fine": "", "note": "note:", "lack": "!"}
STYLES = {"fine": None, "note": None, "lack": "yellow"}


def examine(program: str | None, json: str | None, *, only_htm: bool = False) -> int:
    """Show what this host and the program offer, or write it to the file `json`.

    With `only_htm`, only the host's hardware transactions, and the program. Returns 1
    if the program cannot be interposed, else 0. Raises HaspError if it does not exist.
    """
    if json:
        check_writable(json)
    found: list[Finding] = []
    usable = True
    if program:
        found, usable = diagnose(program, interpose.original_environment())
    found = [*(htm.findings() if only_htm else host.findings()), *found]
    if json:
        write_json(({"schema": SCHEMA, **asdict(one)} for one in found), json)
    else:
        _print(found)
    return EXIT_FINE if usable else EXIT_FINDING


def _print(found: list[Finding]) -> None:
    # Imported here because --json needs no rich.
    from rich.text import Text

    out = console()
    if not out.is_terminal:
        # Whoever copies a path from a file or a pipe wants it on one line.
        words = [word for finding in found for word in finding.value.split()]
        out.width = max(out.width, NAMES + 2 + max(map(len, words), default=0))
    topics = dict.fromkeys(finding.topic for finding in found)
    for topic in topics:
        form = table(title=topic)
        form.show_header = False
        form.add_column("name", no_wrap=True, width=NAMES)
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
