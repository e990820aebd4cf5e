# SPDX-License-Identifier: MIT
"""Waits for a condition, however long a busy machine takes to make it true."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def wait_until(condition: Callable[[], T], limit: float = 45.0) -> T:
    """Poll until `condition()` is true, and return its value. Fail after `limit` s."""
    deadline = time.monotonic() + limit
    while not (value := condition()):
        assert time.monotonic() < deadline, f"still false after {limit:.0f} s"
        time.sleep(0.02)
    return value


def has_ended(pid: int) -> bool:
    """Return whether a process has ended, even if its status has not been collected."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return True
    return fields.rpartition(")")[2].split()[0] in "ZX"
