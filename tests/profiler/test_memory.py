# SPDX-License-Identifier: MIT
"""Programs whose address space is limited, as by `ulimit -v`."""

from __future__ import annotations

import subprocess
from pathlib import Path

from profiler.test_recorder import PROGRAM, acquisitions, folder, settings

from hasp.profile.trace.reader import Trace

__all__ = ["folder"]  # the fixture


def limited(folder: Path, kilobytes: int) -> str:
    """Run the program with so much address space; return its standard error."""
    done = subprocess.run(
        ["/bin/sh", "-c", f"ulimit -v {kilobytes}; exec {PROGRAM} counts 5000"],
        env=settings(folder / "t"),
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_too_little_memory_leaves_no_file(folder: Path) -> None:
    """A file without a header would be refused as the name of the next recording."""
    assert "no lock profile: not enough memory" in limited(folder, 100_000)
    assert not list(folder.iterdir())


def test_the_trace_takes_only_a_part_of_the_address_space(folder: Path) -> None:
    limited(folder, 400_000)
    trace = Trace(folder / "t")
    assert trace.header["bytes_limit"] <= 100_000 << 10
    assert acquisitions(trace) == [10000, 5000]
