# SPDX-License-Identifier: MIT
"""A race proves only winners that are within 5 % of the best.

The simulation is that of tools/simulate_races.py, which prints the table of
docs/hasp-tune.md.
"""

from __future__ import annotations

import importlib.util
import math
import sys
from typing import Any

import numpy
import pytest
from lock_list import ROOT

from hasp.statistics.kriging import posterior
from hasp.statistics.race import OUT, WORSE, Race
from hasp.statistics.sequential import FEWEST_SHARED, gaps

LEVEL = 0.05


def _tool() -> Any:
    path = ROOT / "tools/simulate_races.py"
    spec = importlib.util.spec_from_file_location("simulate_races", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


simulation = _tool()
WORLDS = {world.name: world for world in simulation.WORLDS}


def wrong_share(name: str, races: int, candidates: int, runs: int) -> float:
    results = [
        simulation.simulate(WORLDS[name], candidates, seed, runs)
        for seed in range(races)
    ]
    return sum(result.wrong for result in results) / races


@pytest.mark.parametrize(
    "name",
    [
        "quiet, 1 %",
        "heavy tails (t, 2 degrees)",
        "one 6 % better, quiet",
        "6 % better and noisier, quiet",
        "one 6 % better, drift",
        "one 6 % better, steps",
    ],
)
def test_wrong_winners_are_rare(name: str) -> None:
    assert wrong_share(name, races=40, candidates=8, runs=150) <= LEVEL


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("candidates", [3, 16])
def test_wrong_winners_stay_below_the_level(name: str, candidates: int) -> None:
    assert wrong_share(name, races=200, candidates=candidates, runs=400) <= LEVEL


def test_bounds_that_are_too_narrow_prove_wrong_winners(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The simulation can fail: with half the noise, the claims are no longer true."""
    import hasp.statistics.race as race

    def careless(*arguments: Any) -> Any:
        found = gaps(*arguments)
        half = (found.high - found.low) / 8
        enough = found.rounds >= FEWEST_SHARED
        mean = numpy.where(enough, found.mean, 0.0)
        low = numpy.where(enough, mean - half, found.low)
        high = numpy.where(enough, mean + half, found.high)
        return type(found)(found.rounds, found.mean, low, high)

    monkeypatch.setattr(race, "gaps", careless)
    assert wrong_share("one 6 % better, 5 %", 60, 8, 150) > LEVEL


def test_a_race_needs_fewer_runs_than_exhaustive_rounds() -> None:
    world = WORLDS["lognormal, 5 %"]
    raced = [simulation.simulate(world, 12, seed, 600).runs for seed in range(8)]
    wide = [simulation.uniform(world, 12, seed, 600) for seed in range(8)]
    assert numpy.median(raced) < numpy.median(wide)


def test_a_level_common_to_a_round_changes_no_bound() -> None:
    source = numpy.random.default_rng(1)
    runs = source.normal(0, 0.1, (6, 4))
    moved = runs + source.normal(0, 2, (6, 1))
    everyone = numpy.ones(4, dtype=bool)
    one, other = gaps(runs, 0, everyone, 3), gaps(moved, 0, everyone, 3)
    assert numpy.allclose(one.low, other.low)
    assert numpy.allclose(one.high, other.high)


def test_only_shared_rounds_count() -> None:
    runs = numpy.full((5, 2), math.nan)
    runs[:, 0] = 0.0
    runs[:2, 1] = 1.0
    found = gaps(runs, 0, numpy.ones(2, dtype=bool), 1)
    assert found.rounds.tolist() == [5, 2]
    assert found.high[1] == math.inf
    assert found.mean[1] == pytest.approx(1.0)


def test_similar_candidates_inform_each_other() -> None:
    alike = numpy.array([[1, 0.8, 0], [0.8, 1, 0], [0, 0, 1]], dtype=float)
    runs = [(0, 0, -1.0), (2, 0, 0.0), (0, 1, -1.0), (2, 1, 0.0)]
    found = posterior(alike, *map(list, zip(*runs, strict=True)))
    assert found.mean[1] < -0.5  # never ran, but is like the slow one
    assert found.deviation[1] > found.deviation[0]


def test_an_excluded_candidate_does_not_lead() -> None:
    race = Race(numpy.eye(3), first=[0, 1, 2])
    for _ in range(4):
        race.record({0: 0.0, 1: 0.5, 2: -1.0})
    assert race.leader == 1
    race.exclude(1)
    assert race.leader == 0
    assert [place.dropped for place in race.places()] == ["", OUT, WORSE]
    assert race.proven


def test_candidates_that_join_must_be_disproven_as_well() -> None:
    race = Race(numpy.eye(2), first=[0, 1], family=2)
    for _ in range(4):
        race.record({0: 0.0, 1: -1.0})
    assert race.proven
    race.join(numpy.eye(3))
    assert not race.proven
    assert 2 in race.next_round()


def test_a_new_leader_is_compared_with_the_reference_as_well() -> None:
    race = Race(numpy.eye(3), reference=0, first=[0, 1])
    for _ in range(4):
        race.record({0: 0.0, 1: 1.0})
    assert race.places()[0].dropped == WORSE
    while not race.proven:
        race.record({1: 1.0, 2: 2.0})
    assert race.leader == 2
    assert race.places()[0].shared == 0
    for _ in range(FEWEST_SHARED):
        assert race.next_round() == [2, 0]
        race.record({2: 2.0, 0: 0.0})
    assert race.next_round() == []
    assert -3 < race.places()[0].low < race.places()[0].high < -1


def test_late_candidates_do_not_run_first() -> None:
    race = Race(numpy.eye(30), first=[0], late=range(10, 30))
    assert all(which < 10 for which in race.next_round())
