# SPDX-License-Identifier: MIT
"""Code that may use the lock, and that the compile database does not show."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from hasp.base.errors import HaspError
from hasp.delegate.libclang import skipped_ranges
from hasp.delegate.lock import Lock
from hasp.delegate.refusal import Refusal
from hasp.delegate.syntax import Source, Unit
from hasp.delegate.tokens import line_of, tokens
from hasp.delegate.uses import Uses

SUFFIXES = (".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".inc")
MOST_FILES = 20_000
LONGEST_FILE = 4 << 20  # bytes; longer ones are generated


def unseen(
    lock: Lock, uses: Uses, units: Sequence[Unit], root: Path, ignored: Sequence[Path]
) -> Iterator[Refusal]:
    """Yield the code that mentions the lock and has not been examined.

    That is code that the preprocessor leaves out, and source files below `root` that
    the compile database lacks; `ignored` files and folders are not looked at.
    """
    yield from _left_out(lock, uses, units)
    is_private = all(
        node.kind == "VAR_DECL" and node.cursor.storage_class.name == "STATIC"
        for node in uses.declarations
    )
    if is_private:
        return
    seen = {path for unit in units for path in unit.files}
    skipped = [path.resolve() for path in ignored]
    header = {node.source.path.name.encode() for node in uses.declarations}
    word = lock.name.encode()
    for path in _files(root):
        if path.resolve() in seen or any(map(path.resolve().is_relative_to, skipped)):
            continue
        text = path.read_bytes()
        if word not in text or not (
            b"pthread_" in text or any(name in text for name in header)
        ):
            continue
        if re.search(rb"\bstruct hasp_delegate\s+" + word + rb"\b", text):
            continue  # a copy that was rewritten before
        found = next((t for t in tokens(text) if t.text == word), None)
        if found:
            yield Refusal(
                str(path.relative_to(root)),
                line_of(text, found.start),
                f"mentions {lock.name}, and the compile database lacks the file",
                f"add it, or leave it out: --ignore {path.relative_to(root)}",
            )


def _left_out(lock: Lock, uses: Uses, units: Sequence[Unit]) -> Iterator[Refusal]:
    """Yield the mentions of the lock in code that no compile command includes."""
    word = lock.name.encode()
    for path in uses.mentions:
        views = [unit for unit in units if path in unit.sources]
        source: Source = views[0].sources[path]
        skipped = [skipped_ranges(unit.translation_unit, path) for unit in views]
        for token in tokens(source.text):
            if token.kind == "name" and token.text == word:
                everywhere = all(
                    any(start <= token.start < end for start, end in ranges)
                    for ranges in skipped
                )
                if everywhere:
                    yield Refusal(
                        source.name,
                        line_of(source.text, token.start),
                        f"mentions {lock.name} where the preprocessor leaves code out",
                        "delete it, or add a compile command that includes it",
                    )


def _files(root: Path) -> Iterator[Path]:
    count = 0
    for parent, folders, names in os.walk(root):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        for name in sorted(names):
            path = Path(parent, name)
            if name.endswith(SUFFIXES) and path.is_file():
                count += 1
                if count > MOST_FILES:
                    raise HaspError(
                        f"more than {MOST_FILES} source files below {root}",
                        "run it in the program's own folder",
                    )
                if path.stat().st_size <= LONGEST_FILE:
                    yield path
