# SPDX-License-Identifier: MIT
"""The names of executors that hasp_delegate_init() knows."""

from __future__ import annotations

from hasp.base.errors import HaspError
from hasp.base.suggestion import did_you_mean
from hasp.locks import native
from hasp.locks.kinds import EXECUTOR

LOCK_PREFIX = "lock:"


def check_executor(name: str) -> None:
    """Raise HaspError if there is no executor, or lock after "lock:", of this name."""
    if name.startswith(LOCK_PREFIX):
        native.lock(name.removeprefix(LOCK_PREFIX))
        return
    known = executors()
    if name.lower().replace("_", "-") not in known:
        raise HaspError(
            f"there is no executor {name!r}",
            f"{did_you_mean(name, known)}the executors are {', '.join(known)} and "
            "lock:NAME, with a name of `hasp list`",
        )


def executors() -> tuple[str, ...]:
    """Return the names of the executors, without those of locks."""
    return tuple(executor.name for executor in native.locks(EXECUTOR))
