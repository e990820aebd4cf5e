# SPDX-License-Identifier: MIT
"""Functions, lines and inlined calls of a file, from DWARF or the symbol table."""

from __future__ import annotations

from typing import Any, NamedTuple

from hasp.base.elf.demangle import demangled
from hasp.base.elf.sections import Elf


class Place(NamedTuple):
    """The source location of an address."""

    function: str
    file: str | None
    line: int | None


class LineTable:
    """Answers queries about one file.

    Inlined calls give an address several locations.
    """

    def __init__(self, elf: Elf, cache: Any) -> None:
        self._load_address = elf.load_address
        self._cache = cache

    def at(self, address: int) -> list[Place]:
        """Return the locations of an address, the innermost inlined call first."""
        relative = address - self._load_address
        if not 0 <= relative < 1 << 32:  # the range of the tables
            return []
        return [
            Place(demangled(found.symbol or ""), found.full_path, found.line or None)
            for found in self._cache.lookup(relative)
        ]


def line_table(elf: Elf) -> LineTable | None:
    """Return the tables of a file; None if its debug information is unreadable."""
    # Imported here because it takes 50 ms.
    from symbolic.debuginfo import Archive
    from symbolic.exceptions import SymbolicError

    try:
        with elf.path.open("rb") as file:
            # By its descriptor, because the library accepts only UTF-8 as a path.
            archive = Archive.open(f"/proc/self/fd/{file.fileno()}")
        first = next(archive.iter_objects(), None)
        if first is None:
            return None
        return LineTable(elf, first.make_symcache())
    except (OSError, SymbolicError):
        return None
