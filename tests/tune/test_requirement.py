# SPDX-License-Identifier: MIT
"""Tests limits such as `p99 < 2 ms`, and the measures that they name."""

from __future__ import annotations

import pytest

from hasp.base.errors import HaspError
from hasp.compare.run_record import OK, Run
from hasp.compare.settings import Metric, Settings
from hasp.tune.objective import objective_of
from hasp.tune.requirement import parse_requirement

P99 = Metric("p99", "p99 ([0-9]+)", unit="us", lower_is_better=True)
RATE = Metric("rate", "rate ([0-9]+)")
SETTINGS = Settings(("true",), ("glibc",), metrics=(RATE, P99))


def runs(*values: float) -> list[Run]:
    return [
        Run(block, "mcs", None, OK, figures={"p99": value})
        for block, value in enumerate(values, 1)
    ]


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("p99 < 2 ms", 2000),
        ("p99<2ms", 2000),
        ("p99 <= 0.5 s", 500_000),
        ("p99 < 1,500", 1500),
        ("p99 < 90 us", 90),
        ("time < 2 min", 120),
        ("memory < 3 MiB", 3 << 20),
    ],
)
def test_the_unit_is_converted(text: str, limit: float) -> None:
    found = parse_requirement(text, SETTINGS)
    assert found.limit == pytest.approx(limit)
    assert found.below


@pytest.mark.parametrize(
    "text",
    ["p99", "p99 < fast", "p98 < 2 ms", "rate > 2 ms", "p99 < 3 MiB", "p99 < 0"],
)
def test_an_invalid_limit_is_refused(text: str) -> None:
    with pytest.raises(HaspError):
        parse_requirement(text, SETTINGS)


def test_the_median_of_three_runs_decides() -> None:
    limit = parse_requirement("p99 < 100", SETTINGS)
    assert not limit.broken(runs(90, 110, 95))
    assert limit.broken(runs(90, 110, 105))


def test_a_single_run_decides_only_if_it_is_far_off() -> None:
    limit = parse_requirement("p99 < 100", SETTINGS)
    assert not limit.broken(runs(140))
    assert limit.broken(runs(160))
    assert not limit.broken([])


def test_a_lower_limit_is_reversed() -> None:
    limit = parse_requirement("p99 > 100", SETTINGS)
    assert limit.broken(runs(50))
    assert not limit.broken(runs(80))


def test_the_first_metric_is_optimised() -> None:
    assert objective_of(SETTINGS, None).measure.name == "rate"
    assert objective_of(SETTINGS, "p99").measure.lower_is_better
    assert objective_of(Settings(("true",), ("glibc",)), None).measure.unit == "s"


def test_energy_needs_a_counter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hasp.tune.objective.find_meter", lambda: None)
    with pytest.raises(HaspError, match="no energy counter"):
        objective_of(SETTINGS, "energy")


def test_energy_is_a_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hasp.tune.objective.find_meter", object)
    energy = objective_of(SETTINGS, "energy")
    run = Run(1, "mcs", None, OK, energy_j=2.0)
    assert energy.score(run) == pytest.approx(-0.6931, abs=1e-4)
    assert energy.score(Run(1, "mcs", None, OK)) is None
