# SPDX-License-Identifier: MIT
"""Locks in arrays, on the heap, of functions, behind pointers and other functions."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from delegate_samples import delegate, write_database
from tree import ROOT

from hasp.locks.library import settings

pytest.importorskip("clang.cindex")

FILES = ("forms.c", "forms_locks.c", "forms.h")
# Each as --lock names it; the last one has nested sections.
LOCKS = (
    *("totals_mu", "cell_mu", "grid", "heap_locks", "mu", "checked", "forwarded"),
    *("lock", "mutex", "stripes"),
)


def run(folder: Path) -> str:
    """Return what the program in a folder prints."""
    known = settings()
    words = ["gcc", "-O1", "-Wall", "-Werror", *shlex.split(known["cflags"])]
    sources = [name for name in FILES if name.endswith(".c")]
    words += [*sources, "-o", "forms", *shlex.split(known["libs"])]
    subprocess.run(words, cwd=folder, check=True)
    done = subprocess.run(["./forms"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0
    return done.stdout


def test_each_form_of_a_lock_is_rewritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in FILES:
        shutil.copy(ROOT / "tests/delegate" / name, tmp_path)
    write_database(tmp_path, "forms.c", "forms_locks.c")
    before = run(tmp_path)
    for lock in LOCKS:  # each in what became of the one before
        assert delegate(tmp_path, "--in-place", lock=lock) == 0
        for backup in tmp_path.glob("*.orig"):
            backup.unlink()
    assert "pthread_mutex_lock(" not in (tmp_path / "forms.c").read_text()
    assert run(tmp_path) == before
