# SPDX-License-Identifier: MIT
"""Types of C variables, written as declarations."""

from __future__ import annotations

from typing import Any

ARRAYS = ("CONSTANTARRAY", "INCOMPLETEARRAY")
FUNCTIONS = ("FUNCTIONPROTO", "FUNCTIONNOPROTO")
SCALARS = ("POINTER", "ENUM", "BOOL", "FLOAT", "DOUBLE", "LONGDOUBLE")
LETTERS = ("CHAR", "SHORT", "INT", "LONG")


def declaration(kind: Any, name: str) -> str:
    """Return the declaration of a variable, such as "int (*rows)[4]".

    Qualifiers of the variable itself are left out.
    """
    return _declared(kind, name, outermost=True)


def copy_declaration(kind: Any, name: str) -> str:
    """Return the declaration of a copy of a variable, const if the variable is."""
    return _declared(kind, name, outermost=not kind.is_const_qualified())


def pointer_declaration(kind: Any, name: str) -> str:
    """Return the declaration of a pointer to a variable of this type."""
    pointer = f"(*{name})" if is_array(kind) else f"*{name}"
    return _declared(kind, pointer)


def element_declaration(kind: Any, name: str) -> str:
    """Return the declaration of a pointer to the elements of an array type."""
    while kind.kind.name not in ARRAYS:
        kind = kind.get_canonical()
    element = kind.element_type
    return pointer_declaration(element, name)


def _declared(kind: Any, inner: str, outermost: bool = False) -> str:
    name = kind.kind.name
    if name == "POINTER":
        pointee = kind.get_pointee()
        marks = "" if outermost else _qualifiers(kind)
        text = f"*{marks}{' ' if marks and inner else ''}{inner}"
        if _plain(pointee).kind.name in (*ARRAYS, *FUNCTIONS):
            text = f"({text})"
        return _declared(_plain(pointee), text)
    if name in ARRAYS:
        size = kind.element_count if name == "CONSTANTARRAY" else ""
        return _declared(kind.element_type, f"{inner}[{size}]")
    if name in FUNCTIONS:
        words = [_declared(each, "") for each in kind.argument_types()] or ["void"]
        if name == "FUNCTIONNOPROTO":
            words = []
        elif kind.is_function_variadic():
            words.append("...")
        return _declared(kind.get_result(), f"{inner}({', '.join(words)})")
    spelling = kind.spelling
    if outermost:
        words = [w for w in spelling.split() if w not in ("const", "restrict")]
        spelling = " ".join(words)
    return f"{spelling} {inner}".rstrip()


def _plain(kind: Any) -> Any:
    """Return the type below parentheses in its declaration."""
    while kind.kind.name in ("UNEXPOSED", "ATTRIBUTED") and kind.spelling:
        below = kind.get_canonical()
        if below.kind.name not in (*ARRAYS, *FUNCTIONS):
            break
        kind = below
    return kind


def _qualifiers(kind: Any) -> str:
    words = []
    if kind.is_const_qualified():
        words.append("const")
    if kind.is_volatile_qualified():
        words.append("volatile")
    if kind.is_restrict_qualified():
        words.append("restrict")
    return " ".join(words)


def is_array(kind: Any) -> bool:
    """Return true for an array."""
    return kind.get_canonical().kind.name in ARRAYS


def is_scalar(kind: Any) -> bool:
    """Return true for a number, an enumeration or a pointer."""
    name = kind.get_canonical().kind.name
    letters = name.removeprefix("U").removeprefix("S").removesuffix("_S")
    letters = letters.removesuffix("_U")
    return name in SCALARS or letters in LETTERS or name.endswith(("LONGLONG", "SCHAR"))


def is_nameless(kind: Any) -> bool:
    """Return true if the type has no name that a declaration can use."""
    return any(word in kind.spelling for word in ("(unnamed", "(anonymous"))
