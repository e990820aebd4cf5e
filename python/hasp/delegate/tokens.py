# SPDX-License-Identifier: MIT
"""The tokens of C source text, by byte offset."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

TOKEN = re.compile(
    rb"""(?P<comment>//(?:\\\r?\n|[^\n])*|/\*.*?\*/)
    |(?P<directive>(?:(?<=\n)|\A)[ \t]*\#(?:\\\r?\n|/\*.*?\*/|[^\n])*)
    |(?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?P<name>[A-Za-z_]\w*)
    |(?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)
    |(?P<mark>->|\+\+|--|&&|\|\||\#\#|[^\s])""",
    re.VERBOSE | re.DOTALL,
)
DIRECTIVE = re.compile(rb"[ \t]*#(?:[ \t]|/\*.*?\*/)*(\w+)", re.DOTALL)
OPENING, CLOSING = b"([{", b")]}"


@dataclass(frozen=True)
class Token:
    """A token: its kind, text and byte offsets."""

    kind: str  # directive, string, name, number or mark
    text: bytes
    start: int
    end: int


def tokens(text: bytes, start: int = 0, end: int | None = None) -> Iterator[Token]:
    """Yield the tokens of a range; comments are left out."""
    for match in TOKEN.finditer(text, start, len(text) if end is None else end):
        if match.lastgroup and match.lastgroup != "comment":
            yield Token(match.lastgroup, match[0], match.start(), match.end())


def directive_word(token: Token) -> bytes:
    """Return the name of a preprocessor directive, such as "if"; "" for none."""
    found = DIRECTIVE.match(token.text) if token.kind == "directive" else None
    return found[1] if found else b""


def end_of_statement(text: bytes, start: int) -> int:
    """Return the offset after the `;` that ends the simple statement at `start`.

    -1 if a closing bracket or the end of the text comes first.
    """
    depth = 0
    for token in tokens(text, start):
        if token.kind != "mark":
            continue
        if token.text in OPENING:
            depth += 1
        elif token.text in CLOSING:
            depth -= 1
        if depth < 0:
            return -1
        if token.text == b";" and depth == 0:
            return token.end
    return -1


def arguments(text: bytes, start: int) -> list[tuple[int, int]]:
    """Return the ranges of the arguments of the call whose `(` follows `start`."""
    found, depth, begin = [], 0, start
    for token in tokens(text, start):
        if token.kind != "mark":
            continue
        if token.text in OPENING:
            depth += 1
            if depth == 1:
                begin = token.end
        elif token.text in CLOSING:
            depth -= 1
        if depth == 0 or (depth == 1 and token.text == b","):
            found.append((begin, token.start))
            begin = token.end
        if depth == 0:
            break
    return found


def next_token(text: bytes, offset: int) -> Token | None:
    """Return the first token at or after `offset`; None at the end of the text."""
    return next(tokens(text, offset), None)


def line_of(text: bytes, offset: int) -> int:
    """Return the line of an offset, counted from 1."""
    return text.count(b"\n", 0, offset) + 1


def line_start(text: bytes, offset: int) -> int:
    """Return the offset where the line of `offset` begins."""
    return text.rfind(b"\n", 0, offset) + 1


def indentation(text: bytes, offset: int) -> str:
    """Return the blanks at the beginning of the line of `offset`."""
    begin = line_start(text, offset)
    blanks = re.compile(rb"[ \t]*").match(text, begin)
    return blanks[0].decode() if blanks else ""
