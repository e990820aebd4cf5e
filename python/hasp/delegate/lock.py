# SPDX-License-Identifier: MIT
"""The lock to delegate: finding its declaration from what the user names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hasp.base.errors import HaspError
from hasp.delegate.syntax import DECLARATIONS, REFERENCES, Node, Unit
from hasp.locks.site_name import SITE, last_name

MUTEX = "pthread_mutex_t"
OPERATION = re.compile(r"pthread_mutex_(?!attr)\w+")


@dataclass(frozen=True)
class Lock:
    """A lock: a variable or a member of a structure. An array of locks is one."""

    usr: str
    name: str
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.name}"


def find(wanted: str, units: Sequence[Unit]) -> Lock:
    """Return the lock of a site, "db.c:88 &db->mu", or of an expression, "db->mu".

    The line of a site may declare the lock, or pass it to a function of pthreads.
    Raises HaspError if there is no such lock, or more than one.
    """
    site = SITE.fullmatch(wanted.strip())
    name = last_name(site["expression"] or "" if site else wanted)
    if not site and not name:
        raise HaspError(
            f"{wanted!r} names no lock", "name its line or its name: --lock 'db.c:88'"
        )
    found = set(_at(site["file"], int(site["line"]), units) if site else _all(units))
    matching = {lock for lock in found if not name or lock.name == name}
    if not site and not matching:
        matching = {one for one in _all(units, pointers=True) if one.name == name}
    # A site without the lock's own name has the name of its structure's member.
    candidates = sorted(matching or (found if site else ()), key=str)
    if len(candidates) == 1:
        return candidates[0]
    if not candidates:
        _refuse_delegated(wanted, site, name, units)
        if any(Path(wanted).name == path.name for u in units for path in u.sources):
            raise HaspError(
                f"{wanted} names a file, not a lock",
                f"name a line of it, {wanted}:LINE; {_nearby(wanted, units)}",
            )
        raise HaspError(
            f"there is no pthread_mutex_t {'at' if site else 'of the name'} {wanted}",
            _nearby(site["file"] if site else "", units),
        )
    raise HaspError(
        f"{wanted} may be any of {', '.join(map(str, candidates[:6]))}",
        "name the line that declares it: --lock FILE:LINE",
    )


def _refuse_delegated(
    wanted: str, site: re.Match[str] | None, name: str, units: Sequence[Unit]
) -> None:
    """Raise HaspError if the object that is named has been rewritten before."""
    for node in _nodes(units):
        if node.kind not in DECLARATIONS:
            continue
        if "struct hasp_delegate" not in node.cursor.type.spelling:
            continue
        near = site and abs(node.line - int(site["line"])) <= 2
        if near or (name and node.name == name):
            raise HaspError(
                f"{wanted} is delegated already: {node.source.name}:{node.line}",
                "name another lock, or go back to the original source",
            )


def _nearby(file: str, units: Sequence[Unit]) -> str:
    known = set(_all(units))
    if not known:
        return "the compile database has no file that declares a pthread_mutex_t"
    near = {lock for lock in known if lock.file == file} or known
    locks = sorted(map(str, near))
    return f"the locks are {', '.join(locks[:8])}{' ...' if len(locks) > 8 else ''}"


def _all(units: Sequence[Unit], pointers: bool = False) -> Iterator[Lock]:
    kept = is_pointer if pointers else is_mutex
    for node in _nodes(units):
        if node.kind in DECLARATIONS and kept(node.cursor):
            yield lock_of(node.cursor, node)


def _at(file: str, line: int, units: Sequence[Unit]) -> Iterator[Lock]:
    for node in _nodes(units, Path(file)):
        if node.kind in DECLARATIONS and is_lock(node.cursor):
            if node.cursor.location.line == line:
                yield lock_of(node.cursor, node)
        elif node.kind in REFERENCES and node.referenced and is_lock(node.referenced):
            call = node.within(("CALL_EXPR",))
            if call and OPERATION.fullmatch(call.name) and call.line == line:
                yield lock_of(node.referenced, node)


def _nodes(units: Sequence[Unit], file: Path = Path()) -> Iterator[Node]:
    """Yield the nodes of all files, or of those whose path ends in `file`."""
    parts = file.parts
    for unit in units:
        for source in unit.sources.values():
            if parts and source.path.parts[-len(parts) :] != parts:
                continue
            for declaration in source.declarations:
                yield from declaration.walk()


def lock_of(cursor: Any, near: Node) -> Lock:
    """Return the lock that a cursor declares; `near` is a node of the same unit."""
    location = cursor.canonical.location
    name = location.file.name if location.file else near.source.name
    path = (near.source.unit.command.directory / name).resolve()
    source = near.source.unit.sources.get(path)
    return Lock(
        cursor.get_usr(),
        cursor.spelling,
        source.name if source else name,
        location.line,
    )


def is_mutex(cursor: Any) -> bool:
    """Return true if a cursor declares a mutex, or an array of them."""
    kind, pointers = type_below(cursor.type)
    return not pointers and bool(kind.get_declaration().spelling == MUTEX)


def is_pointer(cursor: Any) -> bool:
    """Return true if a cursor declares pointers to mutexes."""
    kind, pointers = type_below(cursor.type)
    return pointers > 0 and bool(kind.get_declaration().spelling == MUTEX)


def is_lock(cursor: Any) -> bool:
    """Return true if a cursor declares a mutex or a pointer to mutexes."""
    return is_mutex(cursor) or (is_pointer(cursor) and type_below(cursor.type)[1] == 1)


def type_below(kind: Any) -> tuple[Any, int]:
    """Return the type below arrays, pointers and other names, and the pointers."""
    pointers = 0
    while True:
        name = kind.kind.name
        if name in ("CONSTANTARRAY", "INCOMPLETEARRAY"):
            kind = kind.element_type
        elif name == "POINTER":
            kind, pointers = kind.get_pointee(), pointers + 1
        elif name == "ELABORATED":
            kind = kind.get_named_type()
        elif name == "TYPEDEF" and kind.get_declaration().spelling != MUTEX:
            kind = kind.get_declaration().underlying_typedef_type
        else:
            return kind, pointers
