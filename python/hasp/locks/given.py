# SPDX-License-Identifier: MIT
"""The lock that a user chooses for a program: an algorithm, or a plan."""

from __future__ import annotations

from pathlib import Path

from hasp.locks import native
from hasp.locks.native import LockInfo
from hasp.locks.site_plan.model import PREFIX, SitePlan

GivenLock = LockInfo | SitePlan


def given_lock(name: str) -> GivenLock:
    """Return the lock called `name`, or the plan in FILE if it is plan:FILE.

    Raises HaspError for an unknown lock, and for a file that is not a plan.
    """
    if not name.startswith(PREFIX):
        return native.lock(name)
    return given_plan(name.removeprefix(PREFIX))


def given_plan(file: str) -> SitePlan:
    """Return the plan in a file, which may be a pipe and is read once."""
    # Imported here because most commands start without a plan.
    from hasp.locks.site_plan import toml_file

    return toml_file.load(Path(file))


def algorithms_of(lock: GivenLock) -> list[LockInfo]:
    """Return the algorithms that a lock uses, a plan's default first."""
    if isinstance(lock, SitePlan):
        return [native.lock(name) for name in lock.locks]
    return [lock]
