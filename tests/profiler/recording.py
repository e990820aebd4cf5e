# SPDX-License-Identifier: MIT
"""Records a program for a test in the same way as `hasp profile`."""

from __future__ import annotations

import secrets
import subprocess
from collections.abc import Sequence
from pathlib import Path

from hasp.launch import interpose
from hasp.locks.given import given_lock
from hasp.profile.model.build import load
from hasp.profile.model.profile import Profile


def environment(
    trace: Path, command: Sequence[str], mode: str = "full", lock: str = "glibc"
) -> dict[str, str]:
    """Return the environment in which `command` is recorded to `trace`."""
    settings = {
        "HASP_TRACE": str(trace),
        "HASP_TRACE_SESSION": secrets.token_hex(8),
        "HASP_TRACE_MODE": mode,
        "HASP_TRACE_LOCK": lock,
    }
    base = interpose.original_environment()
    return interpose.environment(
        given_lock(lock), base, command, trace_settings=settings
    )


def profile_of(
    command: Sequence[str], trace: Path, mode: str = "full", limit: float = 30
) -> Profile:
    """Record the command, which must succeed, and return its profile."""
    finished = subprocess.run(
        command,
        env=environment(trace, command, mode),
        capture_output=True,
        text=True,
        timeout=limit,
    )
    assert finished.returncode == 0, finished.stderr[-2000:]
    return load(trace)
