# SPDX-License-Identifier: MIT
"""The demonstration's first half: find the contended lock of RocksDB."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from hasp.lab.demo.command import hasp


def record(trace: Path, page: Path, command: Sequence[str]) -> bool:
    """Record one run, print its verdict, and write the report as a page.

    Returns false if the recorded run failed.
    """
    print("1. Which lock hurts, and why?\n", flush=True)
    print(f"  hasp profile -o {trace} -- \\\n    {shlex.join(command)}\n", flush=True)
    trace.unlink(missing_ok=True)
    if hasp(["profile", "-o", str(trace), "--", *command], silent=True):
        return False
    print(f"\n  hasp report {trace} --html {page}", flush=True)
    hasp(["report", str(trace), "--html", str(page)], silent=True)
    return True
