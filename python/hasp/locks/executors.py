# SPDX-License-Identifier: MIT
"""The names of executors that hasp_delegate_init() knows."""

from __future__ import annotations

from hasp.base.errors import HaspError
from hasp.base.suggestion import did_you_mean
from hasp.locks import native
from hasp.locks.kinds import EXECUTOR

LOCK_PREFIX = "lock:"
SERVERS = "01234567"  # SERVERS_MOST of src/delegation/server.h


def check_executor(name: str) -> None:
    """Raise HaspError if there is no executor, or lock after "lock:", of this name.

    The name of an executor with servers may select one of them, as in rcl:1.
    """
    if name.startswith(LOCK_PREFIX):
        native.lock(name.removeprefix(LOCK_PREFIX))
        return
    known = executors()
    word, colon, server = name.lower().replace("_", "-").partition(":")
    if word in known and not colon:
        return
    served = [row.name for row in native.locks(EXECUTOR) if row.category == "server"]
    if word in served and len(server) == 1 and server in SERVERS:
        return
    raise HaspError(
        f"there is no executor {name!r}",
        f"{did_you_mean(name, known)}the executors are {', '.join(known)}, and "
        "lock:NAME with a name of `hasp list`; a number selects another server of "
        f"{', '.join(served)}: {served[0]}:1 to {served[0]}:7",
    )


def executors() -> tuple[str, ...]:
    """Return the names of the executors, without those of locks."""
    return tuple(executor.name for executor in native.locks(EXECUTOR))
