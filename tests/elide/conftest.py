# SPDX-License-Identifier: MIT
"""Fixtures: simulations of loads on the i7-4770, a trace, and the command."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from in_process import hasp as hasp
from predict_samples import synthetic
from trace_samples import SECOND, Synthetic

from hasp.lab.simulate.machines import machine
from hasp.lab.simulate.simulation import flattened
from hasp.predict.runs import Runs
from hasp.profile.model.build import load_keeping_symbols
from hasp.profile.model.profile import Profile
from hasp.profile.trace.format import ChunkKind, Operation


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return synthetic().write(tmp_path / "hasp.trace")


@pytest.fixture
def runs() -> Iterator[Callable[..., Runs]]:
    """Return runs(load), which simulates a load on a machine with transactions."""
    made = machine.load("i7-4770")
    with flattened(made) as path:
        yield lambda load: Runs(load, made, path)


@pytest.fixture
def profile_of(tmp_path: Path) -> Callable[..., Profile]:
    """Return profile_of(operation, number, flags) of a mutex locked 1,000 times.

    `operation` is a further one on the mutex, made so many times.
    """

    def make(operation: Operation | None, number: int, flags: int) -> Profile:
        trace = Synthetic()
        stack = trace.stack(0x400100)
        thread = trace.thread(tid=1, cpu_ns=SECOND)
        lock = trace.lock(site=stack, acquisitions=1000 + number, flags=flags)
        trace.add(ChunkKind.LOCK_COUNTS, lock=lock, site=stack, acquisitions=1000)
        for kind, count in ((Operation.LOCK, 1000), (operation, number)):
            if kind is not None:
                trace.use(site=stack, thread=thread, operation=kind, acquisitions=count)
        return load_keeping_symbols(trace.write(tmp_path / "one.trace"))

    return make
