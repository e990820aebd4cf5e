# SPDX-License-Identifier: MIT
"""Finds the C and C++ files of a program."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from hasp.base.errors import HaspError

SUFFIXES = (".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inc")
MOST_FILES = 20_000
LONGEST_FILE = 4 << 20  # bytes; longer ones are generated


def source_files(folder: Path, remedy: str) -> Iterator[Path]:
    """Yield the C and C++ files below a folder in order, without hidden folders.

    Raises HaspError with this remedy if there are more than MOST_FILES.
    """
    count = 0
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        for name in sorted(names):
            path = Path(parent, name)
            if name.endswith(SUFFIXES) and path.is_file():
                count += 1
                if count > MOST_FILES:
                    raise HaspError(
                        f"more than {MOST_FILES} source files below {folder}", remedy
                    )
                yield path
