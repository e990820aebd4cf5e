# SPDX-License-Identifier: MIT
"""Code shared by the developer checks: listing the files and printing findings."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

C_SUFFIXES = (".c", ".h", ".def", ".cpp", ".S")
PYTHON_SUFFIXES = (".py",)
SKIPPED_FOLDERS = {"__pycache__", "subprojects"}


@dataclass(frozen=True)
class Finding:
    """One problem: its location, its description and the remedy."""

    path: Path
    line: int
    text: str
    fatal: bool = True


def parse_root(description: str | None) -> Path:
    """Return the tree to check: this one, or a given folder for the checks' tests."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("root", nargs="?", type=Path, default=ROOT)
    arguments = parser.parse_args()
    return Path(arguments.root).resolve()


def files(
    root: Path, folders: Iterable[str], suffixes: tuple[str, ...]
) -> Iterator[Path]:
    """Yield every file with one of the suffixes below the folders, sorted."""
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            relative = path.relative_to(root)
            if (
                path.suffix in suffixes
                and path.is_file()
                and not SKIPPED_FOLDERS & set(relative.parts)
            ):
                yield path


def report(root: Path, findings: Iterable[Finding]) -> int:
    """Print the findings as compilers do; the exit status is 1 if one is fatal."""
    fatal = 0
    for finding in findings:
        fatal += finding.fatal
        kind = "error" if finding.fatal else "warning"
        place = f"{finding.path.relative_to(root)}:{finding.line}"
        print(f"{place}: {kind}: {finding.text}", file=sys.stderr)
    return 1 if fatal else 0
