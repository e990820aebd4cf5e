# SPDX-License-Identifier: MIT
"""Loads have the times between sections that were measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from predict_samples import BASE, EACH, WORKERS, closed, pool, synthetic
from trace_samples import SECOND, Synthetic

from hasp.predict.load import Load, Shape, Variant, described, exponential
from hasp.predict.rebuild import rebuild
from hasp.profile.model.build import load as load_profile
from hasp.profile.trace import format
from hasp.profile.trace.format import ChunkKind

SHORT, LONG = 100, 20_000  # ns


def measured(made: Synthetic, timed: int = 500, long: float = 0.5) -> Synthetic:
    """Add measurements to all threads but the first one."""
    for thread in range(2, 1 + len(made.records[ChunkKind.THREADS])):
        made.add(ChunkKind.BETWEEN, thread=thread, timed=timed)
        (record,) = made.records[ChunkKind.BETWEEN][-1]
        counts = record["between"]["bucket"]
        counts[format.bucket_of(SHORT)] = EACH * (1 - long)
        counts[format.bucket_of(LONG)] = EACH * long
    return made


def gaps(made: Synthetic, folder: Path) -> Shape | None:
    return rebuild(load_profile(made.write(folder / "t")), 64).roles[0].gaps


def test_the_shape_is_the_measured_one(tmp_path: Path) -> None:
    shape = gaps(measured(synthetic()), tmp_path)
    assert shape is not None
    assert sum(shape) / len(shape) == pytest.approx(1000, rel=0.01)
    short, long = shape[: len(shape) // 2], shape[len(shape) // 2 + 1 :]
    assert max(short) < 20
    assert min(long) > 1900


def test_without_measurements_the_shape_is_not_known(tmp_path: Path) -> None:
    assert gaps(synthetic(), tmp_path) is None
    assert gaps(measured(synthetic(), timed=30), tmp_path) is None


def test_sleeps_are_left_out(tmp_path: Path) -> None:
    """The longest times are those of the context switches."""
    made = measured(synthetic(), long=0.1)
    for (record,) in made.records[ChunkKind.THREADS]:
        record["voluntary"] = EACH // 10
    assert set(gaps(made, tmp_path) or ()) == {1000}
    made = measured(synthetic(), long=0.1)
    for (record,) in made.records[ChunkKind.THREADS]:
        record["voluntary"] = EACH
    assert gaps(made, tmp_path) is None


def test_waits_on_condition_variables_were_not_measured(tmp_path: Path) -> None:
    made = measured(pool(SECOND // 2), long=0.1)
    for (record,) in made.records[ChunkKind.THREADS]:
        record["voluntary"] = 50
    assert max(gaps(made, tmp_path) or (0,)) > 2000


def test_locks_that_are_not_simulated_hide_the_shape(tmp_path: Path) -> None:
    made = measured(synthetic())
    stack = made.stack(BASE + 0x500, BASE + 0x900)
    for thread in range(2, 2 + WORKERS):
        made.use(site=stack, thread=thread, acquisitions=EACH, timed=1)
    assert gaps(made, tmp_path) is None


def test_the_simulated_times_have_the_shape() -> None:
    load = closed(1000.0, 100.0)
    load = replace(load, roles=(replace(load.roles[0], gaps=(0, 2000) * 64),))
    steady, varying = (gap_shape(load, varies) for varies in (False, True))
    assert steady == varying == [0, 2000] * 64
    assert gap_shape(closed(1000.0, 100.0), True) == list(exponential())


def gap_shape(load: Load, varies: bool) -> list[int]:
    lines = described(load, 1, Variant(varies, 1, 1)).splitlines()
    role = lines[-1].split()
    return [int(one) for one in lines[3 + int(role[3])].split()]
