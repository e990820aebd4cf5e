# SPDX-License-Identifier: MIT
"""Code that may use the lock, and that the compile database does not show."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from hasp.base.source_files import LONGEST_FILE, source_files
from hasp.delegate.libclang import skipped_ranges
from hasp.delegate.lock import Lock
from hasp.delegate.refusal import Refusal
from hasp.delegate.syntax import Source, Unit
from hasp.delegate.tokens import line_of, tokens
from hasp.delegate.uses import Uses


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
    for path in source_files(root, "run the command in the program's own folder"):
        real = path.resolve()
        if real in seen or any(map(real.is_relative_to, skipped)):
            continue
        if path.stat().st_size > LONGEST_FILE:
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
