# SPDX-License-Identifier: MIT
"""The example of Lozi et al., "Remote Core Locking", USENIX ATC 2012, Fig. 4.

Their Fig. 5 is what the rewriting makes of it: a context with `pid` and `wpentry`, an
outlined function that numbers its exits, and a caller that continues accordingly.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from delegate_samples import compile_and_run, delegate, write_database

pytest.importorskip("clang.cindex")

HERE = Path(__file__).parent
LOCK = "figure_4.c:20"


@pytest.mark.parametrize("lines", ["--lines", "--no-lines"])
def test_the_example_of_rcl_is_rewritten(tmp_path: Path, lines: str) -> None:
    shutil.copy(HERE / "figure_4.c", tmp_path)
    write_database(tmp_path, "figure_4.c")
    assert delegate(tmp_path, "--out", str(tmp_path / "out"), lines, lock=LOCK) == 0
    made = (tmp_path / "out/figure_4.c").read_text()
    assert made == (HERE / f"figure_5{lines}.c").read_text()


def test_the_example_of_rcl_behaves_as_before(tmp_path: Path) -> None:
    shutil.copy(HERE / "figure_4.c", tmp_path)
    shutil.copy(HERE / "figure_5--lines.c", tmp_path)
    before = compile_and_run(tmp_path / "figure_4.c")
    assert before == "2\n1\n0\n1 0\n"
    assert compile_and_run(tmp_path / "figure_5--lines.c") == before
