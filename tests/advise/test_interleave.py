# SPDX-License-Identifier: MIT
"""Interleaved memory is tried if there are several nodes and numactl works."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from hasp.advise.interleave import interleave_gain
from hasp.compare.settings import Metric, Settings

# A program that depends on the placement of memory, and a numactl that changes it. The
# program prints its rate, so that a busy machine does not matter.
PROGRAM = ("/bin/sh", "-c", 'echo "rate: $((${RATE:-100} + $$ % 5))"')
NUMACTL = '#!/bin/sh\nshift\nRATE=%d exec "$@"\n'


def plan(runs: int = 6) -> Settings:
    metric = Metric("rate", r"rate: (\d+)")
    return Settings(PROGRAM, ("glibc",), runs=runs, warmup=0, metrics=(metric,))


@pytest.fixture
def numactl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the path of a fake numactl, which is found before the real one."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path / "numactl"


def install(path: Path, rate: int) -> None:
    path.write_text(NUMACTL % rate)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_a_gain_is_measured_in_turn(numactl: Path) -> None:
    install(numactl, 150)
    gain = interleave_gain(plan(), nodes=2)
    assert gain is not None
    assert gain > 0.3


def test_an_uncertain_difference_is_not_a_gain(numactl: Path) -> None:
    install(numactl, 80)  # slower
    assert interleave_gain(plan(), nodes=2) == 0.0


def test_a_few_runs_prove_no_gain(numactl: Path) -> None:
    install(numactl, 150)
    assert interleave_gain(plan(runs=3), nodes=2) == 0.0


def test_not_tried(
    numactl: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install(numactl, 150)
    assert interleave_gain(plan(), nodes=1) is None
    numactl.write_text("#!/bin/sh\nexit 3\n")
    assert interleave_gain(plan(), nodes=2) is None
    assert "the command failed with numactl" in capsys.readouterr().err
    monkeypatch.setenv("PATH", "/nowhere")
    assert interleave_gain(plan(), nodes=2) is None
    assert "numactl is not installed" in capsys.readouterr().err
