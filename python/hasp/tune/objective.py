# SPDX-License-Identifier: MIT
"""The objective of a race: one measure of a comparison."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hasp.base.energy.host_meter import find as find_meter
from hasp.base.errors import HaspError
from hasp.base.output import quoted
from hasp.compare.run_record import (
    CPU,
    ENERGY,
    MEMORY,
    WALL,
    Measure,
    Run,
    measure_of,
)
from hasp.compare.settings import Settings

RESOURCES = {"time": WALL, "cpu": CPU, "memory": MEMORY, "energy": ENERGY}


@dataclass(frozen=True)
class Objective:
    """A measure of a run, and the score that it gives the run."""

    measure: Measure

    def score(self, run: Run) -> float | None:
        """Return the logarithm of the run's value, negated if lower is better.

        None if the run has no value, or one that is not positive.
        """
        value = run.value(self.measure)
        if value is None or not value > 0 or math.isinf(value):
            return None
        return -math.log(value) if self.measure.lower_is_better else math.log(value)


def measure_called(name: str, settings: Settings) -> Measure:
    """Return the metric or resource of that name; HaspError lists those there are."""
    known = {metric.name: measure_of(metric) for metric in settings.metrics}
    for word, measure in RESOURCES.items():
        known.setdefault(word, measure)
        known.setdefault(measure.name, measure)
    if name in known:
        _refuse_without_meter(known[name])
        return known[name]
    short = dict.fromkeys([*(metric.name for metric in settings.metrics), *RESOURCES])
    raise HaspError(
        f"there is no measure called {quoted(name)}",
        f"name one of {', '.join(short)}, or define it: --metric '{name}=REGEX'",
    )


def _refuse_without_meter(measure: Measure) -> None:
    if measure == ENERGY and find_meter() is None:
        raise HaspError(
            "this host has no energy counter that Hasp may read",
            "`hasp doctor` shows why; optimise another measure, for example --for cpu",
        )


def objective_of(settings: Settings, name: str | None) -> Objective:
    """Return the named measure, else the first metric, else the wall time."""
    if name is not None:
        return Objective(measure_called(name, settings))
    if settings.metrics:
        return Objective(measure_of(settings.metrics[0]))
    return Objective(WALL)
