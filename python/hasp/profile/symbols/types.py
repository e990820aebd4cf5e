# SPDX-License-Identifier: MIT
"""Find structure fields by offset in DWARF type entries."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

SAME = (
    *("DW_TAG_typedef", "DW_TAG_const_type", "DW_TAG_volatile_type"),
    *("DW_TAG_restrict_type", "DW_TAG_atomic_type"),
)
STRUCTURES = ("DW_TAG_structure_type", "DW_TAG_class_type", "DW_TAG_union_type")
SCOPES = ("DW_TAG_namespace", "DW_TAG_structure_type", "DW_TAG_class_type")
# Lock types; their own fields are not searched.
LOCK_TYPE = re.compile(r"pthread_\w+_t|mtx_t|cnd_t|std::\w+|__gthread\w+")
DEEPEST = 8  # levels of nested fields


class Field(NamedTuple):
    """A nested field: `own.m`, or `rows[].m` in an array."""

    path: str
    is_lock: bool


def field_of(kind: Any, inside: int) -> Field | None:
    """Return `type.field` at an offset; None if there is no field."""
    name = _name(kind)
    found = _path(kind, inside, DEEPEST)
    if not name or not found.path:
        return None
    return Field(f"{name}.{found.path}", found.is_lock)


def size_of(kind: Any) -> int:
    """Return the size in bytes; 0 if unknown."""
    while kind.tag in SAME and "DW_AT_type" in kind.attributes:
        kind = kind.get_DIE_from_attribute("DW_AT_type")
    if "DW_AT_byte_size" in kind.attributes:
        return int(kind.attributes["DW_AT_byte_size"].value)
    if kind.tag == "DW_TAG_array_type":
        length = 1
        for part in kind.iter_children():
            bound = part.attributes.get("DW_AT_upper_bound")
            count = part.attributes.get("DW_AT_count")
            length *= count.value if count else bound.value + 1 if bound else 0
        return length * size_of(kind.get_DIE_from_attribute("DW_AT_type"))
    return 0


def _path(kind: Any, inside: int, depth: int) -> Field:
    """Return the names of nested fields, the outermost first; "" where none fits."""
    while kind.tag in SAME and "DW_AT_type" in kind.attributes:
        if LOCK_TYPE.fullmatch(_name(kind)):
            return Field("", True)
        kind = kind.get_DIE_from_attribute("DW_AT_type")
    if depth == 0 or LOCK_TYPE.fullmatch(_name(kind)):
        return Field("", depth > 0)
    if kind.tag == "DW_TAG_array_type":
        element = kind.get_DIE_from_attribute("DW_AT_type")
        step = size_of(element)
        deeper = _path(element, inside % step if step else 0, depth - 1)
        joint = "." if deeper.path else ""
        return Field(f"[]{joint}{deeper.path}", deeper.is_lock)
    for member in kind.iter_children() if kind.tag in STRUCTURES else ():
        where = member.attributes.get("DW_AT_data_member_location")
        begin = where.value if where else 0
        if "DW_AT_type" not in member.attributes or not isinstance(begin, int):
            continue
        of = member.get_DIE_from_attribute("DW_AT_type")
        if not begin <= inside < begin + size_of(of):
            continue
        deeper = _path(of, inside - begin, depth - 1)
        if member.tag == "DW_TAG_inheritance":
            return deeper
        if member.tag == "DW_TAG_member":
            name = _own_name(member)
            joint = "." if name and deeper.path and deeper.path[0] != "[" else ""
            return Field(f"{name}{joint}{deeper.path}", deeper.is_lock)
    return Field("", False)


def _own_name(entry: Any) -> str:
    name = entry.attributes.get("DW_AT_name")
    return str(name.value.decode(errors="replace")) if name else ""


def _name(kind: Any) -> str:
    """Return a type's qualified name; an anonymous typedef has its target's name."""
    own = _own_name(kind)
    if not own and kind.tag in SAME and "DW_AT_type" in kind.attributes:
        return _name(kind.get_DIE_from_attribute("DW_AT_type"))
    parent = kind.get_parent()
    if own and parent is not None and parent.tag in SCOPES and _own_name(parent):
        return f"{_name(parent)}::{own}"
    return own
