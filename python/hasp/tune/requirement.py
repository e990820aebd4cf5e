# SPDX-License-Identifier: MIT
"""A limit that the winner must keep: `p99 < 2 ms`."""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from hasp.base.errors import HaspError
from hasp.base.output import quoted
from hasp.compare.run_record import Measure, Run
from hasp.compare.settings import Settings
from hasp.tune.objective import measure_called

FORM = re.compile(r"\s*(?P<name>.+?)\s*(?P<sign><=|>=|<|>)\s*(?P<rest>\S.*?)\s*")
AMOUNT = re.compile(r"(?P<number>[0-9][0-9_,]*(\.[0-9]*)?|\.[0-9]+)\s*(?P<unit>\S*)")
TIMES = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}
SIZES = {
    "B": 1.0,
    "bytes": 1.0,
    "KiB": 1024.0,
    "MiB": 1024.0**2,
    "GiB": 1024.0**3,
}
CLEARLY = 1.5  # factor by which one run shows that the limit is not kept
ENOUGH_RUNS = 3  # whose median decides


@dataclass(frozen=True)
class Requirement:
    """A measure, its limit in the measure's unit, and which side of it is allowed."""

    measure: Measure
    limit: float
    below: bool
    words: str

    def kept(self, value: float) -> bool:
        """Return true if a value is on the allowed side."""
        return value < self.limit if self.below else value > self.limit

    def values(self, runs: Sequence[Run]) -> list[float]:
        """Return the values of the successful runs that have one."""
        found = (run.value(self.measure) for run in runs if run.measured)
        return [value for value in found if value is not None]

    def broken(self, runs: Sequence[Run]) -> bool:
        """Return true if the runs show that a candidate does not keep the limit."""
        values = self.values(runs)
        if not values:
            return False
        middle = statistics.median(values)
        if len(values) < ENOUGH_RUNS:
            middle = middle / CLEARLY if self.below else middle * CLEARLY
        return not self.kept(middle)

    def count(self, runs: Sequence[Run]) -> str:
        """Return in how many of the runs the limit was kept, as text."""
        values = self.values(runs)
        return f"{sum(map(self.kept, values))} of {len(values)} runs"


def parse_requirement(text: str, settings: Settings) -> Requirement:
    """Parse `NAME < AMOUNT` or `NAME > AMOUNT`; the amount may have a unit."""
    match = FORM.fullmatch(text)
    amount = AMOUNT.fullmatch(match["rest"]) if match else None
    if not match or not amount:
        raise HaspError(
            f"--require {quoted(text)} is not a limit",
            "write NAME < AMOUNT, for example --require 'p99 < 2 ms'",
        )
    measure = measure_called(match["name"], settings)
    number = float(amount["number"].replace(",", "").replace("_", ""))
    limit = number * _factor(amount["unit"], measure, text)
    if not limit > 0:
        raise HaspError(
            f"--require {quoted(text)}: the limit is not positive",
            "name a positive one",
        )
    words = f"{match['name']} {match['sign'][0]} {match['rest']}"
    return Requirement(measure, limit, match["sign"].startswith("<"), words)


def _factor(unit: str, measure: Measure, text: str) -> float:
    """The number of the measure's units in one `unit`."""
    if unit in ("", measure.unit):
        return 1.0
    for scale in (TIMES, SIZES):
        if unit in scale and measure.unit in scale:
            return scale[unit] / scale[measure.unit]
    has = f"is in {measure.unit}" if measure.unit else "has no unit"
    raise HaspError(
        f"--require {quoted(text)}: {measure.name} {has}, not in {unit}",
        f"write the limit in {measure.unit}"
        if measure.unit
        else "name the metric's unit with --unit after its --metric",
    )
