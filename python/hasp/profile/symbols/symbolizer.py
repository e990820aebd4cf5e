# SPDX-License-Identifier: MIT
"""Resolve addresses of a traced program to functions, lines or objects."""

from __future__ import annotations

from dataclasses import dataclass

from hasp.base.elf.sections import Elf, Objects, objects_of
from hasp.profile.symbols.argument import Fields
from hasp.profile.symbols.callees import Callees
from hasp.profile.symbols.files import ModuleFiles, files_of
from hasp.profile.symbols.frame import Frame, Stack
from hasp.profile.symbols.lines import LineTable, Place, line_table
from hasp.profile.symbols.modules import Module, ModuleMap
from hasp.profile.symbols.source import Sources


@dataclass(frozen=True)
class Datum:
    """The global object that contains an address."""

    module: Module
    symbol: str  # demangled
    offset: int  # of the address within the object
    address_offset: int  # of the address in the module's file


class Symbolizer:
    """Resolves each address once, and opens files on demand.

    `began` is the program's start time in seconds since the epoch; sources modified
    later are not quoted.
    """

    def __init__(self, modules: ModuleMap, began: float) -> None:
        self.modules = modules
        self.doubts: list[str] = []
        self.sources = Sources(began)
        self.answered_frames: dict[int, Stack] = {}
        self.answered_data: dict[int, Datum | None] = {}
        self.answered_fields: dict[int, str | None] = {}
        self.answered_calls: dict[int, str | None] = {}
        self._callees: dict[Module, list[Callees]] = {}
        self._fields: dict[Module, list[Fields]] = {}
        self._files: dict[Module, ModuleFiles] = {}
        self._tables: dict[Module, list[LineTable]] = {}
        self._objects: dict[Module, list[Objects]] = {}

    def stack(self, addresses: list[int]) -> Stack:
        """Return the frames of a stack of return addresses."""
        return tuple(frame for each in addresses for frame in self.frames(each))

    def frames(self, address: int) -> Stack:
        """Return the frames of one return address:

        inlined calls first, then the function.
        """
        if address not in self.answered_frames:
            self.answered_frames[address] = self._look_up(address)
        return self.answered_frames[address]

    def datum(self, address: int) -> Datum | None:
        """Return the object that contains the address; None if there is none."""
        if address not in self.answered_data:
            self.answered_data[address] = self._object_at(address)
        return self.answered_data[address]

    def lines(self, path: str, line: int) -> list[str]:
        """Return a few source lines from that line on; none if they are unreadable."""
        return self.sources.lines(path, line)

    def field(self, address: int) -> str | None:
        """Return `type.field` of the lock in the call returning there.

        None if unknown.
        """
        if address not in self.answered_fields:
            self.answered_fields[address] = self._field_at(address)
        return self.answered_fields[address]

    def callee(self, address: int) -> str | None:
        """Return the library function in the call returning there; None if unknown."""
        if address not in self.answered_calls:
            self.answered_calls[address] = self._callee_at(address)
        return self.answered_calls[address]

    def _callee_at(self, address: int) -> str | None:
        module = self.modules.find(address)
        if module is None:
            return None
        if module not in self._callees:
            self._callees[module] = [Callees(elf) for elf in self._elves(module)]
        offset = module.offset(address)
        answers = (callees.at(offset) for callees in self._callees[module])
        return next((answer for answer in answers if answer), None)

    def _field_at(self, address: int) -> str | None:
        module = self.modules.find(address)
        if module is None:
            return None
        if module not in self._fields:
            self._fields[module] = [Fields(elf) for elf in self._elves(module)]
        offset = module.offset(address)
        answers = (fields.at(offset) for fields in self._fields[module])
        return next((answer for answer in answers if answer), None)

    def _look_up(self, address: int) -> Stack:
        module = self.modules.find(address)
        if module is None:
            return (Frame(address, "", address, "", None, None),)
        offset = module.offset(address)
        # The call precedes its return address, and may be on an earlier line.
        places = self._places(module, offset - 1) or [Place("", None, None)]
        return tuple(
            Frame(address, module.name, offset, *place, inlined=depth < len(places) - 1)
            for depth, place in enumerate(places)
        )

    def _places(self, module: Module, address: int) -> list[Place]:
        if module not in self._tables:
            tables = [line_table(elf) for elf in self._elves(module)]
            self._tables[module] = [table for table in tables if table]
        answers = [table.at(address) for table in self._tables[module]]
        with_lines = [places for places in answers if any(p.line for p in places)]
        return next((places for places in (*with_lines, *answers) if places), [])

    def _object_at(self, address: int) -> Datum | None:
        module = self.modules.find(address)
        if module is None:
            return None
        if module not in self._objects:
            found = [objects_of(elf) for elf in self._elves(module)]
            self._objects[module] = [objects for objects in found if objects]
        offset = module.offset(address)
        for objects in self._objects[module]:
            at = objects.at(offset)
            if at:
                return Datum(module, at[0], at[1], offset)
        return None

    def _elves(self, module: Module) -> tuple[Elf, ...]:
        if module not in self._files:
            self._files[module] = files_of(module)
            doubt = self._files[module].doubt
            if doubt:
                self.doubts.append(doubt)
        return self._files[module].elves
