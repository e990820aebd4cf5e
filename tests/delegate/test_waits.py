# SPDX-License-Identifier: MIT
"""Sections that wait on condition variables."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from delegate_samples import compile_and_run, delegate, write_database
from tree import ROOT

pytest.importorskip("clang.cindex")

SOURCE = ROOT / "tests/delegate/queue.c"


def program(folder: Path, old: str = "", new: str = "") -> Path:
    """Return queue.c with a replacement in a folder, where it has a database."""
    text = SOURCE.read_text()
    assert old in text
    made = folder / "queue.c"
    made.write_text(text.replace(old, new))
    write_database(folder, "queue.c")
    return made


@pytest.mark.parametrize("executor", ["lock:futex", "rcl"])
def test_waits_are_rewritten(tmp_path: Path, executor: str) -> None:
    program(tmp_path)
    options = ("--in-place", "--executor", executor)
    assert delegate(tmp_path, *options, lock="mu", compiles=executor == "rcl") == 0
    assert "pthread_cond_" not in (tmp_path / "queue.c").read_text()
    assert compile_and_run(tmp_path / "queue.c") == "80200 403\n"


@pytest.mark.parametrize(
    ("executor", "old", "new", "words"),
    [
        (
            "adaptive",
            "",
            "",
            "queue.c:18: waits on a condition variable, which adaptive",
        ),
        (
            "rcl",
            "static long items",
            "static pthread_cond_t *also = &not_full;\nstatic long items",
            "queue.c:12: not_full is used other than by functions of condition",
        ),
        (
            "rcl",
            "pthread_cond_wait(&not_full, &mu)",
            "\n#define WAIT(c, m) pthread_cond_wait(c, m)\nWAIT(&not_full, &mu)",
            "not_full is passed to a macro that calls pthread_cond_wait() "
            "(call pthread_cond_wait() here)",
        ),
        (
            "rcl",
            "    pthread_mutex_lock(&mu);\n    while (count == C",
            "    while (count == C",
            "waits outside of the lock's sections",
        ),
    ],
    ids=["executor", "address", "macro", "outside"],
)
def test_waits_that_cannot_be_rewritten(
    executor: str,
    old: str,
    new: str,
    words: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    program(tmp_path, old, new)
    shutil.copy(tmp_path / "queue.c", tmp_path / "before")
    options = ("--in-place", "--executor", executor)
    assert delegate(tmp_path, *options, lock="mu") == 2
    assert words in capsys.readouterr().err
    assert (tmp_path / "queue.c").read_text() == (tmp_path / "before").read_text()
