# SPDX-License-Identifier: MIT
"""Expressions that name a lock: compared, and written out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from hasp.delegate.libclang import (
    ADDRESS_OF,
    DEREFERENCE,
    binary_operator,
    unary_operator,
    value_of,
)
from hasp.delegate.syntax import Node
from hasp.delegate.tokens import arguments

OPERATORS = {2: "*", 3: "*", 4: "/", 5: "%", 6: "+", 7: "-", 8: "<<", 9: ">>"}
OPERATORS |= {17: "&", 18: "^", 19: "|"}


def key(node: Node, given: Mapping[str, str] | None = None) -> str:
    """Return a text that is the same for expressions that name the same object.

    `given` are the keys of a function's arguments, by the usr of the parameter. Raises
    Refused if the expression is too complex to be evaluated once instead of twice: it
    calls a function, or assigns.
    """
    known = given or {}
    return "".join(_parts(node, lambda each: known.get(each.usr, each.usr)))


def written(node: Node, names: Mapping[str, str] | None = None) -> str:
    """Return the expression as C, with new names by usr. Raises Refused like key()."""
    known = names or {}
    text = "".join(_parts(node, lambda each: known.get(each.usr, each.name)))
    outermost = node.plain().kind == "UNARY_OPERATOR"
    return text[1:-1] if outermost else text


def argument_text(call: Node, argument: Node, position: int = 0) -> str:
    """Return an argument of a call, as it stands in the source if it does.

    The source of a call in a macro's body has only the use of the macro.
    """
    source = call.source
    end = source.macros.get(call.start, (call.start, []))[0]
    if call.start < call.end and not _in_macro(call, end):
        ranges = arguments(source.text, call.start)
        if ranges:
            begin, end = ranges[position]
            return source.text[begin:end].decode(errors="surrogateescape").strip()
    return written(argument)


def _in_macro(call: Node, end: int) -> bool:
    return not call.is_literal or end > call.start


def _parts(node: Node, name_of: Callable[[Node], str]) -> Iterator[str]:
    plain = node.plain()
    children = plain.children
    if plain.kind == "DECL_REF_EXPR":
        yield name_of(plain)
    elif plain.kind == "MEMBER_REF_EXPR" and children:
        yield from _parts(children[0], name_of)
        pointer = children[0].cursor.type.get_canonical().kind.name == "POINTER"
        yield ("->" if pointer else ".") + plain.name
    elif plain.kind == "ARRAY_SUBSCRIPT_EXPR" and len(children) == 2:
        yield from _parts(children[0], name_of)
        yield "["
        yield from _parts(children[1], name_of)
        yield "]"
    elif plain.kind == "UNARY_OPERATOR":
        yield from _unary(plain, name_of)
    elif plain.kind == "BINARY_OPERATOR":
        operator = OPERATORS.get(binary_operator(plain.cursor))
        if not operator:
            raise _complex(plain)
        yield "("
        yield from _parts(children[0], name_of)
        yield f" {operator} "
        yield from _parts(children[1], name_of)
        yield ")"
    elif plain.kind in ("INTEGER_LITERAL", "CHARACTER_LITERAL"):
        yield _literal(plain)
    else:
        raise _complex(plain)


def _unary(node: Node, name_of: Callable[[Node], str]) -> Iterator[str]:
    operator = {ADDRESS_OF: "&", DEREFERENCE: "*"}.get(unary_operator(node.cursor))
    if not operator:
        raise _complex(node)
    yield "(" + operator
    yield from _parts(node.children[0], name_of)
    yield ")"


def _literal(node: Node) -> str:
    value = value_of(node.cursor)
    if value is None:
        raise _complex(node)
    return str(value)


def _complex(node: Node) -> Exception:
    return node.refuse(
        "the expression of the lock is more than a chain of names, members and indices",
        "assign the lock's address to a variable first",
    )
