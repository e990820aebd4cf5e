# SPDX-License-Identifier: MIT
"""Find the library function that a call names, where the stack does not show it.

A function that ends by calling another one may jump to it, and is in no stack then:
calloc() jumps to memset(). The call instruction tells which one was called: it goes
through the procedure linkage table, whose entry jumps to the address in a relocated
slot (System V ABI, x86-64 supplement, section 5.2). Other machines are not decoded.
"""

from __future__ import annotations

import struct
from functools import cached_property
from typing import Any

from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection

from hasp.base.elf.damaged import DAMAGED
from hasp.base.elf.sections import Elf

CALL = b"\xe8"  # call rel32
CALL_SLOT = b"\xff\x15"  # call *rel32(%rip)
JUMP_SLOT = b"\xff\x25"  # jmp *rel32(%rip)
ENDBR = b"\xf3\x0f\x1e\xfa"
BND = b"\xf2"
ENTRY = 16  # bytes of an entry of the procedure linkage table


class Callees:
    """Answers queries about one file."""

    def __init__(self, elf: Elf) -> None:
        self._elf = elf

    @cached_property
    def _sections(self) -> Any:
        return ELFFile(self._elf.path.open("rb"))

    @cached_property
    def _slots(self) -> dict[int, str]:
        """The names of the functions whose addresses are relocated into slots."""
        found = {}
        for section in self._sections.iter_sections():
            if not isinstance(section, RelocationSection):
                continue
            symbols = self._sections.get_section(section["sh_link"])
            if symbols is None or not hasattr(symbols, "get_symbol"):
                continue
            for one in section.iter_relocations():
                name = symbols.get_symbol(one["r_info_sym"]).name
                if name:
                    found[one["r_offset"]] = name
        return found

    def at(self, return_address: int) -> str | None:
        """Return the name of the library function called before this address.

        None if the call does not go through the linkage table or is not decoded.
        """
        try:
            if self._sections["e_machine"] != "EM_X86_64":
                return None
            slot = self._slot(return_address)
            return None if slot is None else self._slots.get(slot)
        except DAMAGED:
            return None

    def _slot(self, after: int) -> int | None:
        code = self._bytes(after - 6, 6)
        if code[:2] == CALL_SLOT:
            return after + _signed(code[2:])
        if code[1:2] != CALL:
            return None
        entry = after + _signed(code[2:])
        code = self._bytes(entry, ENTRY)
        skipped = len(ENDBR) if code.startswith(ENDBR) else 0
        skipped += code[skipped : skipped + 1] == BND
        if code[skipped : skipped + 2] != JUMP_SLOT or len(code) < skipped + 6:
            return None
        return entry + skipped + 6 + _signed(code[skipped + 2 : skipped + 6])

    def _bytes(self, address: int, count: int) -> bytes:
        for segment in self._sections.iter_segments("PT_LOAD"):
            begin = address - segment["p_vaddr"]
            if 0 <= begin <= segment["p_filesz"] - count:
                self._sections.stream.seek(segment["p_offset"] + begin)
                return bytes(self._sections.stream.read(count))
        return bytes(count)


def _signed(raw: bytes) -> int:
    return int(struct.unpack("<i", raw)[0])
