# SPDX-License-Identifier: MIT
"""The local variables that a section shares with its function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from typing import Any

from hasp.delegate.c_types import is_array, is_scalar
from hasp.delegate.conditions import conditions_of
from hasp.delegate.libclang import (
    ADDRESS_OF,
    ASSIGN,
    INCREMENTS,
    binary_operator,
    unary_operator,
)
from hasp.delegate.pointers import initialiser
from hasp.delegate.section import Section
from hasp.delegate.syntax import SIZE, Node

VARIABLES = ("VAR_DECL", "PARM_DECL")


class Passing(Enum):
    """How the section gets a variable of its function."""

    VALUE = "by value"
    COPY = "by address, copied in and out"  # a scalar that nothing else can reach
    ELEMENTS = "by the address of its first element"
    ADDRESS = "by address"


@dataclass(frozen=True)
class Capture:
    """A variable that is declared in front of the section, and used in it."""

    name: str
    usr: str
    kind: Any  # libclang's type
    passing: Passing
    is_written: bool
    everywhere: bool = True  # false: not for each compile command
    conditions: tuple[str, ...] = ()  # directives around its declaration


@dataclass(frozen=True)
class Result:
    """A variable that is declared in the section, and used after it."""

    name: str
    usr: str
    kind: Any
    offset: int  # of its declaration
    exits: frozenset[int]  # the numbers of those that use it; 0: the end


class Locals:
    """What a function does with its local variables."""

    def __init__(self, function: Node) -> None:
        self.function = function
        self.references = [
            node
            for node in function.walk()
            if node.kind == "DECL_REF_EXPR" and self.is_local(node)
        ]
        self.addressed: set[str] = set()
        self._written: set[int] = set()
        self._given: set[int] = set()
        for node in self.references:
            effect = _effect(node)
            if effect == "address":
                self.addressed.add(node.usr)
                self._given.add(id(node))
            elif effect == "write":
                self._written.add(id(node))
        self.declarations = {
            node.cursor.get_usr(): node
            for node in function.walk()
            if node.kind in VARIABLES
        }

    def is_local(self, node: Node) -> bool:
        """Return true if a reference names a variable of the function."""
        declared = node.referenced
        if declared is None or declared.kind.name not in VARIABLES:
            return False
        location = declared.location
        own = self.function.cursor.location
        return bool(
            location.file
            and location.file.name == own.file.name
            and self.function.start <= location.offset < self.function.end
        )

    def is_written(self, node: Node) -> bool:
        """Return true if a reference changes its variable."""
        return id(node) in self._written

    def gives_address(self, node: Node) -> bool:
        """Return true if a reference takes the address of its variable."""
        return id(node) in self._given


@cache
def locals_of(function: Node) -> Locals:
    """Return what a function does with its local variables."""
    return Locals(function)


def _effect(node: Node) -> str:
    """Return "write", "address" or "" for what is done with a variable."""
    while parent := node.parent:
        if parent.kind == "MEMBER_REF_EXPR":
            if node.cursor.type.get_canonical().kind.name == "POINTER":
                return ""
        elif parent.kind == "ARRAY_SUBSCRIPT_EXPR":
            below = node.plain()
            if parent.children[0] is not node or not is_array(below.cursor.type):
                return ""
        elif parent.kind == "UNARY_OPERATOR":
            operator = unary_operator(parent.cursor)
            if operator in INCREMENTS:
                return "write"
            return "address" if operator == ADDRESS_OF else _decayed(node)
        elif parent.kind == "COMPOUND_ASSIGNMENT_OPERATOR":
            return "write" if parent.children[0] is node else _decayed(node)
        elif parent.kind == "BINARY_OPERATOR":
            first = parent.children[0] is node
            if first and binary_operator(parent.cursor) == ASSIGN:
                return "write"
            return _decayed(node)
        elif parent.kind == SIZE:
            return ""
        elif parent.kind not in ("PAREN_EXPR", "UNEXPOSED_EXPR", "GENERIC_SELECTION"):
            return _decayed(node)
        elif parent.kind == "UNEXPOSED_EXPR" and _is_conversion(node, parent):
            return ""
        node = parent
    return ""


def _is_conversion(node: Node, parent: Node) -> bool:
    """Return true if a variable is converted, and so read; arrays only decay."""
    if is_array(node.cursor.type):
        return False
    return bool(parent.cursor.type.spelling != node.cursor.type.spelling)


def _decayed(node: Node) -> str:
    return "address" if is_array(node.plain().cursor.type) else ""


def captures_in(views: Sequence[Section]) -> list[Capture]:
    """Return the variables that a section captures in any of its views.

    Raises Refused if one of them is not declared in each.
    """
    found: dict[str, list[Capture]] = {}
    for view in views:
        for capture in captures_of(view):
            found.setdefault(capture.usr, []).append(capture)
    order = list(Passing)
    return [
        replace(
            each[0],
            passing=max((one.passing for one in each), key=order.index),
            is_written=any(one.is_written for one in each),
            everywhere=len(each) == len(views),
            conditions=_conditions(each[0], views) if len(each) < len(views) else (),
        )
        for each in found.values()
    ]


def _conditions(capture: Capture, views: Sequence[Section]) -> tuple[str, ...]:
    """Return the directives around the declaration of a variable."""
    declared = [
        locals_of(view.function).declarations.get(capture.usr) for view in views
    ]
    if all(declared):
        return ()
    node = next(each for each in declared if each)
    text = node.source.text
    found = conditions_of(text, node.start, views[0].lock.node.start)
    if found is None:
        raise node.refuse(
            f"{capture.name} is declared in the other branch of a condition",
            "declare it under a condition of its own",
        )
    return found


def captures_of(section: Section) -> list[Capture]:
    """Return the captured variables, in the order of their declarations."""
    function = locals_of(section.function)
    by_usr: dict[str, list[Node]] = {}
    for node in section.walk():
        is_local = node.kind == "DECL_REF_EXPR" and function.is_local(node)
        if is_local and not section.inside(node.referenced.location.offset):
            by_usr.setdefault(node.usr, []).append(node)
    captures = [_capture(section, nodes, function) for nodes in by_usr.values()]
    return [each for _, each in sorted(captures, key=lambda pair: pair[0])]


def _capture(
    section: Section, nodes: list[Node], function: Locals
) -> tuple[int, Capture]:
    declared = nodes[0].referenced
    kind, usr = declared.type, nodes[0].usr
    written = any(map(function.is_written, nodes))
    shared = (
        usr in function.addressed
        or declared.storage_class.name in ("STATIC", "EXTERN")
        or kind.is_volatile_qualified()
    )
    if is_array(kind):
        whole = any(_needs_array(node) for node in nodes)
        passing = Passing.ADDRESS if whole else Passing.ELEMENTS
    elif not shared and not written and _is_set_before(section, usr, function):
        passing = Passing.VALUE
    elif not shared and is_scalar(kind):
        passing = Passing.COPY
    else:
        passing = Passing.ADDRESS
    if passing is not Passing.VALUE and declared.storage_class.name == "REGISTER":
        raise nodes[0].refuse(f"{nodes[0].name} is in a register, without an address")
    capture = Capture(nodes[0].name, usr, kind, passing, written)
    return declared.location.offset, capture


def _needs_array(node: Node) -> bool:
    """Return true if an array is used as one: for sizeof, or for its own address."""
    parent = node.parent
    while parent and parent.kind == "PAREN_EXPR":
        parent = parent.parent
    if parent is None or parent.kind == SIZE:
        return True
    if parent.kind == "UNARY_OPERATOR":
        return unary_operator(parent.cursor) == ADDRESS_OF
    return parent.kind not in ("UNEXPOSED_EXPR", "ARRAY_SUBSCRIPT_EXPR")


def _is_set_before(section: Section, usr: str, function: Locals) -> bool:
    """Return true if a variable certainly has a value when the section begins.

    It has one if it is a parameter, if its declaration has an initialiser that is
    always executed, or if a statement assigns it in a block around the section.
    """
    declared = function.declarations.get(usr)
    if declared is None or declared.kind == "PARM_DECL":
        return True
    jumps = any(
        node.kind in ("GOTO_STMT", "SWITCH_STMT") for node in function.function.walk()
    )
    if jumps:
        return False
    if initialiser(declared):
        return True
    inner: Node = section.lock.outer
    for block in (section.block, *section.block.ancestors()):
        if block.kind == "COMPOUND_STMT":
            for statement in block.children:
                if statement.start >= inner.start:
                    break
                if _assigns(statement, usr):
                    return True
        elif block.kind == "FOR_STMT" and any(_assigns(c, usr) for c in block.children):
            return block.children[0] is not None and _assigns(block.children[0], usr)
        inner = block
    return False


def _assigns(node: Node, usr: str) -> bool:
    if node.kind != "BINARY_OPERATOR" or binary_operator(node.cursor) != ASSIGN:
        return False
    target = node.children[0].plain()
    if _assigns(node.children[1].plain(), usr):
        return True
    return target.kind == "DECL_REF_EXPR" and target.usr == usr


def results_of(section: Section) -> list[Result]:
    """Return the variables of the section that are used after it.

    Raises Refused if one cannot be copied.
    """
    function = locals_of(section.function)
    users: dict[str, set[int]] = {}
    first: dict[str, Node] = {}
    for node in function.references:
        offset = node.referenced.location.offset
        if section.inside(offset) and not section.inside(node.start):
            users.setdefault(node.usr, set()).add(_exit_of(section, node))
            first.setdefault(node.usr, node)
    results = []
    for usr, exits in users.items():
        declared = function.declarations[usr]
        name, kind = declared.name, declared.cursor.type
        _check_copied(declared, first[usr], function)
        results.append(Result(name, usr, kind, declared.start, frozenset(exits)))
    return sorted(results, key=lambda each: each.offset)


def _exit_of(section: Section, node: Node) -> int:
    for leaving in section.exits:
        if leaving.unlock.start <= node.start < leaving.end:
            return leaving.number
    return 0


def _check_copied(declared: Node, use: Node, function: Locals) -> None:
    reason = ""
    if is_array(declared.cursor.type):
        reason = "is an array"
    elif declared.cursor.get_usr() in function.addressed:
        reason = "has its address taken"
    elif declared.cursor.storage_class.name == "STATIC":
        reason = "is static"
    elif declared.cursor.type.is_volatile_qualified():
        reason = "is volatile"
    if reason:
        raise declared.refuse(
            f"{declared.name} is declared in the section, {reason}, and is used after "
            f"it, in line {use.line}",
            "declare it in front of the lock",
        )
