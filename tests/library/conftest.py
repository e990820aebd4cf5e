# SPDX-License-Identifier: MIT
"""Installs the library into a folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from library_folder import Installed


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Return the library of the build, installed below a folder."""
    for tool in ("pkg-config", "gcc", "g++"):
        if not shutil.which(tool):
            pytest.skip(f"needs {tool}")
    meson = str(Path(sys.executable).with_name("meson"))
    stage = tmp_path_factory.mktemp("stage") / "a folder"
    build = os.environ["HASP_NATIVE_DIR"]
    command = [meson, "install", "-C", build, "--no-rebuild", "--tags", "devel"]
    done = subprocess.run(
        [*command, f"--destdir={stage}"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (header,) = stage.rglob("include/hasp/mutex.h")
    (description,) = stage.rglob("hasp.pc")
    return Installed(header.parent.parent.parent, description)
