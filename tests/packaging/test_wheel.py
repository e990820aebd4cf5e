# SPDX-License-Identifier: MIT
"""The package as a user gets it: a wheel, installed where nothing else is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of an environment that holds the wheel and what it requires."""
    folder = tmp_path_factory.mktemp("wheel")
    tools = Path(
        sys.executable
    ).parent  # meson and ninja, for a build without isolation
    build = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    pip = [sys.executable, "-m", "pip"]
    subprocess.run(
        [*pip, "wheel", "-q", "--no-build-isolation", "--no-deps", "-w", folder, ROOT],
        check=True,
        env=build,
    )
    (wheel,) = folder.glob("hasp-*.whl")
    environment = folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    subprocess.run([environment / "bin/pip", "install", "-q", wheel], check=True)
    return environment / "bin"


def run(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run with nothing that points back to the source tree or its build folder."""
    variables = {"PATH": "/usr/bin:/bin", "HOME": str(program.parent)}
    return subprocess.run(
        [program, *arguments], capture_output=True, text=True, cwd="/", env=variables
    )


def test_list_from_the_installed_wheel(installed: Path) -> None:
    done = run(installed / "hasp", "list", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    names = [json.loads(line)["name"] for line in done.stdout.splitlines()]
    assert names[0] == "glibc"
    assert "futex" in names


def test_run_from_the_installed_wheel(installed: Path) -> None:
    done = run(installed / "hasp", "run", "--lock", "mcs", "--", "/bin/echo", "hello")
    assert (done.returncode, done.stdout, done.stderr) == (0, "hello\n", "")


def test_version_is_the_one_of_the_build(installed: Path) -> None:
    code = "from importlib.metadata import version; print(version('hasp'))"
    done = run(installed / "python", "-c", code)
    declared = (ROOT / "meson.build").read_text().split("version: '")[1].split("'")[0]
    assert done.stdout.strip() == declared
