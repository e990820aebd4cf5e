# SPDX-License-Identifier: MIT
"""Fixtures: a trace with a known load, simulations of loads, and the command."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from predict_samples import SMALL, synthetic

from hasp.lab.simulate.machines import machine
from hasp.lab.simulate.simulation import flattened
from hasp.predict.runs import Runs


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return synthetic().write(tmp_path / "hasp.trace")


@pytest.fixture
def runs() -> Iterator[Callable[..., Runs]]:
    """Return runs(load, machine), which simulates a load on a machine."""
    made = machine.load("epyc-2x64")
    with flattened(made) as path:
        yield lambda load: Runs(load, made, path)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Callable[..., Runs]]:
    """Return small(load), which simulates a load on a machine of two CPUs."""
    (tmp_path / "small.toml").write_text(SMALL)
    made = machine.load(str(tmp_path / "small.toml"))
    with flattened(made) as path:
        yield lambda load: Runs(load, made, path)


@pytest.fixture
def hasp(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Callable[..., tuple[int, str, str]]:
    """Return hasp(*words), which returns exit status, stdout and stderr."""
    from hasp.cli.main import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(os.environ, "COLUMNS", "80")

    def run(*words: object) -> tuple[int, str, str]:
        status = main([*map(str, words)])
        out, err = capsys.readouterr()
        return status, out, err

    return run
