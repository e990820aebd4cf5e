# SPDX-License-Identifier: MIT
"""The catalogue pages of algorithms for other primitives than mutexes.

Each kind has one page: a table of its list, then a section for each header.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import lock_header
from lock_pages import (
    GENERATED,
    Lock,
    algorithm,
    markdown,
    overtaken,
    paragraph,
    sentence,
    table,
)


@dataclass(frozen=True)
class Kind:
    """`kind` as in hasp-locks' output; `macro` begins the entries of `listing`."""

    kind: str
    listing: Path
    macro: str
    page: Path
    head: str
    wrappers: tuple[tuple[str, Path], ...] = ()


KINDS = (
    Kind(
        "rwlock",
        Path("src/rwlocks/rwlocks.def"),
        "RWLOCK",
        Path("docs/rwlocks.md"),
        """\
# Reader-writer locks

`hasp run --rwlock NAME` puts one of these in the place of glibc's `pthread_rwlock_t`.
They are stored inside the 56 bytes of that type. Each supports read and write lock,
trylock and timed lock, both kinds of preference, recursive readers, fork and
cancellation, and returns `EDEADLK` to a writer that locks again and to a reader that
wants to write. A lock that is shared between processes stays glibc's.

- **Overtaken**: how often other threads may enter before a waiting writer does.
- **Bytes**: the bytes of state inside `pthread_rwlock_t`, and the bytes outside, from
  the first use until the lock is destroyed, on one NUMA node. Each thread that reads
  has a record of 128 bytes besides.
""",
        (
            ("bravo+LOCK", Path("src/rwlocks/algorithms/bravo.h")),
            ("mutex:LOCK", Path("src/rwlocks/algorithms/rw_mutex.h")),
        ),
    ),
)


def pages(root: Path, listed: list[Lock]) -> dict[Path, str]:
    """Return the text of the page of each kind whose list exists."""
    return {
        kind.page: "\n".join(_page(root, kind, listed)).rstrip("\n") + "\n"
        for kind in KINDS
        if (root / kind.listing).exists()
    }


def _page(root: Path, kind: Kind, listed: list[Lock]) -> Iterator[str]:
    yield GENERATED
    yield kind.head
    locks = [lock for lock in listed if lock.get("kind") == kind.kind]
    headings = ("name", "what it is", "family", "waiting", "overtaken", "bytes")
    yield from table(headings, [_row(lock) for lock in locks])
    yield ""
    entries = lock_header.entries_of_list(root, kind.listing, kind.macro)
    headers = dict.fromkeys(entry.header for entry in entries.values())
    for header in headers:
        names = [name for name, entry in entries.items() if entry.header == header]
        yield from _section(root, ", ".join(f"`{name}`" for name in names), header)
    for title, header in kind.wrappers:
        if (root / header).exists():
            yield from _section(root, f"`{title}`", header)


def _row(lock: Lock) -> list[str]:
    name = f"`{lock['name']}`"
    size = f"{lock['bytes']} + {lock['outside_bytes'] + lock['node_bytes']}"
    words = sentence(lock["summary"])
    if lock["caution"]:
        words += " Caution: " + sentence(lock["caution"])
    return [
        name,
        markdown(words),
        lock["category"],
        lock["waiting"] + (", NUMA" if lock["numa"] else ""),
        overtaken(lock),
        size if lock["index"] else "-",
    ]


def _section(root: Path, title: str, header: Path) -> Iterator[str]:
    head = lock_header.parse(root, header)
    yield f"## {title}\n"
    yield paragraph(markdown(head.title))
    yield f"The code: [{header.name}](../{header}).\n"
    for line in algorithm(head):
        yield line.replace("## ", "### ", 1) if line.startswith("## ") else line
