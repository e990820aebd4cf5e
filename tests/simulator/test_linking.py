# SPDX-License-Identifier: MIT
"""Results do not depend on where the linker puts static data."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

# Locks with cells in static arrays or pools.
LOCKS = ["twa", "hapax", "futex", "gcr+mcs", "mcs-park"]


# The home of a line depends on its first use on the Opteron, and on a hash on the
# Tilera.
@pytest.mark.parametrize("machine", ["opteron-48", "tilera-36"])
@pytest.mark.parametrize("lock", LOCKS)
def test_moved_static_data_changes_no_byte(
    build_dir: Path, flatten: Callable[[str], Path], machine: str, lock: str
) -> None:
    words = [
        *(f"--machine={flatten(machine)}", f"--lock={lock}", "--workload=n-locks:3"),
        *("--threads=16", "--warm-up-ns=50000", "--duration-ns=300000"),
    ]
    outputs = [
        subprocess.run(
            [str(next(build_dir.rglob(program))), *words],
            capture_output=True,
            check=True,
            timeout=50,
        ).stdout
        for program in ("hasp-simulate", "simulate-moved")
    ]
    assert outputs[0] == outputs[1]
