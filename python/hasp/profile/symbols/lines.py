# SPDX-License-Identifier: MIT
"""Functions, lines and inlined calls of a file, from its DWARF or symbol table."""

from __future__ import annotations

from typing import Any, NamedTuple

from hasp.base.elf.demangle import demangled
from hasp.base.elf.sections import Elf


class Place(NamedTuple):
    """Where an address is in the source."""

    function: str
    file: str | None
    line: int | None


class LineTable:
    """Answers for one file. An address inlined into others has several places."""

    def __init__(self, elf: Elf, cache: Any) -> None:
        self._load_address = elf.load_address
        self._cache = cache

    def at(self, address: int) -> list[Place]:
        """The innermost inlined call first; none where nothing is known."""
        relative = address - self._load_address
        if not 0 <= relative < 1 << 32:  # what the tables can hold
            return []
        return [
            Place(demangled(found.symbol or ""), found.full_path, found.line or None)
            for found in self._cache.lookup(relative)
        ]


def line_table(elf: Elf) -> LineTable | None:
    """None for a file whose debug information is damaged or of an unknown kind."""
    # Here, for these take 50 ms.
    from symbolic.debuginfo import Archive
    from symbolic.exceptions import SymbolicError

    try:
        archive = Archive.open(str(elf.path))
        first = next(archive.iter_objects(), None)
        if first is None:
            return None
        return LineTable(elf, first.make_symcache())
    except SymbolicError:
        return None
