# SPDX-License-Identifier: MIT
"""Finds calls and words in C and C++ source, and applies replacements to its lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL
)
CALL = re.compile(r"\b(\w+)\s*\(")


@dataclass(frozen=True)
class Replacement:
    """Text to put in the place of a part of a file."""

    begin: int
    end: int
    text: str


@dataclass(frozen=True)
class Change:
    """A line, or a few that belong together, before and after."""

    path: Path
    line: int  # the first, from 1
    before: str
    after: str


@dataclass(frozen=True)
class Call:
    """A call in the code: what is called, with what, and where."""

    name: str
    arguments: tuple[str, ...]
    begin: int
    end: int


class SourceText:
    """One file. `code` is the text with blanks for comments and strings."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text
        self.code = NOT_CODE.sub(lambda x: re.sub(r"[^\n]", " ", x[0]), text)

    def line_of(self, offset: int) -> int:
        """Return the number of the line, from 1."""
        return self.text.count("\n", 0, offset) + 1

    def calls(self) -> Iterator[Call]:
        """Yield everything that looks like a call, nested ones too."""
        for found in CALL.finditer(self.code):
            end = self._closing(found.end() - 1)
            if end:
                inner = found.end(), end - 1
                yield Call(found[1], self._split(*inner), found.start(), end)

    def _closing(self, at: int) -> int:
        """Return the offset after the parenthesis that closes the one at `at`, or 0."""
        depth = 0
        for offset in range(at, min(len(self.code), at + 2000)):
            depth += {"(": 1, ")": -1}.get(self.code[offset], 0)
            if depth == 0:
                return offset + 1
        return 0

    def _split(self, begin: int, end: int) -> tuple[str, ...]:
        """Return the arguments between these offsets."""
        parts, depth, start = [], 0, begin
        for offset in range(begin, end):
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(
                self.code[offset], 0
            )
            if self.code[offset] == "," and depth == 0:
                parts.append(self.text[start:offset].strip())
                start = offset + 1
        return (*parts, self.text[start:end].strip())

    def changes(self, replacements: Sequence[Replacement]) -> list[Change]:
        """Return the lines that the replacements change, in order."""
        changes: list[Change] = []
        wanted = sorted(set(replacements), key=lambda each: each.begin)
        while wanted:
            begin = self.text.rfind("\n", 0, wanted[0].begin) + 1
            end = begin
            group: list[Replacement] = []
            while wanted and (not group or wanted[0].begin < end):
                group.append(wanted.pop(0))
                newline = self.text.find("\n", group[-1].end)
                end = max(end, newline if newline >= 0 else len(self.text))
            after, at = "", begin
            for each in group:
                if each.begin >= at:  # not inside the one before
                    after += self.text[at : each.begin] + each.text
                    at = each.end
            after += self.text[at:end]
            before = self.text[begin:end]
            changes.append(Change(self.path, self.line_of(begin), before, after))
        return changes
