# SPDX-License-Identifier: MIT
"""Tests the wheel in an environment that contains nothing else."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from lock_list import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the bin folder of an environment with the wheel and its dependencies."""
    environment = tmp_path_factory.mktemp("installed") / "environment"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    subprocess.run([environment / "bin/pip", "install", "-q", wheel], check=True)
    return environment / "bin"


def run(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run in an environment that does not refer to the source tree or its build."""
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


def test_the_wheel_is_small_and_for_every_python(wheel: Path) -> None:
    assert "-py3-none-manylinux_2_" in wheel.name
    assert wheel.stat().st_size < 5_000_000
    names = zipfile.ZipFile(wheel).namelist()
    assert not [name for name in names if "/demo/" in name or "/validation/" in name]
    for file in ("man/man1/hasp.1", "bash-completion/completions/hasp"):
        assert any(name.endswith(f"share/{file}") for name in names)


def test_the_core_is_less_than_60_megabytes(wheel: Path, tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "download", "-q", "--only-binary", ":all:"]
    subprocess.run([*pip, "-d", tmp_path, wheel], check=True)
    sizes = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    assert sum(sizes.values()) < 60_000_000, sizes


def test_a_verb_of_an_extra_names_it(installed: Path) -> None:
    done = run(installed / "hasp", "compare", "--", "/bin/true")
    assert done.returncode == 2
    assert "pip install 'hasp[study]'" in done.stderr


def test_the_programs_for_aarch64_run(wheels: Path, tmp_path: Path) -> None:
    found = list(wheels.glob("hasp-*aarch64.whl"))
    if not found or not shutil.which("qemu-aarch64"):
        pytest.skip("no cross compiler or no qemu-aarch64")
    with zipfile.ZipFile(found[0]) as packed:
        program = Path(packed.extract("hasp/_native/hasp-locks", tmp_path))
    program.chmod(0o755)
    command = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert '"name": "futex"' in done.stdout or '"name":"futex"' in done.stdout
