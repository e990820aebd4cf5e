# SPDX-License-Identifier: MIT
"""Debian's source of memcached: its stats_lock is rewritten, built and tested.

Two functions of the program lock it, in 37 sections of ten files. The program's tests
compile some of these files with other macros.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from debian_source import fetch, run
from delegate_samples import delegate

from hasp.locks.library import settings

pytest.importorskip("clang.cindex")


def rewrite(folder: Path, lock: str, *ignored: str) -> Path:
    """Return a copy of a folder in which the sections of a lock are rewritten."""
    words = [word for path in ignored for word in ("--ignore", str(folder / path))]
    out = folder.parent / "changed"
    assert delegate(folder, "--out", str(out), *words, lock=lock, compiles=True) == 0
    copy = folder.parent / "rewritten"
    shutil.copytree(folder, copy, symlinks=True)
    for path in out.rglob("*.[ch]"):
        shutil.copy(path, copy / path.relative_to(out))
    return copy


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_memcached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = fetch("memcached", tmp_path / "memcached")
    monkeypatch.chdir(source)
    run(["./configure", "CFLAGS=-g -O2 -Wno-error"], source)
    run(["bear", "--", "make", "-j2", "memcached", "testapp"], source)
    lines = [
        f"memcached.c:{number}"
        for number, text in enumerate(
            (source / "memcached.c").read_text().split("\n"), 1
        )
        if "STATS_" in text and "LOCK();" in text and text.startswith(" " * 28)
    ]
    changed = rewrite(source, "stats_lock", "tls.c", *lines)
    known = settings()
    run(
        ["make", "-j2", "memcached", "testapp", "timedrun"],
        changed,
        CPPFLAGS=known["cflags"],
        LIBS=f"-levent {known['libs']}",
    )
    # Its tests start memcached-debug, which is the same program with assertions.
    shutil.copy(changed / "memcached", changed / "memcached-debug")
    assert "not ok" not in run(["./testapp"], changed)
