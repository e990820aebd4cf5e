# SPDX-License-Identifier: MIT
"""Conditions of the preprocessor around a declaration, to be repeated elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from hasp.delegate.tokens import directive_word, tokens


def conditions_of(text: bytes, offset: int, end: int) -> tuple[str, ...] | None:
    """Return the directives under which `offset` is compiled, and `end` may not be.

    Return None if `offset` is in the other branch of a condition.
    """
    open_at_offset: list[str] = []
    stack: list[str] = []
    least = None
    for token in tokens(text, 0, end):
        if least is None and token.start >= offset:
            open_at_offset, least = list(stack), len(stack)
        word = directive_word(token)
        if word in (b"if", b"ifdef", b"ifndef"):
            stack.append(token.text.decode(errors="surrogateescape").strip())
        elif word.startswith(b"el") and stack:
            stack[-1] = ""
            if least is not None:
                least = min(least, len(stack) - 1)
        elif word == b"endif" and stack:
            stack.pop()
            if least is not None:
                least = min(least, len(stack))
    missing = open_at_offset[least or 0 :]
    return None if "" in missing else tuple(missing)


def under(conditions: Sequence[str], text: str) -> str:
    """Return whole lines, compiled under these conditions only."""
    before = "".join(f"{each}\n" for each in conditions)
    return f"{before}{text}" + "#endif\n" * len(conditions)
