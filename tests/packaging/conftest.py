# SPDX-License-Identifier: MIT
"""Provides the wheels of `make dist`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from lock_list import ROOT


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the wheels."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, ROOT / "tools/make_wheel.py", folder], check=True)
    return folder


@pytest.fixture(scope="session")
def wheel(wheels: Path) -> Path:
    """Return the wheel for this machine."""
    (found,) = wheels.glob("hasp-*x86_64.whl")
    return found
