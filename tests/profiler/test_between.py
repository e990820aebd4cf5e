# SPDX-License-Identifier: MIT
"""The recorder measures the times between a thread's sections."""

from __future__ import annotations

from pathlib import Path

import pytest
from lock_list import BUILD
from profiler.recording import profile_of

from hasp.profile.model.distribution import Distribution

PROGRAM = BUILD / "tests" / "profiler" / "between"
ROUNDS = 5000
WORK_NS = 20_000


def times(case: str, size: int, folder: Path, mode: str) -> Distribution:
    profile = profile_of([str(PROGRAM), case, str(size)], folder / "t", mode)
    return max((one.between for one in profile.threads), key=lambda t: t.number)


def share(found: Distribution, low_ns: float, high_ns: float) -> float:
    """Return the share of the times in buckets that begin there."""
    counts = [
        count
        for count, edge in zip(found.counts, found.edges_ns, strict=False)
        if low_ns <= edge < high_ns
    ]
    return sum(counts) / sum(found.counts)


@pytest.mark.parametrize("mode", ["full", "sample"])
def test_half_of_the_times_are_short(tmp_path: Path, mode: str) -> None:
    found = times("bursts", ROUNDS, tmp_path, mode)
    assert found.timed > 100
    assert share(found, 0, WORK_NS / 10) == pytest.approx(0.5, abs=0.1)
    assert share(found, WORK_NS / 2, 1e12) == pytest.approx(0.5, abs=0.1)
    assert sum(found.counts) == pytest.approx(2 * ROUNDS, rel=0.2)


@pytest.mark.parametrize("mode", ["full", "sample"])
def test_waits_on_condition_variables_are_left_out(tmp_path: Path, mode: str) -> None:
    found = times("naps", 200, tmp_path, mode)
    assert found.timed > 50
    assert share(found, 1_000_000, 1e12) == 0


@pytest.mark.parametrize("mode", ["full", "sample"])
def test_measuring_does_not_change_what_is_counted(tmp_path: Path, mode: str) -> None:
    """`bursts` acquires its lock twice a round."""
    profile = profile_of([str(PROGRAM), "bursts", str(ROUNDS)], tmp_path / "t", mode)
    counted = sum(lock.acquisitions for site in profile.sites for lock in site.locks)
    assert counted == pytest.approx(2 * ROUNDS, rel=0 if mode == "full" else 0.2)


@pytest.mark.parametrize("mode", ["full", "sample"])
def test_only_sampled_sections_are_followed_by_one(tmp_path: Path, mode: str) -> None:
    program = [str(PROGRAM.with_name("recorded")), "counts", "100000"]
    found = profile_of(program, tmp_path / "t", mode)
    timed = sum(one.between.timed for one in found.threads)
    assert 0 < timed < 10_000
