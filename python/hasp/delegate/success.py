# SPDX-License-Identifier: MIT
"""Expressions and statements around a call that always returns 0."""

from __future__ import annotations

import operator
from collections.abc import Callable

from hasp.delegate.libclang import (
    AND,
    ASSIGN,
    COMMA,
    NOT,
    OR,
    binary_operator,
    unary_operator,
    value_of,
)
from hasp.delegate.syntax import SIZE, TRANSPARENT, Node

# Values of enum CXBinaryOperatorKind.
COMPARISONS: dict[int, Callable[[int, int], bool]] = {
    11: operator.lt,
    12: operator.gt,
    13: operator.le,
    14: operator.ge,
    15: operator.eq,
    16: operator.ne,
}


def is_void(node: Node) -> bool:
    """Return true for a cast to void."""
    return node.kind == "CSTYLE_CAST_EXPR" and node.cursor.type.spelling == "void"


def takes_result(parent: Node, node: Node, call: Node) -> bool:
    """Return true if nothing but the result of the call is used.

    The parent may compare, store or return it, or be an `if` whose branch is never
    executed, or what a macro such as assert() puts around it. Nothing else is executed
    if the call returns 0, so that it does not matter when the call is.
    """
    if parent.kind in TRANSPARENT or is_void(parent):
        return True
    if parent.kind == "BINARY_OPERATOR":
        return _in_operator(parent, node, call)
    if parent.kind == "DECL_STMT":
        return len(parent.children) == 1
    if parent.kind in ("IF_STMT", "CONDITIONAL_OPERATOR"):
        return _is_checked(parent, node, call)
    if parent.kind == "UNARY_OPERATOR":
        return unary_operator(parent.cursor) == NOT or _is_of_macro(parent, call)
    if parent.kind == "COMPOUND_STMT":
        inside = bool(parent.parent and parent.parent.kind == "StmtExpr")
        others = [each for each in parent.children if each is not node]
        return inside and not any(map(_does_something, others))
    if parent.kind == "StmtExpr":
        return _is_of_macro(parent, call)
    return parent.kind in ("VAR_DECL", "RETURN_STMT")


def _in_operator(parent: Node, node: Node, call: Node) -> bool:
    first, second = parent.children
    kind = binary_operator(parent.cursor)
    if kind in (AND, OR):
        return node is first and _is_decided(parent, call)
    if kind == ASSIGN:
        return node is second and first.plain().kind == "DECL_REF_EXPR"
    other = first if node is second else second
    return kind in (*COMPARISONS, COMMA) and not _does_something(other)


def _is_checked(parent: Node, node: Node, call: Node) -> bool:
    """Return true for a branch that does nothing if the call returns 0."""
    condition, *branches = parent.children
    if node is not condition:
        return False
    value = value_after(condition, call)
    if value is None:
        return False
    taken = branches[:1] if value else branches[1:]
    return not any(map(_does_something, taken))


def _is_decided(operator: Node, call: Node) -> bool:
    """Return true if the second operand does nothing if the call returns 0."""
    first, second = operator.children
    value = value_after(first, call)
    if value is None:
        return False
    skipped = bool(value) == (binary_operator(operator.cursor) == OR)
    return skipped or not _does_something(second)


def _is_of_macro(node: Node, call: Node) -> bool:
    macro_end = call.source.macros.get(call.start, (-1, []))[0]
    return node.start == call.start and node.end <= macro_end


def _does_something(node: Node) -> bool:
    """Return true if a node may have an effect, now or by what it jumps to."""
    if node.kind == SIZE:
        return False
    if node.kind.endswith("_STMT") and node.kind not in ("NULL_STMT", "COMPOUND_STMT"):
        return True
    if node.kind in ("CALL_EXPR", "COMPOUND_ASSIGNMENT_OPERATOR", "StmtExpr"):
        return True
    if node.kind == "BINARY_OPERATOR" and binary_operator(node.cursor) == ASSIGN:
        return True
    if node.kind == "UNARY_OPERATOR" and unary_operator(node.cursor) in range(1, 5):
        return True
    return any(map(_does_something, node.children))


def value_after(node: Node, call: Node) -> int | None:
    """Return the value of an expression if the call returns 0; None if unknown."""
    node = node.plain()
    if node is call:
        return 0
    if node.kind == "BINARY_OPERATOR":
        kind = binary_operator(node.cursor)
        if kind in (ASSIGN, COMMA):
            return value_after(node.children[1], call)
        if kind in (AND, OR):
            return _value_of_both(node, call)
        values = [value_after(each, call) for each in node.children]
        if kind not in COMPARISONS or values[0] is None or values[1] is None:
            return None
        return int(COMPARISONS[kind](values[0], values[1]))
    if node.kind == "UNARY_OPERATOR" and unary_operator(node.cursor) == NOT:
        value = value_after(node.children[0], call)
        return None if value is None else int(not value)
    if any(each is call for each in node.walk()):
        return None
    return value_of(node.cursor)


def _value_of_both(node: Node, call: Node) -> int | None:
    """Return the value of `a && b` or `a || b`."""
    is_or = binary_operator(node.cursor) == OR
    for each in node.children:
        value = value_after(each, call)
        if value is None or bool(value) == is_or:
            return None if value is None else int(is_or)
    return int(not is_or)
