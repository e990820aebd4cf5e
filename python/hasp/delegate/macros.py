# SPDX-License-Identifier: MIT
"""Macros that are another name for a function or a type of pthreads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hasp.delegate.libclang import extent
from hasp.delegate.syntax import Node, Source
from hasp.delegate.tokens import Token, arguments, next_token, tokens

ESCAPED = ("utf-8", "surrogateescape")


@dataclass(frozen=True)
class CallText:
    """A call as the source has it, maybe by a macro: what replaces it stands between
    `before` and `after`."""

    words: tuple[str, ...]  # the arguments of the function
    end: int
    before: str = ""
    after: str = ""


def call_text(call: Node) -> CallText | None:
    """Return the text of a call.

    None if it is in a macro that does anything with the function's arguments but pass
    its own on.
    """
    text = call.source.text
    ranges = arguments(text, call.start)
    words = tuple(_decoded(text[begin:end]) for begin, end in ranges)
    if not ranges:
        return None
    end = ranges[-1][1] + 1
    if call.is_literal:
        return CallText(words, end)
    definition = _definition(call.source, call.start)
    if definition is None:
        return None
    parameters, body, whole = definition
    name = call.name.encode()
    places = [i for i, word in enumerate(body) if word.text == name]
    if len(places) != 1 or len(parameters) != len(words):
        return None
    first = body[places[0]]
    given = dict(zip(parameters, words, strict=True))
    inner = arguments(whole, first.start)
    passed = [_passed(whole[begin:stop], given) for begin, stop in inner]
    after = whole[inner[-1][1] + 1 : body[-1].end] if inner else b""
    before = whole[body[0].start : first.start]
    others = {word.text for part in (before, after) for word in tokens(part)}
    # A parameter of the macro elsewhere would be evaluated there, too.
    if others & {b"#", b"##", *given} or None in passed:
        return None
    known = tuple(each for each in passed if each is not None)
    return CallText(known, end, before.decode(*ESCAPED), after.decode(*ESCAPED))


def names_type(source: Source, word: Token, name: str) -> bool:
    """Return true for the use of a macro that stands for the name of this type."""
    definition = _definition(source, word.start)
    if definition is None or word.kind != "name":
        return False
    parameters, body, _ = definition
    return not parameters and [each.text for each in body] == [name.encode()]


def _definition(
    source: Source, offset: int
) -> tuple[list[bytes], Sequence[Token], bytes] | None:
    """Return the parameters and the body of the macro that is used at an offset.

    None if there is none. Files that several units include may see different ones.
    """
    if source.path != source.unit.command.file:
        return None
    name = next_token(source.text, offset)
    uses = source.macros.get(offset, (0, []))[1]
    use = next((e for e in uses if name and e.spelling.encode() == name.text), None)
    defined = use.referenced if use is not None else None
    if defined is None or defined.location.file is None:
        return None
    whole = _text(defined)
    words = list(tokens(whole))
    parameters: list[bytes] = []
    begin = 1
    if len(words) > 1 and words[1].text == b"(" and words[1].start == words[0].end:
        ranges = arguments(whole, 0)
        parameters = [whole[a:b].strip() for a, b in ranges]
        begin = next(i for i, w in enumerate(words) if w.start == ranges[-1][1]) + 1
    return (parameters, words[begin:], whole) if words[begin:] else None


def _text(defined: Any) -> bytes:
    start, end = extent(defined)
    whole = Path(defined.location.file.name).read_bytes()
    return whole[start:end].replace(b"\\\n", b"  ")


def _passed(argument: bytes, given: Mapping[bytes, str]) -> str | None:
    """Return what a macro passes: a parameter of its own, or what uses none."""
    words = [word.text for word in tokens(argument)]
    if not set(words) & {b"#", b"##", *given}:
        return _decoded(argument)
    while len(words) > 2 and (words[0], words[-1]) == (b"(", b")"):
        words = words[1:-1]
    return given.get(words[0]) if len(words) == 1 else None


def _decoded(text: bytes) -> str:
    return text.decode(*ESCAPED).strip()
