# SPDX-License-Identifier: MIT
"""Debian's memcached, MAFFT and HMMER 2: sections are rewritten, built and tested.

In memcached, two functions lock it, in 37 sections of ten files, some of which the
program's tests compile with other macros. In MAFFT, threads reach it by pointers. In
HMMER 2, all results are checked; its headers are those of another package.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from debian_source import UnavailableError, run  # noqa: E402
from real_sections import (  # noqa: E402
    ORIGINAL,
    PROGRAMS,
    Program,
    build,
    forms,
)

pytest.importorskip("clang.cindex")


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.package)
def test_every_executor(program: Program, tmp_path: Path) -> None:
    """The output is that of the original, which runs first."""
    folder = tmp_path / program.package
    try:
        source = build(program, folder, forms())
    except UnavailableError as error:
        pytest.skip(str(error))
    for form in forms():
        empty = tmp_path / form
        empty.mkdir()
        product = folder / form / Path(program.product).name
        text = product.read_bytes()
        assert (b"delegate_call_sized" in text) == (form != ORIGINAL)
        assert program.load(product, source, empty) > 0
    if program.package == "memcached":
        # Its tests start memcached-debug, the same program with assertions. They have
        # the sections of the last executor.
        shutil.copy(product, source / "memcached-debug")
        plan, *results = run(["./testapp"], source).splitlines()
        passed = [line for line in results if line.startswith("ok ")]
        assert plan == f"1..{len(passed)}" != "1..0"
