# SPDX-License-Identifier: MIT
"""The groups of CPUs that NUMA-aware locks see on this host."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass

from hasp.base.errors import HaspError
from hasp.base.process import capture
from hasp.locks import native

TIME_LIMIT = 3.0  # seconds; it takes a thousandth


@dataclass(frozen=True)
class Cohorts:
    """The cohorts that `hasp-calibrate --topology` reports."""

    count: int
    by_cache: bool  # last-level caches; else NUMA nodes
    caches: int  # 0: unknown

    def __str__(self) -> str:
        """Return their number and what they are, such as `2 by NUMA node`."""
        unit = "last-level cache" if self.by_cache else "NUMA node"
        return f"{self.count} by {unit}"


def cohorts() -> Cohorts | None:
    """Return the cohorts, or None if Hasp's program for it cannot run."""
    try:
        program = native.program("hasp-calibrate")
        ran = capture([str(program), "--topology"], os.environ, TIME_LIMIT)
        if ran is None or ran.status != 0:
            return None
        record = json.loads(ran.stdout)
        return Cohorts(
            int(record["cohorts"]), bool(record["by_cache"]), int(record["caches"])
        )
    except (HaspError, OSError, ValueError, KeyError):
        return None
