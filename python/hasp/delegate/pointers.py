# SPDX-License-Identifier: MIT
"""Pointers to locks: what gets the address of a lock, and where a pointer is from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from hasp.delegate.libclang import (
    ADDRESS_OF,
    ASSIGN,
    DEREFERENCE,
    binary_operator,
    unary_operator,
    value_of,
)
from hasp.delegate.lock import MUTEX, is_pointer
from hasp.delegate.syntax import REFERENCES, SIZE, Node

ALLOCATES = (
    *("malloc", "calloc", "realloc", "aligned_alloc", "reallocarray"),
    *("memalign", "valloc"),
)
TESTS = ("IF_STMT", "WHILE_STMT", "DO_STMT", "FOR_STMT", "CONDITIONAL_OPERATOR")
SUM, DIFFERENCE = 6, 7  # values of enum CXBinaryOperatorKind
TESTING = (15, 16, 20, 21)  # ==, !=, && and ||


@dataclass(frozen=True)
class Use:
    """What is done with a reference to a lock or to a pointer to it."""

    # "to": its address goes to what `parent` names. "from": it gets the value of
    # `parent`. "created": `parent` gives it the value of an initialiser.
    kind: Literal["call", "to", "from", "created", "none", "unknown"]
    parent: Any = None
    position: int = 0  # of the argument of a call


@dataclass(frozen=True)
class Origin:
    """Where a pointer to a lock comes from."""

    kind: Literal["declared", "allocated", "null", "unknown"]
    node: Any = None  # the reference to what is declared
    sizes: tuple[Node, ...] = ()  # mentions of the type in the size


def initialiser(declared: Node) -> Node | None:
    """Return the value that a declaration gives its variable; None if it gives none."""
    values = [
        each
        for each in declared.children
        if not each.kind.endswith(("_ATTR", "_DECL", "TYPE_REF"))
    ]
    return values[-1] if values else None


def use_of(node: Node) -> Use:
    """Return what is done with a reference to a lock."""
    top = node
    while parent := top.parent:
        if parent.kind == "CALL_EXPR":
            return Use("call", parent, parent.children.index(top) - 1)
        if parent.kind == SIZE:
            return Use("none")
        if parent.kind == "VAR_DECL":
            return Use("to", parent)
        if parent.kind == "UNEXPOSED_EXPR" and parent.children[0].kind == "MEMBER_REF":
            return _designated(parent, top)
        if parent.kind == "BINARY_OPERATOR":
            found = _in_operator(parent, top)
            if found:
                return found
        elif not _passes_on(parent, top):
            tests = parent.kind in TESTS or (
                parent.kind == "UNARY_OPERATOR"
                and unary_operator(parent.cursor) not in (ADDRESS_OF, DEREFERENCE)
            )
            return Use("none" if tests and _is_address(top) else "unknown")
        top = parent
    return Use("unknown")


def _designated(parent: Node, top: Node) -> Use:
    """Return the use in an initialiser such as {.lock = &mu}."""
    if top is not parent.children[0]:
        return Use("to", parent.children[0])
    value = parent.children[-1]
    if is_pointer(top.referenced):
        return Use("from", value)
    return Use("created", parent)


def _in_operator(parent: Node, top: Node) -> Use | None:
    """Return the use in a binary operator; None if its value is the lock again."""
    operator = binary_operator(parent.cursor)
    first, second = parent.children
    if operator == ASSIGN and top is second:
        target = _named(first)
        return Use("to", target) if target else Use("unknown")
    if operator == ASSIGN:
        whole = _named(first) is not None and is_pointer(_named(first).referenced)
        return Use("from", second) if whole else Use("unknown")
    if operator in TESTING:
        return Use("none" if _is_address(top) else "unknown")
    return None if operator in (SUM, DIFFERENCE) else Use("unknown")


def _passes_on(parent: Node, top: Node) -> bool:
    if parent.kind == "ARRAY_SUBSCRIPT_EXPR":
        return parent.children[0] is top
    if parent.kind == "UNARY_OPERATOR":
        return unary_operator(parent.cursor) in (ADDRESS_OF, DEREFERENCE)
    return parent.kind in ("UNEXPOSED_EXPR", "PAREN_EXPR", "CSTYLE_CAST_EXPR")


def _is_address(node: Node) -> bool:
    return "*" in node.cursor.type.get_canonical().spelling


def _named(node: Node) -> Any:
    """Return the reference of an expression such as `job->lock` or `locks[3]`."""
    node = node.plain()
    while node.kind in ("ARRAY_SUBSCRIPT_EXPR", "CSTYLE_CAST_EXPR"):
        node = node.children[0 if node.kind.startswith("ARRAY") else -1].plain()
    return node if node.kind in REFERENCES else None


def origin_of(value: Node) -> Origin:
    """Return where the value of a pointer to a lock comes from."""
    node, casts = value.plain(), list[Node]()
    while node.kind == "CSTYLE_CAST_EXPR" and node.children:
        casts.append(node)
        node = node.children[-1].plain()
    if node.kind == "UNARY_OPERATOR" and unary_operator(node.cursor) == ADDRESS_OF:
        named = _named(node.children[0])
        return Origin("declared", named) if named else Origin("unknown")
    if node.kind == "BINARY_OPERATOR":
        if binary_operator(node.cursor) in (SUM, DIFFERENCE):
            return origin_of(node.children[0])
        return Origin("unknown")
    named = _named(node)
    if named:
        return Origin("declared", named)
    if node.kind == "CALL_EXPR" and node.name in ALLOCATES:
        return _allocated(node, casts)
    if node.kind == "GNU_NULL_EXPR" or value_of(node.cursor) == 0:
        return Origin("null")
    return Origin("unknown")


def _allocated(call: Node, casts: list[Node]) -> Origin:
    """Return the origin of an allocation, whose size must be measured with sizeof."""
    measured = [each for each in call.walk() if each.kind == SIZE]
    types = tuple(
        each
        for one in (*measured, *casts)
        for each in one.children
        if each.kind == "TYPE_REF" and each.name == MUTEX
    )
    if not measured:
        return Origin("unknown")
    return Origin("allocated", None, types)
