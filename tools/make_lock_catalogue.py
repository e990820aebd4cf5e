#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make the catalogue of locks: docs/locks.md and a page for each in docs/locks/, and
the same for each other kind (kind_catalogue.py).

make_lock_catalogue.py HASP_LOCKS            print the index
make_lock_catalogue.py HASP_LOCKS --write    write the index and the pages
make_lock_catalogue.py HASP_LOCKS --check    exit 1 if the files are out of date

Its sources are the output of hasp-locks, the head comments of headers, and docs/data.
"""

from __future__ import annotations

import argparse
import difflib
import json
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import kind_catalogue
import lock_data
import lock_header
from lock_pages import GENERATED, Lock, number, overtaken, page, wrapper_page
from page_kinds import OTHERS
from page_markdown import table

ROOT = Path(__file__).resolve().parent.parent
INDEX = Path("docs/locks.md")
PAGES = Path("docs/locks")

# Wrappers of any lock: title, header, and their record in the form of the list.
WRAPPERS: dict[str, tuple[Path, Lock]] = {
    "gcr+LOCK": (
        Path("src/locks/algorithms/gcr.h"),
        {
            "name": "gcr+LOCK",
            "category": "load control",
            "summary": "any lock, with few threads admitted at a time",
            "source": "Dice and Kogan, EuroSys 2019",
        },
    )
}

# Order of the families; any that are not listed come last.
FAMILIES = {
    "system": "The program's own mutex: the reference.",
    "competitive": "Any running thread may take a free lock.",
    "direct handoff": "The releaser passes the lock to the next waiter.",
    "hierarchical": "Waiters on the holder's NUMA node come first, for a limited time.",
    "load control": "Surplus threads are kept away from the lock.",
    "usage fairness": "Threads get equal shares of the time that the lock is held.",
}

HEAD = """\
# The locks

`hasp list` prints this list, and `hasp run --lock NAME` accepts its names. Options that
accept several locks (`--locks`) also accept families and properties: `fifo`,
`bypasses`, `parks`, `spins`, `numa`, `light`, `trylock`. Each lock supports lock,
trylock, timed lock and unlock, and has a page with its idea, state and invariants, its
measured cost, and what was proven about it.

- **Waiting**: how a thread waits. A waiter that only spins keeps its CPU; with more
  threads than CPUs, such a lock can collapse, because the next thread in the queue, or
  the holder itself, is not running.
- **Overtaken**: how often later arrivals may acquire the lock before a queued waiter;
  *never* is strict FIFO. A strict-FIFO lock that parks pays a context switch for each
  handover when threads outnumber CPUs.
- **Bytes**: three numbers: the bytes of state inside `pthread_mutex_t`; the bytes of
  library memory for each thread while it waits; and the bytes outside the mutex once it
  was contended, on one NUMA node.
- **Pair**: time of an uncontended lock and unlock in a process with several threads,
  relative to glibc's; `-` if it was not measured.
- **Proven**: how many of the model checker's clients the lock passes; its page has the
  bounds.
"""


def catalogue(hasp_locks: Path) -> dict[Path, str]:
    """Return the text of every file of the catalogue, by its path below the root."""
    output = subprocess.run(
        [hasp_locks.resolve()], check=True, capture_output=True, text=True
    ).stdout
    listed: list[Lock] = [json.loads(line) for line in output.splitlines()]
    locks = [lock for lock in listed if lock.get("kind", "mutex") == "mutex"]
    entries = lock_header.entries_of_list(ROOT)
    heads = {
        header: lock_header.parse(ROOT, header)
        for header in sorted({entry.header for entry in entries.values()})
    }
    data = lock_data.read(ROOT)
    names = {lock["name"] for lock in locks}
    files = {INDEX: "\n".join([GENERATED, HEAD, *index(locks, data)]) + "\n"}
    for lock in locks:
        entry = entries.get(lock["name"])
        if entry is None and lock["index"]:
            raise lock_header.BadComment(
                f"{lock_header.LIST}: no entry for {lock['name']}, unlike hasp-locks"
            )
        siblings = [
            name
            for name, other in entries.items()
            if entry and other.header == entry.header and name != lock["name"]
        ]
        head = heads[entry.header] if entry else None
        text = page(lock, entry, head, siblings, data, names)
        files[PAGES / f"{lock['name']}.md"] = text
    for title, (header, lock) in wrappers().items():
        text = wrapper_page(lock, header, lock_header.parse(ROOT, header), data)
        files[PAGES / f"{title}.md"] = text
    return files | kind_catalogue.pages(ROOT, listed, data)


def wrappers() -> dict[str, tuple[Path, Lock]]:
    """Return the wrappers whose header exists."""
    return {
        title: wrapper
        for title, wrapper in WRAPPERS.items()
        if (ROOT / wrapper[0]).exists()
    }


def index(locks: list[Lock], data: lock_data.Data) -> Iterator[str]:
    """Yield the lines of a table for each family."""
    known = list(FAMILIES)
    families = dict.fromkeys([*known, *(lock["category"] for lock in locks)])
    for family in families:
        of_family = [lock for lock in locks if lock["category"] == family]
        if not of_family:
            continue
        yield f"## {family[0].upper()}{family[1:]}\n"
        if family in FAMILIES:
            yield f"{FAMILIES[family]}\n"
        headings = (
            "lock",
            "what it is",
            "waiting",
            "overtaken",
            "bytes",
            "pair",
            "proven",
        )
        rows = [row(lock, data) for lock in of_family]
        for title, (_, lock) in wrappers().items():
            if lock["category"] == family:
                link = f"[`{title}`](locks/{title}.md)"
                rows.append([link, lock["summary"], "-", "-", "-", "-", "-"])
        yield from table(headings, rows)
        yield ""


def row(lock: Lock, data: lock_data.Data) -> list[str]:
    """Return the row of one lock in the index."""
    name = f"[`{lock['name']}`](locks/{lock['name']}.md)"
    if lock["default"]:
        name += " (default)"
    outside = lock["outside_bytes"] + lock["node_bytes"]
    size = f"{lock['bytes']} + {lock['waiter_bytes']} + {outside}"
    pair = "-"
    for record in data.bench.get(lock["name"], []):
        if (record["case"], record["threads"]) == ("uncontended", 2):
            pair = number(record.get("ratio_to_glibc"))
    waiting = lock["waiting"] + (", NUMA" if lock["numa"] else "")
    size = size if lock["index"] else "-"
    return [
        name,
        lock["summary"],
        waiting,
        overtaken(lock),
        size,
        pair,
        proven(lock, data),
    ]


def proven(lock: Lock, data: lock_data.Data) -> str:
    """Return how many of the model checker's clients a lock passes, as text."""
    records = data.check.get(lock["name"], [])
    passed = sum(record.get("verdict") == "ok" for record in records)
    return f"{passed} of {len(records)}" if records else "-"


def present() -> dict[Path, str]:
    """Return the current text of the catalogue's files."""
    indexes = [ROOT / INDEX, *(ROOT / kind.index for kind in OTHERS)]
    folders = [ROOT / PAGES, *(ROOT / kind.folder for kind in OTHERS)]
    files = chain(indexes, *(sorted(folder.glob("*.md")) for folder in folders))
    return {
        path.relative_to(ROOT): path.read_text(encoding="utf-8")
        for path in files
        if path.exists()
    }


def write(wanted: dict[Path, str]) -> None:
    """Bring the files up to date; delete pages of locks that no longer exist."""
    there = present()
    for path in there.keys() - wanted.keys():
        (ROOT / path).unlink()
    for path, text in wanted.items():
        if there.get(path) != text:
            (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / path).write_text(text, encoding="utf-8")


def check(wanted: dict[Path, str]) -> int:
    """Return 1 if a file is out of date; print the difference to stderr."""
    there = present()
    stale = [
        path
        for path in sorted(wanted.keys() | there.keys())
        if wanted.get(path) != there.get(path)
    ]
    for path in stale:
        lines = difflib.unified_diff(
            there.get(path, "").splitlines(),
            wanted.get(path, "").splitlines(),
            f"{path} (present)",
            f"{path} (up to date)",
            n=0,
            lineterm="",
        )
        print("\n".join(lines), file=sys.stderr)
        print(f"{path} is out of date: run `make docs`", file=sys.stderr)
    return 1 if stale else 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("hasp_locks", type=Path, help="the program hasp-locks")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--write", action="store_true")
    mode.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    try:
        wanted = catalogue(arguments.hasp_locks)
    except lock_header.BadComment as problem:
        print(f"make_lock_catalogue: {problem}", file=sys.stderr)
        print("docs/locks.md: see CONTRIBUTING.md, Adding a lock", file=sys.stderr)
        return 1
    if arguments.write:
        write(wanted)
    elif arguments.check:
        return check(wanted)
    else:
        print(wanted[INDEX], end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
