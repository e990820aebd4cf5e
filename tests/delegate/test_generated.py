# SPDX-License-Identifier: MIT
"""Generated functions behave after the rewriting as they did before."""

from __future__ import annotations

from pathlib import Path

import pytest
from delegate_samples import compile_and_run, delegate, write_database
from section_generator import program

pytest.importorskip("clang.cindex")

BATCH = 250


def compare(folder: Path, first: int, count: int, executor: str, *flags: str) -> None:
    """Assert that `count` functions print the same before and after."""
    folder.mkdir()
    (folder / "generated.c").write_text(program(first, count))
    write_database(folder, "generated.c")
    options = ("--out", str(folder / "out"), "--executor", executor)
    assert delegate(folder, *options, lock="struct shard.mu") == 0
    before = compile_and_run(folder / "generated.c", *flags)
    assert before.count("\n") == 12 * count
    after = compile_and_run(folder / "out/generated.c", *flags)
    wrong = [
        pair
        for pair in zip(before.splitlines(), after.splitlines(), strict=True)
        if pair[0] != pair[1]
    ]
    assert not wrong, f"function f{wrong[0][0].split()[0]} of seed {first} differs"


def test_60_generated_functions_behave_as_before(tmp_path: Path) -> None:
    compare(tmp_path / "program", 1, 60, "lock:futex")


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("batch", range(40))
def test_10000_generated_functions_behave_as_before(batch: int, tmp_path: Path) -> None:
    executor = ("lock:futex", "adaptive", "cc-synch", "flat-combining")[batch % 4]
    compare(tmp_path / "program", 1000 + batch * BATCH, BATCH, executor, "-O2")
