# SPDX-License-Identifier: MIT
"""The length of every function, from its first line to its last.

C is formatted by clang-format, so a function's body opens with a brace in column 0 and
ends with the next one. A macro that spans lines counts as a function.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

C_NAME = re.compile(r"(\w+)\s*\(")
MACRO = re.compile(r"\s*#\s*define\s+(\w+)")


class Function(NamedTuple):
    """A function or macro; `line` is its first line, `lines` counts both ends."""

    name: str
    line: int
    lines: int


def functions(path: Path, text: str) -> Iterator[Function]:
    """Yield the functions of a Python or C file."""
    return _of_python(text) if path.suffix == ".py" else _of_c(text)


def _of_python(text: str) -> Iterator[Function]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            end = node.end_lineno or node.lineno
            yield Function(node.name, node.lineno, end - node.lineno + 1)


def _of_c(text: str) -> Iterator[Function]:
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        macro = MACRO.match(line)
        if macro and line.endswith("\\"):
            end = number
            while end < len(lines) and lines[end - 1].endswith("\\"):
                end += 1
            yield Function(macro[1], number, end - number + 1)
        if line == "{":
            begin = number - 1
            while begin > 1 and lines[begin - 2].strip() not in ("", "}", "};"):
                if lines[begin - 2].endswith((";", "*/")):
                    break
                begin -= 1
            name = C_NAME.search(" ".join(lines[begin - 1 : number - 1]))
            closing = [
                n for n, text in enumerate(lines, 1) if n > number and text == "}"
            ]
            if name and closing:
                yield Function(name[1], begin, closing[0] - begin + 1)
