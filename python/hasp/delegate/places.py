# SPDX-License-Identifier: MIT
"""Places in a source file where text is inserted or removed."""

from __future__ import annotations

from hasp.delegate.syntax import Node
from hasp.delegate.tokens import line_start


def place_of(function: Node) -> int:
    """Return where to insert a function: in front of another one and its comment."""
    text = function.source.text
    place = line_start(text, function.start)
    while place > 0:
        begin = line_start(text, place - 1)
        line = text[begin : place - 1].strip()
        if line.endswith(b"*/"):
            opening = text.rfind(b"/*", 0, place)
            if opening < 0 or text[line_start(text, opening) : opening].strip():
                break
            place = line_start(text, opening)
        elif line.startswith(b"//"):
            place = begin
        else:
            break
    return place


def line_end(text: bytes, offset: int) -> int:
    """Return the offset after the line of `offset` if the rest of the line is blank."""
    newline = text.find(b"\n", offset)
    if newline < 0 or text[offset:newline].strip():
        return offset
    return newline + 1
