# SPDX-License-Identifier: MIT
"""Provides the wheels of `make dist`."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest
from lock_list import ROOT


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the wheels.

    One worker makes them for all, because they are built in folders of the tree.
    """
    several = "PYTEST_XDIST_WORKER" in os.environ
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if several else base
    folder = shared / "dist"
    with (shared / "dist.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            making = shared / "dist-unfinished"
            make = [sys.executable, ROOT / "tools/make_wheel.py", making]
            subprocess.run(make, check=True)
            making.rename(folder)
    return folder


@pytest.fixture(scope="session")
def wheel(wheels: Path) -> Path:
    """Return the wheel for this machine."""
    (found,) = wheels.glob("hasp-*x86_64.whl")
    return found
