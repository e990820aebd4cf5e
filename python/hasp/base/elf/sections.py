# SPDX-License-Identifier: MIT
"""Read the build ID and the global variables of an ELF file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from elftools.elf.elffile import ELFFile
from numpy.typing import NDArray

from hasp.base.elf.build_id import build_id_of
from hasp.base.elf.damaged import DAMAGED
from hasp.base.elf.demangle import demangled

SYMBOL = np.dtype(  # Elf64_Sym
    [
        ("name", np.uint32),
        ("info", np.uint8),
        ("other", np.uint8),
        ("section", np.uint16),
        ("value", np.uint64),
        ("size", np.uint64),
    ]
)
OBJECT = 1  # STT_OBJECT
UNDEFINED = 0  # SHN_UNDEF


@dataclass(frozen=True)
class Elf:
    """The facts read from an ELF file."""

    path: Path
    build_id: str  # hexadecimal, "" if it has none
    load_address: int  # of its first segment; symbol addresses are relative to 0
    debug_link: str | None  # name of its separate debug file


class Objects:
    """The global variables of a file, sorted by address."""

    def __init__(self, symbols: NDArray[np.void], names: bytes) -> None:
        self._symbols = symbols[np.argsort(symbols["value"], kind="stable")]
        self._names = names

    def __len__(self) -> int:
        return len(self._symbols)

    def at(self, address: int) -> tuple[str, int] | None:
        """Return the variable that contains an address, and the offset within it."""
        values = self._symbols["value"]
        index = int(np.searchsorted(values, np.uint64(address), "right")) - 1
        if index < 0:
            return None
        symbol = self._symbols[index]
        inside = address - int(symbol["value"])
        if inside >= int(symbol["size"]):
            return None
        begin = int(symbol["name"])
        raw = self._names[begin : self._names.find(b"\0", begin)]
        return demangled(raw.decode(errors="replace")), inside


def read_elf(path: Path) -> Elf | None:
    """Read a file; return None if it is missing, truncated or not an ELF file."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            elf = ELFFile(file)
            loads = [segment["p_vaddr"] for segment in elf.iter_segments("PT_LOAD")]
            return Elf(path, build_id_of(elf), min(loads, default=0), _debug_link(elf))
    except DAMAGED:
        return None


def _debug_link(elf: Any) -> str | None:
    section = elf.get_section_by_name(".gnu_debuglink")
    name = section.data().split(b"\0")[0].decode(errors="replace") if section else ""
    return Path(name).name or None


def objects_of(elf: Elf) -> Objects | None:
    """Return the variables in a file's symbol table, or else in the dynamic one."""
    try:
        with elf.path.open("rb") as file:
            sections = ELFFile(file)
            for name in (".symtab", ".dynsym"):
                table = sections.get_section_by_name(name)
                if table is None or table["sh_type"] == "SHT_NOBITS":
                    continue
                raw = table.data()
                whole = len(raw) // SYMBOL.itemsize * SYMBOL.itemsize
                symbols = np.frombuffer(raw[:whole], SYMBOL)
                wanted = (symbols["info"] & 15 == OBJECT) & (symbols["size"] > 0)
                wanted &= symbols["section"] != UNDEFINED
                names = sections.get_section(table["sh_link"]).data()
                return Objects(symbols[wanted], names)
    except DAMAGED:
        return None
    return None
