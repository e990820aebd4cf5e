# SPDX-License-Identifier: MIT
"""The process that starts the measured programs: its environment, and its death."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting import has_ended, wait_until

from hasp.base.errors import HaspError
from hasp.launch.children import Child, Launcher


@pytest.fixture
def launcher(tmp_path: Path) -> Iterator[Launcher]:
    one = Launcher(str(tmp_path))
    yield one
    one.close()


def start(launcher: Launcher, folder: Path, body: str) -> Child:
    output = folder / "stdout", folder / "stderr"
    return launcher.start("/bin/sh", ["sh", "-c", body], {"PATH": "/bin"}, output)


def kill(launcher: Launcher) -> None:
    """Kill the launcher, and wait for its death without reaping it."""
    os.kill(launcher._pid, signal.SIGKILL)
    os.waitid(os.P_PID, launcher._pid, os.WEXITED | os.WNOWAIT)


def test_python_finds_its_libraries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    monkeypatch.setenv("LD_BIND_NOW", "1")
    launcher = Launcher(str(tmp_path))
    try:
        block = Path(f"/proc/{launcher._pid}/environ").read_bytes()
    finally:
        launcher.close()
    assert b"LD_LIBRARY_PATH=" in block
    assert b"LD_BIND_NOW=" not in block


def test_a_dead_launcher_is_reported(launcher: Launcher, tmp_path: Path) -> None:
    kill(launcher)
    with pytest.raises(HaspError, match="has died"):
        start(launcher, tmp_path, "true")


def test_a_program_does_not_outlive_a_dead_launcher(
    launcher: Launcher, tmp_path: Path
) -> None:
    body = f"trap '' TERM; touch {tmp_path}/up; exec sleep 70"
    child = start(launcher, tmp_path, body)
    wait_until(lambda: (tmp_path / "up").exists())
    kill(launcher)
    with pytest.raises(HaspError, match="has died"):
        child.stop()
    wait_until(lambda: has_ended(child.pid))
