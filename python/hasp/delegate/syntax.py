# SPDX-License-Identifier: MIT
"""Syntax trees of the program's files, made from libclang's."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from hasp.base.errors import HaspError
from hasp.delegate.compile_database import Command
from hasp.delegate.libclang import (
    children,
    cindex,
    extent,
    file_handle,
    file_offset,
    header_folder,
    header_options,
    parse,
    skipped_ranges,
)
from hasp.delegate.refusal import Refusal, Refused
from hasp.delegate.tokens import line_of, tokens
from hasp.locks.library import settings

MACRO_RECORDS = (501, 503)  # CXCursor_MacroDefinition, CXCursor_InclusionDirective
ERROR = 3  # severity of a diagnostic
# GCC before 14 compiles these with a warning; libclang would not.
LENIENT = tuple(
    f"-Wno-error={name}"
    for name in (
        *("implicit-function-declaration", "implicit-int"),
        *("int-conversion", "incompatible-pointer-types"),
    )
)
DECLARATIONS = ("VAR_DECL", "FIELD_DECL", "PARM_DECL")
REFERENCES = ("DECL_REF_EXPR", "MEMBER_REF_EXPR", "MEMBER_REF")
NAMING = (*DECLARATIONS, *REFERENCES, "FUNCTION_DECL")
SIZE = "CXX_UNARY_EXPR"  # sizeof, also in C
# Kinds of expressions that have the value of their only child.
TRANSPARENT = ("UNEXPOSED_EXPR", "PAREN_EXPR")
# Kinds that never have children; a third of all nodes.
LEAVES = ("INTEGER_LITERAL", "CHARACTER_LITERAL", "STRING_LITERAL", "TYPE_REF")


@cache
def _kind_name(number: int) -> str:
    return str(cindex().CursorKind.from_id(number).name)


class Node:
    """A node of a syntax tree. Uses of macros stand for what they expand to."""

    def __init__(self, cursor: Any, source: Source, parent: Node | None) -> None:
        self.cursor = cursor
        self.source = source
        self.parent = parent
        self.kind = _kind_name(cursor._kind_id)
        self.start, self.end = extent(cursor)
        below = () if self.kind in LEAVES else children(cursor)
        self.children = [Node(each, source, self) for each in below]

    def walk(self) -> Iterator[Node]:
        """Yield this node and all below, in the order of the source."""
        todo = [self]
        while todo:
            node = todo.pop()
            yield node
            todo.extend(reversed(node.children))

    def ancestors(self) -> Iterator[Node]:
        """Yield the nodes above, the nearest first."""
        node = self.parent
        while node:
            yield node
            node = node.parent

    def within(self, kinds: tuple[str, ...]) -> Node | None:
        """Return the nearest node above of one of these kinds."""
        return next((each for each in self.ancestors() if each.kind in kinds), None)

    @cached_property
    def referenced(self) -> Any:
        """The declaration that a reference names, or None."""
        return self.cursor.referenced

    @cached_property
    def usr(self) -> str:
        """libclang's name for the declaration that is referenced, or ""."""
        return str(self.referenced.get_usr()) if self.referenced else ""

    @cached_property
    def offset(self) -> int:
        """Where the name of a reference stands, also inside a macro's argument."""
        return file_offset(self.cursor.location)

    @property
    def name(self) -> str:
        """The name of a declaration, a reference or a called function."""
        return str(self.cursor.spelling)

    @property
    def line(self) -> int:
        """The line where the node begins."""
        return line_of(self.source.text, self.start)

    @property
    def place(self) -> tuple[Path, int]:
        """The file and the offset where the node begins, the same in each unit."""
        return self.source.path, self.start

    @property
    def is_literal(self) -> bool:
        """True if a call begins with the function's name, false if with a macro."""
        return self.source.text.startswith(self.name.encode(), self.start)

    def plain(self) -> Node:
        """Return the expression below parentheses and implicit conversions."""
        node = self
        while node.kind in TRANSPARENT and len(node.children) == 1:
            node = node.children[0]
        return node

    def refuse(self, reason: str, remedy: str = "") -> Refused:
        """Return the exception that refuses what is done here."""
        return Refused(self.refusal(reason, remedy))

    def refusal(self, reason: str, remedy: str = "") -> Refusal:
        """Return a refusal of what is done here."""
        return Refusal(self.source.name, self.line, reason, remedy)


class Source:
    """A file of the program: its text as bytes, and the macros that it uses."""

    def __init__(self, path: Path, spelled: str, unit: Unit) -> None:
        self.path = path
        self.spelled = spelled  # as #line shows it
        self.name = shown(spelled)
        self.unit = unit
        self.text = path.read_bytes()
        self.declarations: list[Node] = []
        self.macros: dict[int, tuple[int, list[Any]]] = {}

    def add_macro(self, cursor: Any) -> None:
        """Record the use of a macro."""
        start, end = extent(cursor)
        known = self.macros.setdefault(start, (end, []))
        known[1].append(cursor)
        self.macros[start] = (max(end, known[0]), known[1])

    @cached_property
    def words(self) -> frozenset[bytes]:
        """Every identifier of the file."""
        return frozenset(
            token.text for token in tokens(self.text) if token.kind == "name"
        )

    @cached_property
    def _skipped(self) -> list[tuple[int, int]]:
        return skipped_ranges(self.unit.translation_unit, self.path)

    def leaves_out(self, offset: int) -> bool:
        """Return true for code that the preprocessor leaves out."""
        return any(start <= offset < end for start, end in self._skipped)

    def macros_in(self, start: int, end: int) -> Iterator[Any]:
        """Yield the uses of macros in a range, also those inside other macros."""
        for offset, (_, cursors) in self.macros.items():
            if start <= offset < end:
                yield from cursors

    @property
    def functions(self) -> list[Node]:
        """The functions that the file defines."""
        return [
            node
            for node in self.declarations
            if node.kind == "FUNCTION_DECL" and node.cursor.is_definition()
        ]


def shown(name: str) -> str:
    """Return a file's name as messages show it: short, if it is below this folder."""
    path = Path(name)
    if path.is_absolute() and path.is_relative_to(Path.cwd()):
        return str(path.relative_to(Path.cwd()))
    return name


class Unit:
    """A translation unit: the source files that it is made of, without the system's."""

    def __init__(self, command: Command) -> None:
        self.command = command
        # A program that delegates another lock already includes Hasp's header.
        flags = [*shlex.split(settings()["cflags"]), *LENIENT, "-ferror-limit=0"]
        headers = header_folder(command.compiler)
        if headers:
            flags += header_options(headers)
        options = [*command.options, *flags]
        self.translation_unit = parse(command.file, options, command.directory)
        self._require_success(headers)
        self.sources: dict[Path, Source] = {}
        self._files: dict[int, Source | None] = {}
        for cursor in children(self.translation_unit.cursor):
            self._add(cursor)

    def named(self, name: str) -> list[Node]:
        """Return the declarations and references of this name."""
        return self._index.get(name, [])

    @cached_property
    def _index(self) -> dict[str, list[Node]]:
        index: dict[str, list[Node]] = {}
        for source in self.sources.values():
            for declaration in source.declarations:
                for node in declaration.walk():
                    if node.kind in NAMING:
                        index.setdefault(node.name, []).append(node)
        return index

    @property
    def is_c(self) -> bool:
        """True for C, false for C++."""
        return self.command.file.suffix == ".c"

    @cached_property
    def files(self) -> list[Path]:
        """The file and what it includes, headers of the system too."""
        names = {each.include.name for each in self.translation_unit.get_includes()}
        return [
            self.command.file,
            *((self.command.directory / name).resolve() for name in sorted(names)),
        ]

    def _require_success(self, headers: Path | None) -> None:
        for diagnostic in self.translation_unit.diagnostics:
            if diagnostic.severity >= ERROR:
                where = diagnostic.location
                name = where.file.name if where.file else self.command.spelled
                # Functions for vector instructions that only another compiler has.
                if headers and Path(name).is_relative_to(headers):
                    continue
                raise HaspError(
                    f"{shown(name)}:{where.line}: {diagnostic.spelling}",
                    f"{shown(self.command.spelled)} does not compile with libclang: "
                    "build the program first, so that generated headers exist; mend "
                    "the source, or write the compile database again",
                )

    def _add(self, cursor: Any) -> None:
        # Headers define thousands of macros, and only their uses matter.
        if cursor._kind_id in MACRO_RECORDS:
            return
        handle = file_handle(cursor)
        if handle is None:
            return
        if handle not in self._files:
            self._files[handle] = self._open(cursor.location)
        source = self._files[handle]
        if source is None:
            return
        if cursor.kind.name == "MACRO_INSTANTIATION":
            source.add_macro(cursor)
        elif not cursor.kind.is_preprocessing():
            source.declarations.append(Node(cursor, source, None))

    def _open(self, location: Any) -> Source | None:
        """Return the file of a location, None if it is the system's."""
        if location.is_in_system_header:
            return None
        name = location.file.name
        path = Path(self.command.directory, name).resolve()
        if path == self.command.file:
            name = self.command.spelled
        source = self.sources.get(path) or Source(path, name, self)
        self.sources[path] = source
        return source
