# SPDX-License-Identifier: MIT
"""A plan as the environment of a program."""

from __future__ import annotations

import sys
from pathlib import Path

from hasp.plan import flatten, toml_file
from hasp.plan.model import Plan
from hasp.plan.stale import refreshed

CANDIDATE = "plan:"  # before a file's name: the plan as one more lock


def named_by(candidate: str) -> Path | None:
    """The plan file of a candidate `plan:FILE`; None for a lock's name."""
    if not candidate.startswith(CANDIDATE):
        return None
    return Path(candidate.removeprefix(CANDIDATE))


def load(path: Path) -> Plan:
    """The plan in a file."""
    return toml_file.load(path)


def settings(plan: Plan, files: dict[str, Path]) -> dict[str, str]:
    """The variables for libhasp.so; what is stale is told on stderr."""
    current, notes = refreshed(plan, files)
    for note in notes:
        print(f"hasp: {note}", file=sys.stderr)
    return {"HASP_LOCK": plan.default, "HASP_PLAN": str(flatten.write(current))}
