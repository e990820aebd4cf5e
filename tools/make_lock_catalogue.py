#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make docs/locks.md, the catalogue of locks, from what hasp-locks prints.

make_lock_catalogue.py HASP_LOCKS            print it
make_lock_catalogue.py HASP_LOCKS --write    write docs/locks.md
make_lock_catalogue.py HASP_LOCKS --check    exit 1 if docs/locks.md differs
"""

from __future__ import annotations

import argparse
import difflib
import json
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CATALOGUE = ROOT / "docs/locks.md"
COLUMNS = 88

Lock = dict[str, Any]

HEAD = """\
<!-- Generated from src/locks/locks.def: edit that, then run `make docs`. -->
# The locks

`hasp list` prints this list, `hasp run --lock NAME` takes a name of it. `hasp compare
--locks` also takes properties: `fifo`, `bypasses`, `parks`, `spins`, `numa`, `light`,
`trylock`.

- **FIFO**: waiters get the lock in the order of their arrival. A strict-FIFO lock
  that parks pays a context switch for each hand-over when threads outnumber CPUs.
- **Bypasses**: a thread that is running may take the lock before one that waits.
- **Waiting**: what a waiter does. A waiter that only spins keeps its CPU; with more
  threads than CPUs, such a lock can collapse, because the thread that would be next, or
  the holder itself, is not running.
- **Bytes**: of lock state, inside `pthread_mutex_t`; and of library memory per waiting
  thread, while it waits.
"""

LEGEND = "\nEach has lock, trylock, timed lock and unlock.\n"


def yes(value: object) -> str:
    return "yes" if value else "-"


def table(locks: list[Lock]) -> Iterator[str]:
    yield "| lock | category | waiting | FIFO | bypasses | parks | bytes |"
    yield "|---|---|---|---|---|---|---|"
    for lock in locks:
        name = f"[`{lock['name']}`](#{lock['name']})"
        if lock["default"]:
            name += " (default)"
        size = f"{lock['bytes']} + {lock['waiter_bytes']}"
        cells = [name, lock["category"], lock["waiting"], yes(lock["fifo"])]
        cells += [yes(lock["bypasses"]), yes(lock["parks"]), size]
        yield "| " + " | ".join(cells) + " |"


def sentence(text: str) -> str:
    """With a capital and a full stop, as the list's one-liners stand in a text."""
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def entry(lock: Lock, names: set[str]) -> Iterator[str]:
    yield f"\n## {lock['name']}\n"
    summary = sentence(lock["summary"])
    if lock["summary"].split()[0] in names:  # names of locks stay as they are
        summary = summary[0].lower() + summary[1:]
    yield textwrap.fill(summary, COLUMNS)
    if lock["source"]:
        yield ""
        yield textwrap.fill("Source: " + sentence(lock["source"]), COLUMNS)
    others = [name for name in lock["aliases"] if name != lock["name"]]
    if others:
        yield ""
        yield f"Also known as {', '.join(f'`{name}`' for name in others)}."
    if lock["caution"]:
        yield ""
        yield textwrap.fill("**Caution:** " + sentence(lock["caution"]), COLUMNS)


def catalogue(locks: list[Lock]) -> str:
    lines = [HEAD, *table(locks), LEGEND.rstrip("\n")]
    names = {lock["name"] for lock in locks}
    for lock in locks:
        lines += entry(lock, names)
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("hasp_locks", type=Path, help="the program hasp-locks")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--write", action="store_true")
    mode.add_argument("--check", action="store_true")
    arguments = parser.parse_args()

    output = subprocess.run(
        [arguments.hasp_locks.resolve()], check=True, capture_output=True, text=True
    ).stdout
    text = catalogue([json.loads(line) for line in output.splitlines()])
    if arguments.write:
        CATALOGUE.write_text(text)
    elif arguments.check:
        present = CATALOGUE.read_text() if CATALOGUE.exists() else ""
        if present != text:
            difference = difflib.unified_diff(
                present.splitlines(),
                text.splitlines(),
                "docs/locks.md",
                "locks.def",
                "",
                "",
                0,
                "",
            )
            print("\n".join(difference), file=sys.stderr)
            print("docs/locks.md is out of date: run `make docs`", file=sys.stderr)
            return 1
    else:
        print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
