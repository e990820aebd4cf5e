# SPDX-License-Identifier: MIT
"""Find the callers of a blocked thread by scanning its stack for return addresses.

Without unwinding, addresses left over from earlier calls are found too, so the result
is approximate. An address counts if it is in executable memory and follows a call
instruction.
"""

from __future__ import annotations

import struct
from bisect import bisect_right

from hasp.profile.attach.process import Mapping, Process

SCANNED = 2048  # bytes
FRAMES = 6
LIBRARIES = ("libc.so", "libc-", "libpthread", "ld-linux", "libstdc++", "libhasp")
X86 = 62


class Code:
    """The executable memory of a process, except for the C and C++ libraries."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._parts: list[Mapping] = []
        self._known: dict[int, bool] = {}
        self.renew()

    def renew(self) -> None:
        """Read the mappings again."""
        self._parts = [part for part in self._process.mappings() if part.executable]
        self._begins = [part.begin for part in self._parts]

    def callers(self, stack_pointer: int) -> tuple[int, ...]:
        """Return return addresses, the innermost first; () if there are none."""
        raw = self._process.read(stack_pointer, SCANNED)
        words = struct.unpack(f"<{len(raw) // 8}Q", raw[: len(raw) // 8 * 8])
        found = [word for word in words if self._is_return(word)]
        return tuple(found[:FRAMES])

    def _is_return(self, address: int) -> bool:
        if address not in self._known:
            self._known[address] = self._examine(address)
        return self._known[address]

    def _examine(self, address: int) -> bool:
        place = bisect_right(self._begins, address) - 1
        if place < 0 or address >= self._parts[place].end:
            return False
        name = self._parts[place].path.rpartition("/")[2]
        if name.startswith(LIBRARIES):
            return False
        before = self._process.read(address - 7, 7)
        if len(before) < 7:
            return False
        if self._process.machine == X86:
            return _follows_x86_call(before)
        word = int.from_bytes(before[3:7], "little")
        return word >> 26 == 0x25 or word & 0xFFFFFC1F == 0xD63F0000  # BL, BLR


def _follows_x86_call(before: bytes) -> bool:
    if before[2] == 0xE8:  # call rel32
        return True
    # call r/m: FF /2, with 2 to 7 bytes
    return any(
        before[7 - length] == 0xFF and before[8 - length] >> 3 & 7 == 2
        for length in range(2, 8)
    )
