# SPDX-License-Identifier: MIT
"""The names of plans, in options and in results."""

from __future__ import annotations

PREFIX = "plan:"  # of a file name, where a lock's name may stand
UNNAMED = "plan"  # a plan that was not read from a file


def is_plan(name: str) -> bool:
    """Return true if a name in results is that of a plan, not of a lock."""
    return name == UNNAMED or name.startswith(PREFIX)
