# SPDX-License-Identifier: MIT
"""Fixtures: flattened machine files, and runs of the simulator."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hasp.lab.simulate.machines import flat, machine

Flatten = Callable[..., Path]
Simulate = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def flatten(tmp_path_factory: pytest.TempPathFactory) -> Flatten:
    """Return flatten(name, changes), which flattens a machine with changed keys.

    The machine may be the path of a file.
    """
    folder = tmp_path_factory.mktemp("machines")

    def write(name: str, changes: dict[str, object] | None = None) -> Path:
        lines = flat.flatten(machine.load(name)).splitlines()
        for key, value in (changes or {}).items():
            assert sum(line.split()[0] == key for line in lines) == 1
            lines = [
                f"{key} {value}" if line.split()[0] == key else line for line in lines
            ]
        path = folder / f"{Path(name).stem}-{len(list(folder.iterdir()))}"
        path.write_text("\n".join(lines) + "\n")
        return path

    return write


@pytest.fixture(scope="session")
def opteron(flatten: Flatten) -> Path:
    return flatten("opteron-48")


@pytest.fixture(scope="session")
def simulate(build_dir: Path) -> Simulate:
    """Return simulate(machine file, workload, *arguments), which returns a record."""
    return _runner(next(build_dir.rglob("hasp-simulate")))


@pytest.fixture(scope="session")
def simulate_published(build_dir: Path) -> Simulate:
    """Return the same for locks in their published form."""
    return _runner(next(build_dir.rglob("hasp-simulate-published")))


def _runner(program: Path) -> Simulate:
    def run(machine_file: Path, workload: str, *arguments: object) -> dict[str, Any]:
        completed = subprocess.run(
            [
                *(str(program), f"--machine={machine_file}", f"--workload={workload}"),
                *("--timeout=50", *map(str, arguments)),
            ],
            capture_output=True,
            text=True,
            timeout=55,
        )
        assert (completed.returncode, completed.stderr) == (0, "")
        record: dict[str, Any] = json.loads(completed.stdout)
        return record

    return run
