# SPDX-License-Identifier: MIT
"""The demonstration's first half: find the contended lock of RocksDB."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from hasp.base.output import note
from hasp.lab.demo.command import hasp


def record(trace: Path, page: Path, command: Sequence[str]) -> None:
    """Record one run, print the report, and write it as a page.

    A failure is reported and does not prevent the comparison.
    """
    print(f"Which lock hurts, and why?\n\n  hasp profile -o {trace} -- \\", flush=True)
    print(f"    {shlex.join(command)}\n", flush=True)
    trace.unlink(missing_ok=True)
    if hasp(["profile", "-o", str(trace), "--", *command], silent=True):
        note("the recorded run failed; the comparison continues without it")
        return
    print(f"\n  hasp report {trace} --top 3 --html {page}\n", flush=True)
    hasp(["report", str(trace), "--html", str(page)], silent=True)
    hasp(["report", str(trace), "--top", "3"])
    print("\nWhich lock serves it best?\n", flush=True)
