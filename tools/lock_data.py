# SPDX-License-Identifier: MIT
"""Reads the measurements, proofs and mutation scores in docs/data.

bench-locks.json     lines of `hasp bench locks --json`; bench-rwlocks.json,
                     bench-spinlocks.json and bench-barriers.json likewise
check.json           lines of `hasp check --json`; check-rwlocks.json, ... likewise
mutation.json        lines of the mutation tool
rwlock-scaling.json  lines of tools/measure_rwlocks.py
rwlock-memory.json   lines of tools/measure_rwlock_memory.py
barrier-scaling.json lines of tools/measure_barriers.py
executor-scaling.json lines of tools/measure_executors.py
bench-delegation.jsonl lines of `hasp bench delegation --json`

A missing file is not an error: the pages state that there is no data.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from page_kinds import KINDS, label

DATA = Path("docs/data")
BENCH = DATA / "bench-locks.json"
CHECK = DATA / "check.json"
MUTATION = DATA / "mutation.json"
MEMORY = DATA / "rwlock-memory.json"
DELEGATION = DATA / "bench-delegation.jsonl"
SIMULATED = tuple(
    DATA / f"{kind}-scaling.json" for kind in ("rwlock", "barrier", "executor")
)

Record = dict[str, Any]


@dataclass
class Data:
    """Records by the label of their lock (page_kinds.py); files may be missing."""

    bench: dict[str, list[Record]] = field(default_factory=dict)
    check: dict[str, list[Record]] = field(default_factory=dict)
    mutation: dict[str, list[Record]] = field(default_factory=dict)
    simulated: dict[str, list[Record]] = field(default_factory=dict)
    memory: dict[str, list[Record]] = field(default_factory=dict)
    delegation: dict[str, list[Record]] = field(default_factory=dict)  # by subject


def read(root: Path) -> Data:
    """Read the files of docs/data that exist."""
    benches = {
        BENCH,
        *(DATA / f"bench-{kind.benchmark}.json" for kind in KINDS.values()),
    }
    checks = {
        CHECK,
        *(DATA / f"check-{kind.benchmark}.json" for kind in KINDS.values()),
    }
    return Data(
        bench=_by_lock(root, benches),
        check=_by_lock(root, checks),
        mutation=_by_lock(root, [MUTATION]),
        simulated=_by_lock(root, SIMULATED),
        memory=_by_lock(root, [MEMORY]),
        delegation=_by_subject(root / DELEGATION),
    )


def _by_lock(root: Path, paths: Iterable[Path]) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = {}
    for path in sorted(paths):
        if not (root / path).exists():
            continue
        for line in _records((root / path).read_text(encoding="utf-8")):
            record = (
                {"kind": "rwlock", **line["cell"], **line} if "cell" in line else line
            )
            found.setdefault(label(record), []).append(record)
    return found


def _by_subject(path: Path) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = {}
    for record in _records(path.read_text(encoding="utf-8")) if path.exists() else ():
        found.setdefault(record["subject"], []).append(record)
    return found


def _records(text: str) -> list[Record]:
    """Return the objects of a file: one per line, or the elements of one array."""
    if text.lstrip().startswith("["):
        return [item for item in json.loads(text) if isinstance(item, dict)]
    return [json.loads(line) for line in text.splitlines() if line.strip()]
