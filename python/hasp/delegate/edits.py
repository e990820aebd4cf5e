# SPDX-License-Identifier: MIT
"""Edits of source files by byte offset, and their result as text or as a patch."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from hasp.delegate.syntax import Source
from hasp.delegate.tokens import line_of


@dataclass(frozen=True)
class Edit:
    """Replaces a range of bytes; an empty range inserts."""

    start: int
    end: int
    text: str


@dataclass
class EditedFile:
    """A file with its edits."""

    source: Source
    edits: list[Edit] = field(default_factory=list)

    @property
    def content(self) -> bytes:
        """The file after the edits. Raises ValueError if they overlap."""
        return self.between(0, len(self.source.text))

    def between(self, start: int, end: int) -> bytes:
        """The text of a range after the edits in it. Raises ValueError as above."""
        parts, offset = [], start
        for edit in sorted(self.inside(start, end), key=lambda e: (e.start, e.end)):
            if edit.start < offset:
                raise ValueError(f"{self.source.path}: edits overlap at {edit.start}")
            parts.append(self.source.text[offset : edit.start])
            parts.append(edit.text.encode(errors="surrogateescape"))
            offset = edit.end
        return b"".join([*parts, self.source.text[offset:end]])

    def inside(self, start: int, end: int) -> list[Edit]:
        """The edits in a range, in the order in which they were made."""
        return [each for each in self.edits if start <= each.start and each.end <= end]


class Edits:
    """The edits of all files."""

    def __init__(self, lines: bool) -> None:
        """`lines`: each insertion is followed by a #line for what comes next."""
        self.lines = lines
        self.files: dict[Path, EditedFile] = {}

    def replace(self, source: Source, start: int, end: int, text: str) -> None:
        """Replace a range of a file; once if the same is asked for again."""
        file = self.files.setdefault(source.path, EditedFile(source))
        edit = Edit(start, end, text)
        if edit not in file.edits:
            file.edits.append(edit)

    def wrap(self, source: Source, start: int, end: int, text: str) -> None:
        """Replace a range together with all edits in it."""
        file = self.files.setdefault(source.path, EditedFile(source))
        for each in file.inside(start, end):
            file.edits.remove(each)
        self.replace(source, start, end, text)

    def text(self, source: Source, start: int, end: int) -> str:
        """Return the text of a range after the edits in it."""
        file = self.files.setdefault(source.path, EditedFile(source))
        return file.between(start, end).decode(errors="surrogateescape")

    def insert(self, source: Source, offset: int, text: str) -> None:
        """Insert whole lines in front of the line that begins at `offset`."""
        if self.lines:
            text += f"{line_directive(source, line_of(source.text, offset))}\n"
        self.replace(source, offset, offset, text)

    def contents(self) -> dict[Path, bytes]:
        """Return the files that change, after their edits."""
        return {
            path: file.content
            for path, file in sorted(self.files.items())
            if file.edits
        }


def line_directive(source: Source, line: int) -> str:
    """Return the #line that names a line of a file."""
    name = source.spelled.replace("\\", "\\\\").replace('"', '\\"')
    return f'#line {line} "{name}"'


def patch(changed: Iterable[tuple[str, bytes, bytes]]) -> str:
    """Return a unified diff that `patch -p1` understands, of names, old and new."""
    text = ""
    for name, old, new in changed:
        before, after = (
            each.decode(errors="surrogateescape").splitlines(keepends=True)
            for each in (old, new)
        )
        for line in difflib.unified_diff(before, after, f"a/{name}", f"b/{name}"):
            text += (
                line
                if line.endswith("\n")
                else f"{line}\n\\ No newline at end of file\n"
            )
    return text
