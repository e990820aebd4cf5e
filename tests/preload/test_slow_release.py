# SPDX-License-Identifier: MIT
"""Nothing looks at a lock after releasing it, however slow the releaser is to leave.

A lock's last user may unmap it at once. The window between a releasing store and the
end of the release is some instructions wide and hardly ever met, so this builds the
library with a wider one.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from preload import matrix

pytestmark = pytest.mark.timeout(300)

# Cases in which memory goes away as soon as it may.
CASES = [
    ("lifetime", "last_unlocker_unmaps"),
    ("lifetime", "next_holder_unmaps"),
    ("lifetime", "freed_without_destroy"),
    ("cond_lifetime", "broadcaster_unmaps"),
    ("cond_lifetime", "broadcaster_unmaps_timed"),
    ("cond_lifetime", "destroyed_and_overwritten"),
    ("cond_lifetime", "first_woken_unmaps"),
    ("ownership", "baton"),
    ("first_contention", "two_waiters_may_leave"),
]


def build_library(folder: Path) -> Path:
    tools = Path(sys.executable).parent
    path = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    options = ["-Dtests=false", "-Dpython=false"]
    options += ["-Dc_args=-DHASP_WIDE_RELEASE_WINDOW"]
    commands: list[list[str | Path]] = [
        ["meson", "setup", folder, matrix.ROOT, *options],
        ["ninja", "-C", folder, "src/preload/libhasp.so"],
    ]
    for command in commands:
        done = subprocess.run(command, env=path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "src" / "preload" / "libhasp.so"


def test_slow_release(tmp_path: Path) -> None:
    library = build_library(tmp_path / "build")
    bad = []
    for lock in matrix.locks():
        if lock is matrix.NATIVE:
            continue
        for program, case in CASES:
            outcome = matrix.run_case(program, case, lock, interposer=library)
            if outcome.status != "passed":
                bad.append(f"{lock.label}, {program} {outcome}")
    if bad:
        pytest.fail("\n".join(bad), pytrace=False)
