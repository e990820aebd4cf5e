# SPDX-License-Identifier: MIT
"""Fixtures: a trace with a known load, simulations of loads, and the command."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from in_process import hasp as hasp
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
