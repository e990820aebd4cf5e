# SPDX-License-Identifier: MIT
"""The tables that the lock study printed, and the rules for agreement with them.

The published runs of memcached differ from the printed ones (see the README of the
data). So a cell that counts programs may differ by memcached's contribution: up to
MEMCACHED programs in the denominator, and any of these in the numerator. All other
cells must be equal, except for listed ones that were misread or differ from the
authors' data.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy
import pytest

REFERENCE = Path(__file__).resolve().parents[3] / "shared" / "reference"
MEMCACHED = 2


def reference(*parts: str) -> Path:
    """Return a file of the reference data; skip the test if it is missing."""
    path = REFERENCE.joinpath(*parts)
    if not path.exists():
        pytest.skip(
            f"the published data {'/'.join(parts)} are missing next to this tree"
        )
    return path


def printed(name: str) -> list[dict[str, str]]:
    """Return the rows of a printed table."""
    with reference("tocs", name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def is_memcached(program: str) -> bool:
    """Return whether the published runs of a program differ from the printed ones."""
    return program.startswith("memcached")


def possible(counted: int, total: int) -> set[int]:
    """Return the possible values of counted / total with memcached's programs added."""
    return {
        round(100 * (counted + extra) / (total + more))
        for more in range(MEMCACHED + 1)
        for extra in range(more + 1)
        if total + more
    }


class Agreement:
    """Counts the cells that agree, and lists the others."""

    def __init__(self, table: str) -> None:
        self.table = table
        self.cells = 0
        self.equal = 0
        self.wrong: list[str] = []

    def compare(self, where: str, want: str, got: int | str | None) -> None:
        """Check a cell that must be equal."""
        self.allow(where, want, {str(got)})

    def allow(self, where: str, want: str, got: set[str]) -> None:
        """Check a cell that must have one of these values."""
        self.cells += 1
        if want in got:
            self.equal += 1
        else:
            self.wrong.append(f"{where}: printed {want}, computed {sorted(got)}")

    def finish(self, cells: int, exceptions: int = 0) -> None:
        """Assert the number of cells, and that all but known exceptions agree."""
        print(f"table {self.table}: {self.equal} of {self.cells} cells agree")
        for line in self.wrong:
            print(f"  {line}")
        assert self.cells == cells
        assert len(self.wrong) == exceptions, self.wrong


def count(flags: numpy.ndarray) -> int:
    """Return the number of set flags."""
    return int(flags.sum())
