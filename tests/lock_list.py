# SPDX-License-Identifier: MIT
"""The locks of the build's list, and the few that represent all of them.

Tests that depend on the algorithm run under every lock. The others (of hooked symbols,
passed-through calls and a program's surroundings) run under one lock of each structure,
and under all of them in `make test-all`.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("HASP_NATIVE_DIR", ROOT / "build")).resolve()

Record = dict[str, Any]

# One lock of each structure: the first one in the list that matches.
STRUCTURES: dict[str, Callable[[Record], bool]] = {
    "the default": lambda lock: lock["default"],
    "a word that is spun on": lambda lock: not lock["parks"] and lock["bypasses"],
    "a queue that spins": lambda lock: lock["fifo"] and not lock["parks"],
    "a queue that parks": lambda lock: lock["fifo"] and lock["parks"],
    "two levels": lambda lock: lock["category"] == "hierarchical",
    "surplus threads kept aside": lambda lock: lock["category"] == "load control",
}


@cache
def records(kind: str = "mutex") -> tuple[Record, ...]:
    """Return the build's description of every lock, the pass-through first."""
    return _listed(kind)


@cache
def wrapped_records(kind: str) -> tuple[Record, ...]:
    """Return the build's description of every lock made of another one."""
    return _listed(kind, "--wrapped")


def _listed(kind: str, *options: str) -> tuple[Record, ...]:
    output = subprocess.run(
        [BUILD / "src" / "list" / "hasp-locks", *options],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    listed = [json.loads(line) for line in output.splitlines()]
    return tuple(record for record in listed if record["kind"] == kind)


@cache
def representatives() -> frozenset[str]:
    """Return the names of one lock of each structure."""
    ours = [record for record in records() if record["name"] != "glibc"]
    found = set()
    for holds in STRUCTURES.values():
        found.update([record["name"] for record in ours if holds(record)][:1])
    return frozenset(found)


def slow_if_not_representative(name: str | None) -> list[pytest.MarkDecorator]:
    """Return the marks of a test that does not depend on the algorithm."""
    few = {None, "glibc", *representatives()}
    return [] if name in few else [pytest.mark.slow]
