# SPDX-License-Identifier: MIT
"""Tests the cost of recording, and its share of the program's time."""

from __future__ import annotations

from pathlib import Path

import pytest
from trace_samples import SECOND, Synthetic

from hasp.profile.model.build import load
from hasp.profile.model.profile import Overhead


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "hasp.trace"


@pytest.fixture
def program() -> Synthetic:
    """Return a program with two threads of one second each."""
    made = Synthetic()
    made.thread()
    made.thread()
    return made


def read(program: Synthetic, path: Path) -> Overhead:
    return load(program.write(path)).overhead


def test_the_recorders_cost_is_what_it_measured(program: Synthetic, path: Path) -> None:
    program.set_header(sampler_ns=50_000_000)
    program.thread(overhead_ticks=100_000_000, cpu_ns=1_750_000_000, counted=1_000_000)
    program.thread(overhead_ticks=50_000_000, cpu_ns=200_000_000)
    overhead = read(program, path)
    assert overhead.share == pytest.approx(0.1)
    assert overhead.spent_ns == 200_000_000


def test_the_cost_in_older_traces_is_calibration_times_counts(
    program: Synthetic, path: Path
) -> None:
    program.thread(counted=1_000_000, timed=10_000, stacks=10)
    overhead = read(program, path)
    spent = 1_000_000 * 4 + 10_000 * 50 + 10 * 1000  # ns
    assert overhead.share == pytest.approx(spent / (3 * SECOND))
    assert (overhead.counted_ns, overhead.timed_ns, overhead.stack_ns) == (4, 50, 1000)


def test_the_recorders_cost_is_a_share_of_the_cpu_time(
    program: Synthetic, path: Path
) -> None:
    program.thread(counted=1_000_000, cpu_ns=2_000_000_000)
    program.thread(cpu_ns=0)  # it slept
    assert read(program, path).share == pytest.approx(0.002)


def test_a_blocked_program_gets_no_warning_about_the_cost(
    program: Synthetic, path: Path
) -> None:
    """Its threads used almost no CPU time, so recording took nearly all of that."""
    program.thread(overhead_ticks=9_000_000, cpu_ns=10_000_000)
    assert read(program, path).share == pytest.approx(0.009)
