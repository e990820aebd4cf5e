# SPDX-License-Identifier: MIT
"""Pieces of Markdown that the generated pages of locks consist of."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence

COLUMNS = 88


def sentence(text: str) -> str:
    """Return the text as a sentence, with a capital letter and a full stop."""
    text = text.strip()
    return (
        text[:1].upper() + text[1:] + ("" if text.endswith((".", ":", ".)")) else ".")
    )


def markdown(text: str) -> str:
    """Prose with the special characters of Markdown escaped, except in code."""
    pieces = text.split("`")
    for index in range(0, len(pieces), 2):
        pieces[index] = re.sub(r"([*<|])", r"\\\1", pieces[index])
    return "`".join(pieces)


def wrapped(text: str) -> str:
    return textwrap.fill(text, COLUMNS, break_long_words=False, break_on_hyphens=False)


def paragraph(text: str) -> str:
    """Return the text wrapped, with a blank line after it."""
    return wrapped(text) + "\n"


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(headings) + " |"
    yield "|" + "---|" * len(headings)
    for row in rows:
        yield "| " + " | ".join(row) + " |"
