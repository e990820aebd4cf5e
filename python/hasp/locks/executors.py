# SPDX-License-Identifier: MIT
"""The names of executors that hasp_delegate_init() knows."""

from __future__ import annotations

import json
import subprocess
from functools import cache

from hasp.base.errors import HaspError
from hasp.base.suggestion import did_you_mean
from hasp.locks import native

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


@cache
def executors() -> tuple[str, ...]:
    """Return the names of the executors, without those of locks."""
    program = str(native.program("hasp-workloads"))
    listed = subprocess.run([program, "--list"], capture_output=True, text=True)
    if listed.returncode:
        raise HaspError(f"{program} fails", "install Hasp again")
    rows = map(json.loads, listed.stdout.splitlines())
    knobs = next(row["knobs"] for row in rows if row.get("workload") == "delegation")
    words = next(k["words"] for k in knobs if k["name"] == "executor")
    return tuple(words[1:])  # the first one stands for calls under a lock
