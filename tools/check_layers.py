#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check the includes in src/ and include/, and that conditionals stay in src/platform.

The table below matches ARCHITECTURE.md: includes go downward only, between parts
and between the folders of a part, and are written from src/
("locks/algorithms/mcs.h"). A `#if` outside src/platform would be a platform decision in
the wrong place; include guards are the exception, and so is `#ifdef __cpp_...` in a C++
header, which asks whether a feature of the language is switched on.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from include_cycles import include_cycles
from sources import C_SUFFIXES, Finding, files, parse_root, report

# Each part may include itself and the parts listed for it.
MAY_INCLUDE: dict[str, set[str]] = {
    "platform": set(),
    "locks": {"platform"},
    "rwlocks": {"locks", "platform"},
    "spinlocks": {"locks", "platform"},
    "barriers": {"locks", "platform"},
    "list": {
        *("borrowing", "delegation", "elision", "rwlocks", "spinlocks", "barriers"),
        *("locks", "platform"),
    },
    "delegation": {"locks", "platform"},
    "elision": {"locks", "rwlocks", "platform"},
    "borrowing": {"elision", "locks", "platform"},
    "structures": {"barriers", "delegation", "locks", "platform"},
    "profiler": {"platform"},
    "condition": {"locks", "platform"},
    "library": {
        *("condition", "delegation", "rwlocks", "spinlocks", "barriers", "locks"),
        "platform",
    },
    "include": {
        *("structures", "library", "delegation", "rwlocks", "spinlocks", "barriers"),
        *("locks", "platform"),
    },
    "preload": {
        *("condition", "rwlocks", "spinlocks", "barriers", "locks"),
        *("borrowing", "elision", "delegation", "profiler", "platform"),
    },
    "calibrate": {"platform"},
    "simulator": {"platform"},
    "explorer": {"borrowing", "condition", "delegation", "platform", "structures"},
    "bench": {
        *("platform", "locks", "rwlocks", "spinlocks", "barriers", "condition"),
        *("delegation", "elision", "structures", "profiler", "simulator", "explorer"),
    },
}
# The simulator and the explorer use locks only through the list. The explorer also
# models the pools and the interposer's side of a condition variable's handover.
LIST_HEADERS = {
    *("locks/list/descriptor.h", "locks/locks.def"),
    *("rwlocks/list/descriptor.h", "rwlocks/rwlocks.def"),
    *("spinlocks/list/descriptor.h", "spinlocks/spinlocks.def"),
    *("barriers/list/descriptor.h", "barriers/barriers.def"),
}
LIST_READERS = {
    "simulator": LIST_HEADERS,
    "explorer": LIST_HEADERS
    | {
        "elision/elide.h",
        "elision/global.h",
        *("elision/list.h", "elision/rwlock_list.h"),
        *("locks/memory/pool.h", "locks/memory/side_memory.h"),
        *("locks/waiting/waiter.h", "locks/waiting/policies.h"),
        *("rwlocks/read_holds.h", "barriers/barrier.h"),
        "barriers/algorithms/positions.h",  # to see that a thread has arrived
    },
}

# The folders of a part. Each may include itself, those before it, and the
# part's own headers.
FOLDERS: dict[str, tuple[str, ...]] = {
    "locks": ("memory", "waiting", "algorithms", "list"),
    "rwlocks": ("algorithms", "list"),
    "spinlocks": ("algorithms", "list"),
    "barriers": ("algorithms", "list"),
    "delegation": ("algorithms", "list"),
    "profiler": ("store", "threads", "record", "sample", "session"),
    "explorer": ("base", "memory", "execution", "search", "clients"),
}

# The include path selects the platform and the locks that a workload uses.
BY_INCLUDE_PATH = {
    *("awaiting.h", "backend.h", "delegating.h", "eliding.h", "excluding.h"),
    *("sharing.h", "transacting.h"),
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')
LANGUAGE_FEATURE = re.compile(r"\s*#\s*ifdef\s+__cpp_\w+")
CONDITIONAL = re.compile(r"^\s*#\s*(if|ifdef|ifndef|elif|else)\b\s*(.*)")


def part_of(root: Path, path: Path) -> str:
    """Return the part of a file; include/, the public headers, is one of its own."""
    above, part = path.relative_to(root).parts[:2]
    return part if above == "src" else above


def check_include(root: Path, path: Path, line: int, target: str) -> Iterator[Finding]:
    part = part_of(root, path)
    target_part = target.split("/")[0]
    if target in BY_INCLUDE_PATH or (root / "include" / target).is_file():
        return
    if not (root / "src" / target).is_file():
        yield Finding(
            path,
            line,
            f'write "{target}" from src/, as in "{part}/{Path(target).name}"',
        )
    elif target_part != part and target_part not in MAY_INCLUDE[part]:
        if target in LIST_READERS.get(part, set()):
            return
        allowed = ", ".join(sorted(MAY_INCLUDE[part])) or "no other part"
        yield Finding(
            path, line, f"{part} may not include {target_part} (it may: {allowed})"
        )


def check_folders(root: Path, path: Path, line: int, target: str) -> Iterator[Finding]:
    """Return a finding if a folder includes one above it in its part's order."""
    if not path.is_relative_to(root / "src"):
        return
    part, *below = path.relative_to(root / "src").parts
    order = FOLDERS.get(part, ())
    target_part, *target_below = target.split("/")
    if target_part != part or below[0] not in order or target_below[0] not in order:
        return
    if order.index(target_below[0]) > order.index(below[0]):
        yield Finding(
            path,
            line,
            f"{part}/{below[0]} may not include {part}/{target_below[0]}, which is"
            f" above it (from the bottom: {', '.join(order)})",
        )


def conditionals(path: Path, lines: list[str]) -> Iterator[Finding]:
    """Find conditionals except the include guard: `#ifndef X`, then `#define X`."""
    directives = [
        (number, text)
        for number, text in enumerate(lines, 1)
        if text.lstrip().startswith("#")
    ]
    guard = None
    if path.suffix in (".h", ".hpp") and len(directives) >= 2:
        opening = re.fullmatch(r"#\s*ifndef\s+(\w+)", directives[0][1].strip())
        closing = re.fullmatch(r"#\s*define\s+(\w+)", directives[1][1].strip())
        if opening and closing and opening[1] == closing[1]:
            guard = directives[0][0]
    for number, text in directives:
        found = CONDITIONAL.match(text)
        if path.suffix == ".hpp" and LANGUAGE_FEATURE.match(text):
            continue
        if found and number != guard:
            yield Finding(
                path,
                number,
                f"#{found[1]} {found[2]}".rstrip()
                + ": conditionals belong in src/platform; take the decision there and"
                " give it a name in platform.h",
            )


def check_file(root: Path, path: Path) -> Iterator[Finding]:
    part = part_of(root, path)
    if part not in MAY_INCLUDE:
        yield Finding(
            path, 1, f"src/{part} is not in the table of tools/check_layers.py"
        )
        return
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, text in enumerate(lines, 1):
        found = INCLUDE.match(text)
        if found and found[1] == '"':
            yield from check_include(root, path, number, found[2])
            yield from check_folders(root, path, number, found[2])
    if part != "platform":
        yield from conditionals(path, lines)


def main() -> int:
    root = parse_root(__doc__)
    found = [
        finding
        for path in files(root, ["src", "include"], (*C_SUFFIXES, ".hpp"))
        for finding in check_file(root, path)
    ]
    return report(root, [*found, *include_cycles(root)])


if __name__ == "__main__":
    sys.exit(main())
