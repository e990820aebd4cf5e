# SPDX-License-Identifier: MIT
"""Names that the section and the rest of its function share, other than variables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hasp.delegate.c_types import is_nameless
from hasp.delegate.captures import VARIABLES, Capture, locals_of
from hasp.delegate.refusal import Refusal
from hasp.delegate.section import Section
from hasp.delegate.syntax import Node
from hasp.delegate.thread_bound import is_variable_length
from hasp.delegate.tokens import tokens

MEMBER_MARKS = (b".", b"->")
TAGS = (b"struct", b"union", b"enum", b"goto")
FUNCTION_NAMES = (b"__func__", b"__FUNCTION__", b"__PRETTY_FUNCTION__")


def scope_problems(section: Section, captures: Sequence[Capture]) -> Iterator[Refusal]:
    """Yield the names that would not mean the same in the outlined function."""
    function = section.function
    for capture in captures:
        yield from _type_problems(section, capture)
    own = function.cursor.location.file.name
    for node in function.walk():
        declared = node.referenced
        if node.kind not in ("TYPE_REF", "DECL_REF_EXPR") or declared is None:
            continue
        location = declared.location
        if not location.file or location.file.name != own:
            continue
        if not function.start < location.offset < function.end:
            continue
        if declared.kind.name in VARIABLES:
            continue
        if section.inside(node.start) != section.inside(location.offset):
            yield node.refusal(
                f"{node.name} is declared inside the function, on the other side of "
                "the lock or unlock",
                "declare it outside of the function",
            )
    yield from _lifetimes(section)


def _type_problems(section: Section, capture: Capture) -> Iterator[Refusal]:
    node = section.lock.node
    base = capture.kind
    while base.kind.name in ("POINTER", "CONSTANTARRAY", "INCOMPLETEARRAY"):
        pointer = base.kind.name == "POINTER"
        base = base.get_pointee() if pointer else base.element_type
    declared = base.get_declaration()
    location = declared.location
    if is_nameless(base):
        yield node.refusal(f"the type of {capture.name} has no name", "give it one")
    elif is_variable_length(capture.kind):
        yield node.refusal(f"{capture.name} has a type of variable length")
    elif "va_list" in base.spelling:
        yield node.refusal(f"{capture.name} holds variable arguments")
    elif (
        location.file
        and location.file.name == section.function.cursor.location.file.name
        and section.function.start < location.offset < section.function.end
    ):
        yield node.refusal(
            f"the type of {capture.name} is declared inside the function",
            "declare it outside",
        )


def _lifetimes(section: Section) -> Iterator[Refusal]:
    """Yield the variables of the section to which a pointer may outlive it."""
    function = locals_of(section.function)
    for node in function.references:
        declared = function.declarations.get(node.usr)
        if declared is None or not section.inside(declared.start):
            continue
        if declared.cursor.storage_class.name in ("STATIC", "EXTERN"):
            continue
        block = declared.within(("COMPOUND_STMT",))
        given = block is section.block and function.gives_address(node)
        if given and not _is_library_call(node):
            yield node.refusal(
                f"a pointer to {node.name}, which is declared in the section, may "
                "be used after it",
                "declare it in front of the lock",
            )


def _is_library_call(node: Node) -> bool:
    """Return true if an address goes to a function of the system only."""
    call: Any = node.within(
        ("CALL_EXPR", "COMPOUND_STMT", "BINARY_OPERATOR", "DECL_STMT")
    )
    if call is None or call.kind != "CALL_EXPR" or call.referenced is None:
        return False
    return bool(call.referenced.location.is_in_system_header)


def is_hidden_by(section: Section, capture: Capture) -> str:
    """Return why a macro of the variable's name would change other text; "" if not.

    The name must not also be that of a member, a label or a tag in the section, nor in
    the macros that it uses.
    """
    word = capture.name.encode()
    own = {
        node.offset
        for node in locals_of(section.function).references
        if node.usr == capture.usr
    }
    for token in tokens(section.source.text, section.start, section.end_of_text):
        if section.source.leaves_out(token.start):
            continue
        is_word = token.kind == "name" and token.text == word
        if is_word and token.start not in own and section.inside(token.start):
            return "is also the name of something else in the section"
        if token.kind == "directive" and word in token.text:
            return "is mentioned in a preprocessor directive"
    for words in macro_words(section):
        for before, following in zip((None, *words), words, strict=False):
            if following == word and before in (*MEMBER_MARKS, *TAGS, b"#", b"##"):
                return "is also the name of a member in a macro"
    return ""


def macro_words(section: Section) -> Iterator[list[bytes]]:
    """Yield the tokens of the definitions of the macros that a section uses."""
    for use in section.source.macros_in(section.start, section.end_of_text):
        definition = use.get_definition()
        if definition is not None:
            yield [word.spelling.encode() for word in definition.get_tokens()]


def names_its_function(section: Section) -> list[str]:
    """Return which of __func__ and its like a section uses, also in macros."""
    text = section.source.text
    words = {
        token.text
        for token in tokens(text, section.start, section.end_of_text)
        if token.kind == "name"
    }
    for found in macro_words(section):
        words.update(found)
    return [name.decode() for name in FUNCTION_NAMES if name in words]
