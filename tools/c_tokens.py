# SPDX-License-Identifier: MIT
"""Splits C source into tokens, as far as renaming its identifiers needs it."""

from __future__ import annotations

import re
from collections.abc import Iterator

TOKEN = re.compile(
    r"""
    (?P<comment>/\*.*?\*/|//[^\n]*)
  | (?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<paste>\#\#)
  | (?P<space>(?:\\\n|\s)+)
  | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)


def tokens(text: str) -> Iterator[tuple[str, str]]:
    """Yield (kind, text) of every token; together the texts are the source."""
    for found in TOKEN.finditer(text):
        yield found.lastgroup or "other", found[0]


def code(text: str) -> list[str]:
    """Return the tokens without comments and white space."""
    return [word for kind, word in tokens(text) if kind not in ("comment", "space")]


def directives(text: str) -> tuple[list[str], str]:
    """Return the preprocessor lines, continued ones joined, and the other text."""
    bare = "".join(
        re.sub(r"[^\n]", " ", word) if kind == "comment" else word
        for kind, word in tokens(text)
    )
    found = re.findall(r"^[ \t]*#(?:\\\n|[^\n])*", bare, re.MULTILINE)
    rest = re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", "", bare, flags=re.MULTILINE)
    return [line.replace("\\\n", " ").strip() for line in found], rest


def is_name(word: str) -> bool:
    return word[0].isalpha() or word[0] == "_"
