# SPDX-License-Identifier: MIT
"""Reads the measurements, proofs and mutation scores in docs/data.

bench-locks.json  lines of `hasp bench locks --json`
check.json        lines of `hasp check --json`
mutation.json     lines of the mutation tool

A missing file is not an error: the pages state that there is no data.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DATA = Path("docs/data")
BENCH = DATA / "bench-locks.json"
CHECK = DATA / "check.json"
MUTATION = DATA / "mutation.json"

Record = dict[str, Any]


@dataclass
class Data:
    """Records by the name of their lock; empty if a file is missing."""

    bench: dict[str, list[Record]] = field(default_factory=dict)
    check: dict[str, list[Record]] = field(default_factory=dict)
    mutation: dict[str, list[Record]] = field(default_factory=dict)


def read(root: Path) -> Data:
    """Read the files of docs/data that exist."""
    return Data(
        bench=_by_lock(root / BENCH),
        check=_by_lock(root / CHECK),
        mutation=_by_lock(root / MUTATION),
    )


def _by_lock(path: Path) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = {}
    if not path.exists():
        return found
    for record in _records(path.read_text(encoding="utf-8")):
        found.setdefault(str(record.get("lock", "")), []).append(record)
    return found


def _records(text: str) -> list[Record]:
    """Return the objects of a file: one per line, or the elements of one array."""
    if text.lstrip().startswith("["):
        return [item for item in json.loads(text) if isinstance(item, dict)]
    return [json.loads(line) for line in text.splitlines() if line.strip()]
