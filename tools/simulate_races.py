#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Races on synthetic data with a known winner: is what `hasp tune` proves true?

    PYTHONPATH=python .venv/bin/python tools/simulate_races.py [--races N]

prints the table of docs/hasp-tune.md. A race is wrong if it declares its winner proven
although another candidate is more than 5 % better. tests/statistics/test_race.py runs
the same simulation.
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy

from hasp.statistics.race import Race

Source = numpy.random.Generator
CLASSES = 6  # groups that the prior assumes to be alike; unrelated to the truth
STEP = 0.3  # size of a step of the machine's speed
WALK = 0.02  # standard deviation of the drift from one run to the next
TOLERANCE = 0.05


def lognormal(source: Source) -> float:
    """Noise of 5 %."""
    return float(source.normal(0, 0.05))


def quiet(source: Source) -> float:
    """Noise of 1 %."""
    return float(source.normal(0, 0.01))


def heavy(source: Source) -> float:
    """Student's t with two degrees of freedom: the variance is infinite."""
    return 0.03 * float(source.standard_t(2))


def bimodal(source: Source) -> float:
    """Three of ten runs take a third longer; there is little other noise."""
    slow = 0.3 if source.random() < 0.3 else 0.0
    return 0.09 - slow + 0.02 * float(source.normal())


def outliers(source: Source) -> float:
    """One run in twenty takes almost three times as long."""
    slow = 1.0 if source.random() < 0.05 else 0.0
    return 0.05 - slow + 0.02 * float(source.normal())


def skewed(source: Source) -> float:
    """Exponential delays."""
    return 0.08 * (1 - float(source.exponential()))


def spread(source: Source, number: int) -> list[float]:
    """Candidates of all qualities."""
    return [-abs(float(value)) for value in source.normal(0, 0.3, number)]


def one_better(source: Source, number: int) -> list[float]:
    """One candidate is 6 % better than all others: the hardest case for the claim."""
    values = [-math.log(1.06)] * number
    values[int(source.integers(number))] = 0.0
    return values


def tied(source: Source, number: int) -> list[float]:
    """Half are equally good; the others are up to 2 % worse."""
    return [
        -0.02 * float(source.random()) if source.random() < 0.5 else 0.0
        for _ in range(number)
    ]


@dataclass(frozen=True)
class World:
    """The distribution from which the runs of a race are drawn."""

    name: str
    noise: Callable[[Source], float]
    truth: Callable[[Source, int], list[float]] = spread
    noisy_best: float = 1.0  # factor of the noise of the best candidate
    uneven: bool = False  # candidates differ in their noise by a factor of 2
    walks: bool = False  # the machine drifts from run to run
    steps: bool = False  # its speed changes between rounds


WORLDS = (
    World("lognormal, 5 %", lognormal),
    World("quiet, 1 %", quiet),
    World("heavy tails (t, 2 degrees)", heavy),
    World("two modes", bimodal),
    World("outliers", outliers),
    World("exponential delays", skewed),
    World("ties, quiet", quiet, tied),
    World("ties, 5 %", lognormal, tied),
    World("one 6 % better, quiet", quiet, one_better),
    World("one 6 % better, 5 %", lognormal, one_better),
    World("one 6 % better, two modes", bimodal, one_better),
    World("one 6 % better, heavy tails", heavy, one_better),
    World("best six times as noisy, quiet", quiet, noisy_best=6),
    World("6 % better and noisier, quiet", quiet, one_better, noisy_best=6),
    World("uneven noise", lognormal, uneven=True),
    World("drift", lognormal, walks=True),
    World("one 6 % better, drift", quiet, one_better, walks=True),
    World("steps of 30 %", quiet, steps=True),
    World("one 6 % better, steps", quiet, one_better, steps=True),
)


@dataclass(frozen=True)
class Result:
    """A simulated race."""

    proven: bool
    loss: float  # by which another candidate is better than the winner
    runs: int

    @property
    def wrong(self) -> bool:
        """Return true if the race has declared a wrong winner proven."""
        return self.proven and self.loss > TOLERANCE


class Machine:
    """Draws the runs of one race."""

    def __init__(self, world: World, number: int, source: Source) -> None:
        values = numpy.array(world.truth(source, number))
        self.truth = values - values.max()
        self.scale = numpy.ones(number)
        if world.uneven:
            self.scale = numpy.exp(source.normal(0, 0.7, number))
        self.scale[int(numpy.argmax(self.truth))] *= world.noisy_best
        self._world, self._source, self._level = world, source, 0.0

    def run(self, which: int) -> float:
        """Return the logarithm of one run."""
        if self._world.walks:
            self._level += float(self._source.normal(0, WALK))
        noise = self._world.noise(self._source)
        return float(self.truth[which] + self.scale[which] * noise + self._level)

    def round(self, cells: Sequence[int]) -> dict[int, float]:
        """Return a round in random order."""
        if self._world.steps:
            self._level = float(self._source.normal(0, STEP))
        order = self._source.permutation(list(cells))
        return {int(which): self.run(int(which)) for which in order}


def simulate(world: World, number: int, seed: int, most_runs: int) -> Result:
    """Race `number` candidates until one is proven, or the runs are spent."""
    source = numpy.random.default_rng(seed)
    machine = Machine(world, number, source)
    kind = source.integers(0, CLASSES, number)
    alike = 0.5 * (kind[:, None] == kind) + 0.5 * numpy.eye(number)
    race, runs = Race(alike, first=[0]), 0
    while runs < most_runs and not race.proven:
        cells = race.next_round()
        if not cells:
            break
        race.record(machine.round(cells))
        runs += len(cells)
    assert race.leader is not None
    return Result(race.proven, math.expm1(-machine.truth[race.leader]), runs)


def uniform(world: World, number: int, seed: int, most_runs: int) -> int:
    """Return the runs that exhaustive rounds need for the same proof."""
    source = numpy.random.default_rng(seed)
    machine = Machine(world, number, source)
    race, runs = Race(numpy.eye(number), first=range(number)), 0
    while runs < most_runs and not race.proven:
        race.record(machine.round(range(number)))
        runs += number
    return runs


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Simulate races with a known winner.")
    parser.add_argument("--races", type=int, default=60, metavar="N")
    parser.add_argument("--candidates", type=int, default=8, metavar="K")
    parser.add_argument("--runs", type=int, default=200, metavar="N")
    options = parser.parse_args()
    print("| noise and truth | proven | wrong | runs | exhaustive |")
    print("|---|---:|---:|---:|---:|")
    for world in WORLDS:
        found = [
            simulate(world, options.candidates, seed, options.runs)
            for seed in range(options.races)
        ]
        wide = [
            uniform(world, options.candidates, seed, 3 * options.runs)
            for seed in range(min(options.races, 10))
        ]
        proven = sum(result.proven for result in found) / len(found)
        wrong = sum(result.wrong for result in found) / len(found)
        runs = statistics.median(result.runs for result in found)
        many = statistics.median(wide)
        more = "over " if many >= 3 * options.runs else ""
        print(
            f"| {world.name} | {100 * proven:.0f} % | {100 * wrong:.1f} % | {runs:.0f} "
            f"| {more}{many:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
