# SPDX-License-Identifier: MIT
"""Tests the program that `make demo` runs: results, error messages, and clean-up."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from real.programs import need
from waiting import wait_until

from hasp.lab.demo import rocksdb

COMMAND = [sys.executable, "-m", "hasp.lab.demo"]


def start(*words: object, **extra: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *map(str, words)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **extra},
        start_new_session=True,
    )


def databases_of(process: subprocess.Popen[str]) -> list[Path]:
    """Return the temporary folders of a demonstration, by its process id."""
    parent = rocksdb.memory_folder() or Path("/tmp")
    return list(parent.glob(f"hasp-demo-{process.pid}-*"))


def runs_db_bench(process: subprocess.Popen[str]) -> bool:
    """Return true while any descendant of the demonstration is a db_bench."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (folder / "stat").read_text(errors="replace")
            name, _, rest = fields.partition("(")[2].rpartition(")")
            # The demonstration is the leader of its session.
            if name == "db_bench" and int(rest.split()[3]) == process.pid:
                return True
    return False


def test_small_demonstration(tmp_path: Path) -> None:
    need("db_bench", "rocksdb-tools")
    picture = tmp_path / "saved" / "picture.png"
    demonstration = start(
        *("--results", tmp_path / "results", "--save-picture", picture),
        *("--locks", "glibc,futex", "--threads", 4, "--budget", 15),
    )
    stdout, stderr = demonstration.communicate(timeout=50)
    assert demonstration.returncode == 0, stderr
    assert "hasp tune" in stdout
    assert "--cache_numshardbits=0" in stdout
    for lock in ("glibc", "futex"):
        assert lock in (tmp_path / "results" / "demo.md").read_text()
    for file in (tmp_path / "results" / "demo.png", picture):
        assert file.read_bytes().startswith(b"\x89PNG")
    assert picture.with_suffix(".md").exists()
    assert "YOUR-PROGRAM" in stdout
    assert "LRUCache" in stderr or "librocksdb" in stderr  # the lock, named
    page = (tmp_path / "results" / "demo.html").read_text()
    assert "librocksdb" in page
    assert databases_of(demonstration) == []


def test_without_db_bench(tmp_path: Path) -> None:
    demonstration = start("--results", tmp_path / "results", PATH=str(tmp_path))
    stdout, stderr = demonstration.communicate(timeout=20)
    assert demonstration.returncode == 2
    assert "apt-get install rocksdb-tools" in stderr
    assert stdout == ""
    assert not (tmp_path / "results").exists()


def is_empty(group: int) -> bool:
    """Return whether all processes of a group have ended."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue  # it has just ended
        if int(fields[2]) == group and fields[0] not in "ZX":
            return False
    return True


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(tmp_path: Path, number: signal.Signals) -> None:
    """SIGINT goes to the process group, as from a terminal; SIGTERM to one process."""
    need("db_bench", "rocksdb-tools")
    demonstration = start("--results", tmp_path, "--locks", "glibc,futex")
    wait_until(lambda: runs_db_bench(demonstration))
    if number == signal.SIGINT:
        os.killpg(demonstration.pid, number)
    else:
        demonstration.send_signal(number)
    _, stderr = demonstration.communicate(timeout=40)
    assert demonstration.returncode == 128 + number, stderr
    assert "Traceback" not in stderr
    assert databases_of(demonstration) == []
    wait_until(lambda: is_empty(demonstration.pid))
