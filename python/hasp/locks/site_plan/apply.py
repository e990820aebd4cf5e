# SPDX-License-Identifier: MIT
"""A plan as a candidate among the locks, and as the environment of a program."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hasp.base.output import note
from hasp.locks.native import PLAN
from hasp.locks.site_plan import flatten, toml_file
from hasp.locks.site_plan.model import Plan
from hasp.locks.site_plan.stale import refreshed


def load(candidate: str) -> Plan:
    """The plan of `plan:FILE`."""
    return toml_file.load(Path(candidate.removeprefix(PLAN)))


def locks_of(plan: Plan) -> tuple[str, ...]:
    """Every lock that its program may use, the default first."""
    return tuple(dict.fromkeys([plan.default, *(entry.lock for entry in plan.entries)]))


def settings(plan: Plan, files: Mapping[str, Path]) -> dict[str, str]:
    """The variables for libhasp.so; what is stale is told on stderr.

    `files` are the program's and its libraries', by name.
    """
    current, doubts = refreshed(plan, files)
    for doubt in doubts:
        note(doubt)
    return {"HASP_LOCK": plan.default, "HASP_PLAN": str(flatten.write(current))}
