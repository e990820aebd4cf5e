# SPDX-License-Identifier: MIT
"""Find the structure field that holds a lock, `db.mu`, where no source is available.

Compilers describe how a call's arguments derive from values of the caller (call site
parameters), and where its variables are at that point. If the first argument derives
from a pointer variable, the pointer's type and the offset give the field (DWARF 5,
sections 2.5.1.7 and 3.4). Only optimised builds contain this; for others the source is
quoted.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

from elftools.dwarf.dwarf_expr import DWARFExprParser
from elftools.dwarf.locationlists import LocationExpr, LocationParser
from elftools.elf.elffile import ELFFile

from hasp.base.elf.damaged import DAMAGED
from hasp.base.elf.sections import Elf
from hasp.profile.symbols.types import Field, field_of, size_of

FIRST_ARGUMENT = {"EM_X86_64": 5, "EM_AARCH64": 0}  # the register's number in DWARF
CALL_SITES = ("DW_TAG_call_site", "DW_TAG_GNU_call_site")
PARAMETERS = ("DW_TAG_call_site_parameter", "DW_TAG_GNU_call_site_parameter")
RETURNS = ("DW_AT_call_return_pc", "DW_AT_low_pc")
VALUES = ("DW_AT_call_value", "DW_AT_GNU_call_site_value")
ENTRY_VALUES = ("DW_OP_entry_value", "DW_OP_GNU_entry_value")
VARIABLES = ("DW_TAG_formal_parameter", "DW_TAG_variable")
POINTERS = (
    *("DW_TAG_pointer_type", "DW_TAG_reference_type", "DW_TAG_rvalue_reference_type"),
)
# about two seconds of reading debug information, for all queries together
MOST_ENTRIES = 80_000


class Sum(NamedTuple):
    """The value of a register, now or at function entry, plus an offset."""

    base: str
    distance: int


class Place(NamedTuple):
    """The location of a variable."""

    value: Sum
    holds: bool  # valid during the call; otherwise only after it


class Fields:
    """Answers queries about one file until its budget is used up."""

    def __init__(self, elf: Elf) -> None:
        self._elf = elf
        self._left = MOST_ENTRIES

    @cached_property
    def _sections(self) -> Any:
        return ELFFile(self._elf.path.open("rb"))

    @cached_property
    def _dwarf(self) -> Any:
        return self._sections.get_dwarf_info()

    @cached_property
    def _ranges(self) -> Any:
        return self._dwarf.get_aranges()

    @cached_property
    def _first(self) -> Sum | None:
        """The register of the first argument."""
        number = FIRST_ARGUMENT.get(self._sections["e_machine"])
        return None if number is None else Sum(f"r{number}", 0)

    def at(self, return_address: int) -> str | None:
        """Return the type and field that the call passes.

        None if DWARF does not describe the argument.
        """
        try:
            if not self._sections.has_dwarf_info() or self._first is None:
                return None
            return self._find(return_address)
        except DAMAGED:
            return None

    def _find(self, return_address: int) -> str | None:
        for function in self._functions(return_address - 1):
            entries = list(self._below(function))
            argument = self._argument(entries, return_address)
            if argument is None:
                continue
            places = [
                (entry, place)
                for entry in entries
                if entry.tag in VARIABLES
                for place in self._places(entry, return_address - 1)
            ]
            # A location that is valid during the call is certain. One that is valid
            # only after it, in the same register, is very likely right, because the
            # field must be a lock.
            for entry, place in sorted(places, key=lambda each: not each[1].holds):
                field = self._in_variable(entry, place, argument)
                if field and field.is_lock:
                    return field.path
        return None

    def _functions(self, address: int) -> Iterator[Any]:
        """Yield the functions that cover the address."""
        unit = self._unit(address)
        if unit is None:
            return
        for entry in unit.get_top_DIE().iter_children():
            self._left -= 1
            if self._left < 0:
                return
            if entry.tag == "DW_TAG_subprogram" and self._covers(entry, address):
                yield entry

    def _unit(self, address: int) -> Any:
        offset = self._ranges.cu_offset_at_addr(address) if self._ranges else None
        if offset is not None:
            return self._dwarf.get_CU_at(offset)
        tops = ((unit, unit.get_top_DIE()) for unit in self._dwarf.iter_CUs())
        return next((unit for unit, top in tops if self._covers(top, address)), None)

    def _covers(self, entry: Any, address: int) -> bool:
        attributes = entry.attributes
        if "DW_AT_ranges" in attributes:
            lists = self._dwarf.range_lists()
            value = attributes["DW_AT_ranges"].value
            base = _low(entry.cu.get_top_DIE())
            for part in lists.get_range_list_at_offset(value, entry.cu):
                if hasattr(part, "base_address"):
                    base = part.base_address
                    continue
                shift = 0 if getattr(part, "is_absolute", False) else base
                if part.begin_offset + shift <= address < part.end_offset + shift:
                    return True
            return False
        if "DW_AT_low_pc" not in attributes or "DW_AT_high_pc" not in attributes:
            return False
        low, high = _low(entry), attributes["DW_AT_high_pc"]
        end = high.value if high.form == "DW_FORM_addr" else low + high.value
        return bool(low <= address < end)

    def _below(self, entry: Any) -> Iterator[Any]:
        for child in entry.iter_children():
            self._left -= 1
            if self._left < 0:
                return
            yield child
            yield from self._below(child)

    def _argument(self, entries: list[Any], return_address: int) -> Sum | None:
        """Return the expression of the call's first argument."""
        for entry in entries:
            if entry.tag not in CALL_SITES:
                continue
            places = [
                entry.attributes[n].value for n in RETURNS if n in entry.attributes
            ]
            if return_address not in places[:1]:
                continue
            for parameter in entry.iter_children():
                where = parameter.attributes.get("DW_AT_location")
                value = next(
                    (
                        parameter.attributes[n]
                        for n in VALUES
                        if n in parameter.attributes
                    ),
                    None,
                )
                if parameter.tag not in PARAMETERS or where is None or value is None:
                    continue
                if self._sum(entry, where.value) == self._first:
                    return self._sum(entry, value.value)
        return None

    def _sum(self, entry: Any, expression: list[int]) -> Sum | None:
        """Evaluate the few forms that pointers into an object take."""
        parsed = DWARFExprParser(entry.cu.structs).parse_expr(expression)
        steps = [step for step in parsed if step.op_name != "DW_OP_stack_value"]
        if not steps or len(steps) > 2:
            return None
        name, arguments = steps[0].op_name, steps[0].args
        found = None
        if name == "DW_OP_fbreg":
            found = Sum("frame", arguments[0])
        elif name.startswith("DW_OP_breg"):
            found = Sum(f"r{name[len('DW_OP_breg') :]}", arguments[0])
        elif name in ENTRY_VALUES and len(arguments[0]) == 1:
            inner = arguments[0][0].op_name
            found = Sum(f"entry {inner[len('DW_OP_') :]}", 0)
        elif name.startswith("DW_OP_reg") and name[len("DW_OP_reg") :].isdigit():
            found = Sum(f"r{name[len('DW_OP_reg') :]}", 0)
        if found and len(steps) == 2:
            if steps[1].op_name != "DW_OP_plus_uconst":
                return None
            return Sum(found.base, found.distance + steps[1].args[0])
        return found

    def _in_variable(self, entry: Any, place: Place, argument: Sum) -> Field | None:
        """Return the field in the object that this variable contains or points to."""
        if place.value.base != argument.base:
            return None
        origin = entry
        while "DW_AT_type" not in origin.attributes:
            if "DW_AT_abstract_origin" not in origin.attributes:
                return None
            origin = origin.get_DIE_from_attribute("DW_AT_abstract_origin")
        kind = origin.get_DIE_from_attribute("DW_AT_type")
        while kind.tag in ("DW_TAG_const_type", "DW_TAG_volatile_type"):
            kind = kind.get_DIE_from_attribute("DW_AT_type")
        if place.value.base != "frame":
            if kind.tag not in POINTERS or "DW_AT_type" not in kind.attributes:
                return None
            kind = kind.get_DIE_from_attribute("DW_AT_type")
        inside = argument.distance - place.value.distance
        return field_of(kind, inside) if 0 <= inside < size_of(kind) else None

    def _places(self, entry: Any, address: int) -> Iterator[Place]:
        """Yield the variable's locations at the address and after it."""
        where = entry.attributes.get("DW_AT_location")
        parser = LocationParser(self._dwarf.location_lists())
        version = entry.cu["version"]
        if where is None or not parser.attribute_has_location(where, version):
            return
        parsed: Any = parser.parse_from_attribute(where, version, entry)
        if isinstance(parsed, LocationExpr):
            value = self._sum(entry, parsed.loc_expr)
            if value:
                yield Place(value, holds=True)
            return
        base = _low(entry.cu.get_top_DIE())
        for part in parsed:
            if hasattr(part, "base_address"):
                base = part.base_address
                continue
            if not hasattr(part, "loc_expr"):
                continue  # a location view pair
            shift = 0 if getattr(part, "is_absolute", False) else base
            if address < part.end_offset + shift:
                value = self._sum(entry, part.loc_expr)
                if value:
                    yield Place(value, holds=part.begin_offset + shift <= address)


def _low(entry: Any) -> int:
    low = entry.attributes.get("DW_AT_low_pc")
    return int(low.value) if low else 0
