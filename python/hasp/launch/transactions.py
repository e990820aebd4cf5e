# SPDX-License-Identifier: MIT
"""The hardware transactions of this machine, as the library finds them."""

from __future__ import annotations

import json
import os
from typing import Any

from hasp.base.process import capture
from hasp.locks import native


def probed() -> dict[str, Any] | None:
    """Return what the library found: hardware, text, probes, commits, last_abort.

    `hardware` is works, absent, disabled or fails. None if the library does not run.
    """
    program = str(native.program("hasp-locks"))
    printed = capture([program, "--transactions"], os.environ, timeout=10)
    if printed is None or printed.status != 0:
        return None
    try:
        record: dict[str, Any] = json.loads(printed.stdout)
    except ValueError:
        return None
    return record if {"hardware", "probes", "commits", "text"} <= set(record) else None


def works() -> bool:
    """Return true if the processor's transactions commit."""
    found = probed()
    return found is not None and found["hardware"] == "works"
