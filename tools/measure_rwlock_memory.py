#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measure the memory outside of reader-writer locks that were never contended.

    PYTHONPATH=python tools/measure_rwlock_memory.py  # docs/data/rwlock-memory.json

A test program locks and unlocks a million locks, to read and to write, under every
algorithm, wrapped ones included, and prints by how many bytes its memory grew for each.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from hasp.locks import native
from hasp.locks.kinds import RWLOCK
from no_options import no_options

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs/data/rwlock-memory.json"
PROGRAM = Path("tests/programs/rwlocks/very_many_locks")
BUILD = Path(os.environ.get("HASP_NATIVE_DIR", ROOT / "build"))
LOCKS = 1_000_000


def bytes_outside(name: str) -> int:
    """Return the growth of the memory for each lock under this algorithm."""
    hasp = (sys.executable, "-m", "hasp", "run", "--rwlock", name, "--")
    done = subprocess.run(
        [*hasp, str(BUILD / PROGRAM), str(LOCKS)],
        capture_output=True,
        text=True,
        check=True,
    )
    found = re.match(r"(-?\d+) bytes for each lock", done.stdout)
    if found is None:
        sys.exit(f"{PROGRAM} printed {done.stdout!r} under {name}")
    return int(found[1])


def main() -> int:
    """Measure every algorithm, and write a line for each."""
    no_options(__doc__)
    names = [
        lock.name
        for lock in (*native.locks(RWLOCK), *native.composed_locks(RWLOCK))
        if not lock.is_reference
    ]
    lines = [
        json.dumps({"kind": "rwlock", "lock": name, "bytes": bytes_outside(name)})
        for name in dict.fromkeys(names)
    ]
    DATA.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
