# SPDX-License-Identifier: MIT
"""Converts plans to the environment of a program."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hasp.base.output import note
from hasp.locks.site_plan import flatten
from hasp.locks.site_plan.model import SitePlan
from hasp.locks.site_plan.stale import refreshed


def settings(plan: SitePlan, files: Mapping[str, Path]) -> dict[str, str]:
    """Return the environment variables for libhasp.so: the entries of the plan.

    `files` are the program and its libraries, by name. Prints a note to stderr for each
    entry that another build of a file has made stale.
    """
    current, doubts = refreshed(plan, files)
    for doubt in doubts:
        note(doubt)
    return {"HASP_PLAN": str(flatten.write(current))}
