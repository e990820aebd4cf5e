#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the table of docs/cases/README.md from the pages of the cases.

    tools/make_case_table.py [--check]

A page's title names the program, the first output of `hasp profile` has the verdict,
and a comment `<!-- remedy: ... -->` the remedy. The gain is the one that `before-after`
printed, or else that of the best lock of the comparison. --check compares the table.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "docs/cases"
BEGIN = "| program | verdict | remedy | gain |"
GAIN = re.compile(r"gain: ([\d.]+) times \(95 % interval ([\d.]+) to ([\d.]+),")
TRIED = re.compile(r"^[a-z][\w+-]* .*\b(better|worse|same|cannot tell)$", re.MULTILINE)


def first(pattern: str, text: str, page: Path) -> str:
    """Return the first group of the first match; raise ValueError without one."""
    found = re.search(pattern, text, re.MULTILINE)
    if not found:
        raise ValueError(f"{page}: no {pattern}")
    return found[1]


def gain(text: str) -> str:
    """Return the gain of a page in words."""
    if found := GAIN.search(text):
        return f"{found[1]} times ({found[2]} to {found[3]})"
    verdicts = [match[1] for match in TRIED.finditer(text)]
    if "better" in verdicts:
        return "another lock"
    return f"none: none of {len(verdicts)} other locks is better"


def row(page: Path) -> str:
    """Return the row of a page."""
    text = page.read_text()
    program = first(r"^# ([^:\n]+)", text, page)
    verdict = first(r"^hasp: (.+)$", text, page).replace("|", "\\|")
    remedy = first(r"^<!-- remedy: (.+) -->$", text, page)
    return f"| [{program}]({page.name}) | {verdict} | {remedy} | {gain(text)} |"


def table() -> list[str]:
    """Return the lines of the table."""
    pages = sorted(FOLDER.glob("*.md"), key=lambda page: page.stem)
    return [BEGIN, "|---|---|---|---|", *(row(p) for p in pages if p.stem != "README")]


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check the table; return 1 if it is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args(arguments)
    page = FOLDER / "README.md"
    lines = page.read_text().splitlines()
    begin = lines.index(BEGIN)
    end = begin
    while end < len(lines) and lines[end].startswith("|"):
        end += 1
    new = [*lines[:begin], *table(), *lines[end:]]
    if new == lines:
        return 0
    if options.check:
        print(f"{page}: the table is old; run {sys.argv[0]}", file=sys.stderr)
        return 1
    page.write_text("\n".join(new) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
