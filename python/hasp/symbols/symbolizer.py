# SPDX-License-Identifier: MIT
"""Answers what an address of a traced program is: its function, line or object."""

from __future__ import annotations

from dataclasses import dataclass

from hasp.profile.model import Frame, Stack
from hasp.symbols.modules import Module, ModuleMap


@dataclass(frozen=True)
class Datum:
    """The global object in which an address lies."""

    module: Module
    symbol: str  # demangled
    offset: int  # of the address in the object
    address_offset: int  # of the address in the module's file


class Symbolizer:
    """Every answer is looked up once."""

    def __init__(self, modules: ModuleMap) -> None:
        self.modules = modules
        self.doubts: list[str] = []
        self._frames: dict[int, Stack] = {}
        self._data: dict[int, Datum | None] = {}

    def frames(self, address: int) -> Stack:
        """The frame of a return address, and before it the calls inlined there."""
        if address not in self._frames:
            self._frames[address] = self._look_up(address)
        return self._frames[address]

    def stack(self, addresses: list[int]) -> Stack:
        """The frames of a whole stack."""
        return tuple(frame for each in addresses for frame in self.frames(each))

    def _look_up(self, address: int) -> Stack:
        module = self.modules.find(address)
        if module is None:
            return (Frame(address, "", address, "", None, None),)
        offset = module.offset(address)
        return (Frame(address, module.name, offset, "", None, None),)

    def datum(self, address: int) -> Datum | None:
        """None for what is not in a module's data."""
        return None

    def lines(self, path: str, line: int) -> list[str]:
        """The source from that line on, a few lines; none where it is not readable."""
        return []
