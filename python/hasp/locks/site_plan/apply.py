# SPDX-License-Identifier: MIT
"""Loads plans and converts them to the environment of a program."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from hasp.base.output import note
from hasp.locks.native import PLAN
from hasp.locks.site_plan import flatten, toml_file
from hasp.locks.site_plan.model import Plan
from hasp.locks.site_plan.stale import refreshed


@cache
def load(candidate: str) -> Plan:
    """Return the plan of `plan:FILE`.

    A command reads each file once, so that all its runs use the same plan, and the file
    may be a pipe.
    """
    return toml_file.load(Path(candidate.removeprefix(PLAN)))


def locks_of(plan: Plan) -> tuple[str, ...]:
    """Return the names of all locks that the plan uses, the default first."""
    return tuple(dict.fromkeys([plan.default, *(entry.lock for entry in plan.entries)]))


def settings(plan: Plan, files: Mapping[str, Path]) -> dict[str, str]:
    """Return the environment variables for libhasp.so.

    `files` are the program and its libraries, by name. Prints a note to stderr for each
    entry that another build of a file has made stale.
    """
    current, doubts = refreshed(plan, files)
    for doubt in doubts:
        note(doubt)
    return {"HASP_LOCK": plan.default, "HASP_PLAN": str(flatten.write(current))}
