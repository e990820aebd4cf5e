# SPDX-License-Identifier: MIT
"""A lock list that is too long for the interposer's table does not compile."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from lock_list import ROOT

# glibc's entry comes first, and is not in locks.def.
ENTRY = """\
LOCK(copy_{0}, "copy-{0}", "", tas, WITH(TAS_AGAIN), OWN_WORD, ADOPT_NONE,
     "competitive", "spin", BYPASSES, SPACE(0, 0), "a copy of tas", "none", "")
"""


def compile_list(folder: Path, locks: int) -> subprocess.CompletedProcess[str]:
    """Compile the registry with a locks.def of this many entries."""
    listing = folder / "locks/locks.def"
    listing.parent.mkdir()
    listing.write_text(
        '#include "locks/algorithms/tas.h"\n#include "locks/algorithms/auto.h"\n'
        + "".join(ENTRY.format(number) for number in range(locks))
    )
    return subprocess.run(
        [
            *("cc", "-std=c11", "-D_GNU_SOURCE", "-w", "-fsyntax-only", f"-I{folder}"),
            *(f"-I{ROOT}/src", f"-I{ROOT}/src/platform/native", f"-I{ROOT}/include"),
            f"{ROOT}/src/locks/list/registry.c",
        ],
        capture_output=True,
        text=True,
    )


def test_the_longest_list_compiles(tmp_path: Path) -> None:
    done = compile_list(tmp_path, 63)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("locks", "complaint"),
    [
        pytest.param(64, "too few slots for the wrapped locks, gcr+NAME", id="gcr+"),
        pytest.param(127, "more locks than slots", id="list"),
    ],
)
def test_a_longer_list_is_refused(tmp_path: Path, locks: int, complaint: str) -> None:
    done = compile_list(tmp_path, locks)
    assert done.returncode != 0
    assert complaint in done.stderr
