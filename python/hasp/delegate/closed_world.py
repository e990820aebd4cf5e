# SPDX-License-Identifier: MIT
"""Code that may use the lock, and that the compile database does not show."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from hasp.base.source_files import LONGEST_FILE, source_files
from hasp.delegate.libclang import skipped_ranges
from hasp.delegate.refusal import Refusal
from hasp.delegate.syntax import Node, Source, Unit
from hasp.delegate.tokens import line_of, tokens
from hasp.delegate.uses import Uses
from hasp.delegate.wrappers import Wrapper

NEVER = re.compile(rb"[ \t]*#[ \t]*if[ \t]+0\b")


def unseen(
    uses: Uses, units: Sequence[Unit], root: Path, ignored: Sequence[Path]
) -> Iterator[Refusal]:
    """Yield the code that mentions the lock and has not been examined.

    That is code that the preprocessor leaves out, and source files below `root` that
    the compile database lacks; `ignored` files and folders are not looked at.
    """
    yield from (each for each in _left_out(uses, units) if not _is_known(each, ignored))
    names = _shared_names(uses, units)
    if not names:
        return
    seen = {path for unit in units for path in unit.files}
    skipped = [path.resolve() for path in ignored]
    headers = {node.source.path.name.encode() for node in uses.declarations}
    for wrapper in uses.wrappers.values():
        headers |= {each.source.path.name.encode() for each in wrapper.prototypes}
    for path in source_files(root, "run the command in the program's own folder"):
        real = path.resolve()
        if real in seen or any(map(real.is_relative_to, skipped)):
            continue
        if path.stat().st_size > LONGEST_FILE:
            continue
        text = path.read_bytes()
        if not (b"pthread_" in text or any(name in text for name in headers)):
            continue
        for name in names:
            line = _line_with(name.encode(), text)
            if line:
                yield Refusal(
                    str(path.relative_to(root)),
                    line,
                    f"mentions {name}, and the compile database lacks the file",
                    f"add it, or leave it out: --ignore {path.relative_to(root)}",
                )


def _shared_names(uses: Uses, units: Sequence[Unit]) -> list[str]:
    """Return the names of the lock and of its wrappers that other files may use."""
    names = [wrapper.name for wrapper in uses.wrappers.values() if _is_shared(wrapper)]
    for node in uses.declarations:
        static = node.cursor.storage_class.name == "STATIC"
        local = node.kind == "PARM_DECL" or node.within(("FUNCTION_DECL",))
        private = local or (node.kind == "VAR_DECL" and static) or _is_own(node, units)
        if not private and node.name not in names:
            names.append(node.name)
    return names


def _is_own(node: Node, units: Sequence[Unit]) -> bool:
    """Return true for the member of a structure that only one file knows."""
    path = node.source.path
    return node.kind == "FIELD_DECL" and all(
        path == unit.command.file for unit in units if path in unit.sources
    )


def _is_shared(wrapper: Wrapper) -> bool:
    functions = (*wrapper.definitions, *wrapper.prototypes)
    return all(each.cursor.storage_class.name != "STATIC" for each in functions)


def _line_with(word: bytes, text: bytes) -> int:
    """Return the first line with a word, 0 for none or for one that is rewritten."""
    if word not in text or re.search(
        rb"\bstruct hasp_delegate\s+\*?" + word + rb"(_object)?\b", text
    ):
        return 0
    found = next((t for t in tokens(text) if t.text == word), None)
    return line_of(text, found.start) if found else 0


def _is_known(refusal: Refusal, ignored: Sequence[Path]) -> bool:
    """Return true if a line is ignored, as FILE:LINE."""
    line = f"{Path(refusal.file).resolve()}:{refusal.line}"
    return any(str(path.resolve()) == line for path in ignored)


def _is_in(offset: int, ranges: Sequence[tuple[int, int]]) -> bool:
    return any(start <= offset < end for start, end in ranges)


def _left_out(uses: Uses, units: Sequence[Unit]) -> Iterator[Refusal]:
    """Yield the mentions of the lock in code that no compile command includes."""
    for path, names in uses.mentions.items():
        words = {name.encode() for name in names}
        views = [unit for unit in units if path in unit.sources]
        source: Source = views[0].sources[path]
        skipped = [skipped_ranges(unit.translation_unit, path) for unit in views]
        never = [each for each in skipped[0] if NEVER.match(source.text, each[0])]
        for token in tokens(source.text):
            if token.kind == "name" and token.text in words:
                everywhere = all(_is_in(token.start, ranges) for ranges in skipped)
                if everywhere and not _is_in(token.start, never):
                    line = line_of(source.text, token.start)
                    place = f"{source.name}:{line}"
                    yield Refusal(
                        source.name,
                        line,
                        f"mentions {token.text.decode()} where the preprocessor leaves "
                        "code out",
                        "delete it, add a compile command that includes it, or leave "
                        f"it as it is: --ignore {place}",
                    )
