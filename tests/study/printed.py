# SPDX-License-Identifier: MIT
"""The tables that the lock study printed, and what counts as agreement with them.

The released runs of memcached are not the ones that were printed (the data's own
README says so). A cell that counts programs may therefore differ by what memcached's
programs add: up to MEMCACHED of them in the denominator, any of these in the numerator.
Everything else must be equal, but for cells listed as exceptions: misread ones, and
those that differ from the authors' own data.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy
import pytest

REFERENCE = Path(__file__).resolve().parents[3] / "shared" / "reference"
MEMCACHED = 2


def reference(*parts: str) -> Path:
    """A file of the reference data; the test is skipped where there is none."""
    path = REFERENCE.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"the published data {'/'.join(parts)} are not beside this tree")
    return path


def printed(name: str) -> list[dict[str, str]]:
    """The rows of a printed table."""
    with reference("tocs", name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def is_memcached(program: str) -> bool:
    """Whether its released runs are others than the printed ones."""
    return program.startswith("memcached")


def possible(counted: int, total: int) -> set[int]:
    """The percentages that counted of total may have become with memcached's own."""
    return {
        round(100 * (counted + extra) / (total + more))
        for more in range(MEMCACHED + 1)
        for extra in range(more + 1)
        if total + more
    }


class Agreement:
    """Counts the cells that agree and says which do not."""

    def __init__(self, table: str) -> None:
        self.table = table
        self.cells = 0
        self.equal = 0
        self.wrong: list[str] = []

    def compare(self, where: str, want: str, got: int | str | None) -> None:
        """A cell that must be equal."""
        self.allow(where, want, {str(got)})

    def allow(self, where: str, want: str, got: set[str]) -> None:
        """A cell that must be one of these."""
        self.cells += 1
        if want in got:
            self.equal += 1
        else:
            self.wrong.append(f"{where}: printed {want}, computed {sorted(got)}")

    def finish(self, cells: int, exceptions: int = 0) -> None:
        """All of `cells` agree but for so many known exceptions."""
        print(f"table {self.table}: {self.equal} of {self.cells} cells agree")
        for line in self.wrong:
            print(f"  {line}")
        assert self.cells == cells
        assert len(self.wrong) == exceptions, self.wrong


def count(flags: numpy.ndarray) -> int:
    """How many are set."""
    return int(flags.sum())
