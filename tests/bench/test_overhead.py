# SPDX-License-Identifier: MIT
"""Tests `hasp bench profile`: slowdowns, their limits, and the command as a whole."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from hasp.cli.main import main
from hasp.lab.bench.cases import GLIBC
from hasp.lab.bench.overhead.cases import FULL, MODES, OVERHEADS, SAMPLED
from hasp.lab.bench.overhead.figures import Figure, figures_of, load
from hasp.lab.bench.rows import make_rows
from hasp.lab.bench.runner import FAILED, Sample
from hasp.lab.bench.schedule import Samples

Hasp = Callable[..., "subprocess.CompletedProcess[str]"]
PAIR, SERVER = OVERHEADS[0], OVERHEADS[-1]


def figures(values: dict[str, float | None], overhead=PAIR) -> dict[str, Figure]:
    """Return six rounds in which each subject always gave the same value."""
    samples = Samples(rounds=6)
    for subject, value in values.items():
        outcome = {} if value else {"outcome": FAILED, "reason": "it left no trace"}
        for number in range(6):
            samples.of[overhead.case, subject][number] = Sample(value, **outcome)
    told = {(overhead.case, FULL): [0.2, 0.1, 0.3]}
    found = figures_of(make_rows(samples, [overhead.case], MODES), [overhead], told)
    return {figure.profiling: figure for figure in found}


def test_more_time_is_a_slowdown() -> None:
    found = figures({GLIBC: 20.0, FULL: 25.0, SAMPLED: 21.5})
    assert found["none"].slowdown is None
    assert found["none"].met is None
    assert found[FULL].slowdown is not None
    assert found[FULL].slowdown.value == pytest.approx(1.25)
    assert found[FULL].told == 0.2
    assert found[FULL].met is True
    assert found[SAMPLED].met is False
    assert found[SAMPLED].told is None


def test_fewer_requests_are_a_slowdown() -> None:
    found = figures({GLIBC: 102.0, FULL: 100.0, SAMPLED: 100.0}, SERVER)
    slowdown = found[FULL].slowdown
    assert slowdown is not None
    assert slowdown.value == pytest.approx(1.02)
    assert slowdown.low is not None
    assert slowdown.high is not None
    assert slowdown.low <= slowdown.value <= slowdown.high
    assert (found[FULL].met, found[SAMPLED].met) == (True, False)
    assert found[FULL].clear


def test_a_missing_trace_is_a_failure() -> None:
    found = figures({GLIBC: 20.0, FULL: None, SAMPLED: 20.0})
    assert found[FULL].met is False
    assert found[FULL].reason.startswith("it left no trace")


def write(path: Path, found: dict[str, Figure]) -> Path:
    lines = [json.dumps(figure.record()) for figure in found.values()]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_earlier_results_can_be_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    original = figures({GLIBC: 20.0, FULL: 25.0, SAMPLED: 21.5})
    path = write(tmp_path / "figures.jsonl", original)
    assert [figure for figure, _ in load(path)] == list(original.values())
    words = ["bench", "profile", "--check-targets", "--from"]
    assert main([*words, str(path)]) == 1
    shown = capsys.readouterr().out
    assert "targets: 1 of 2 met" in shown
    assert "missed: pair (2 threads), sample" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())
    fine = write(tmp_path / "fine.jsonl", figures({GLIBC: 20.0, FULL: 25.0}))
    assert main([*words, str(fine)]) == 0


def test_documented_costs_match_the_data() -> None:
    docs = Path(__file__).parents[2] / "docs"
    text = (docs / "profiling.md").read_text()
    for figure, _ in load(docs / "data" / "bench-profile.json"):
        if (slowdown := figure.slowdown) is not None:
            interval = f"{slowdown.low:.2f} to {slowdown.high:.2f}"
            row = f"| `{figure.case}` | {figure.threads} | {figure.profiling} "
            assert f"{row}| {slowdown.value:.2f} ({interval}) |" in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--cases", "pairs"], "did you mean pair?"),
        (["--locks", "mcs"], "under glibc's own lock"),
        (["--from", "nowhere"], "nowhere"),
    ],
)
def test_refusals(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "profile", *words]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.slow
def test_measures_and_finds_traces(hasp: Hasp, build_dir: Path) -> None:
    if not list(build_dir.rglob("libhasp-profile.so")):
        pytest.skip("the profiler is not built here")
    measured = hasp("bench", "profile", "--cases=beside", "--runs=1", "--json")
    assert measured.returncode == 0, measured.stderr
    records = [json.loads(line) for line in measured.stdout.splitlines()]
    assert [(r["threads"], r["profiling"]) for r in records] == [
        (threads, profiling)
        for threads in (2, 1)
        for profiling in ("none", FULL, SAMPLED)
    ]
    for record in records:
        assert record["outcome"] == "ok", record
        assert record["value"] > 0
        profiled = record["profiling"] != "none"
        assert (record["slowdown"] is not None) is profiled
        assert (record["told_share"] is not None) is profiled
