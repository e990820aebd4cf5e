#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check that files and functions stay small enough to be read in one go.

A lock is one header of 60 to 250 lines, any other source file has at most 400 lines,
and a function at most 60.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from function_lengths import functions
from sources import C_SUFFIXES, PYTHON_SUFFIXES, Finding, files, parse_root, report

FOLDERS = ("src", "include", "python", "tools", "tests")
LOCK_LINES = (60, 250)
MOST_LINES = 400
FUNCTION_LINES = 60

# A header of src/locks is an algorithm if it defines its own trylock.
LOCK_OPERATION = re.compile(
    r"^static inline bool \w+_trylock\(struct lock", re.MULTILINE
)

# path from the root -> (limit of lines, reason not to split the file)
EXCEPTIONS: dict[str, tuple[int, str]] = {}


def check_file(root: Path, path: Path) -> Iterator[Finding]:
    relative = path.relative_to(root)
    text = path.read_text(encoding="utf-8")
    lines = len(text.splitlines())
    exception = EXCEPTIONS.get(relative.as_posix())
    if exception:
        if lines > exception[0]:
            yield Finding(
                path, lines, f"{lines} lines, its exception allows {exception[0]}"
            )
        return
    if relative.match("src/locks/algorithms/*.h") and LOCK_OPERATION.search(text):
        fewest, most = LOCK_LINES
        if lines > most:
            yield Finding(
                path, lines, f"{lines} lines; the header of a lock has at most {most}"
            )
        elif lines < fewest:
            yield Finding(
                path,
                lines,
                f"{lines} lines; a lock with its idea and invariants written down"
                f" seldom has fewer than {fewest}",
                fatal=False,
            )
    elif lines > MOST_LINES:
        yield Finding(
            path, lines, f"{lines} lines, at most {MOST_LINES}: split the file"
        )


def check_functions(root: Path, path: Path) -> Iterator[Finding]:
    for function in functions(path, path.read_text(encoding="utf-8")):
        if function.lines > FUNCTION_LINES:
            yield Finding(
                path,
                function.line,
                f"{function.name} has {function.lines} lines, at most"
                f" {FUNCTION_LINES}: split it",
            )


def main() -> int:
    root = parse_root(__doc__)
    stale = [
        Finding(
            root / "tools/check_sizes.py", 1, f"exception for {name}, which is gone"
        )
        for name in EXCEPTIONS
        if not (root / name).exists()
    ]
    found = [
        finding
        for path in files(root, FOLDERS, C_SUFFIXES + PYTHON_SUFFIXES)
        for finding in (*check_file(root, path), *check_functions(root, path))
    ]
    return report(root, stale + found)


if __name__ == "__main__":
    sys.exit(main())
