# SPDX-License-Identifier: MIT
"""The configurations measured on this machine, and what became of the transactions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from hasp.compare import run_record as record
from hasp.compare.run_record import Measure
from hasp.compare.settings import Cell
from hasp.compare.store import Comparison
from hasp.compare.summary import CellSummary, samples_of, summarise
from hasp.elide.configurations import FINE, Configuration
from hasp.elide.hardware import Transactions
from hasp.elide.statistics import Counts
from hasp.profile.model.elision import Elision
from hasp.profile.model.profile import Profile
from hasp.statistics import Ratio
from hasp.statistics.simultaneous import contrasts, ratio_without_interval


@dataclass(frozen=True)
class MeasuredLock:
    """What became of one site's sections in a recorded run under elided locks."""

    name: str
    sections: int
    elision: Elision


def locks_of(profile: Profile) -> list[MeasuredLock]:
    """Return the sites of mutexes that began transactions, or elided inside others."""
    found = [
        MeasuredLock(site.name, use.acquisitions, use.elision)
        for site in profile.sites
        if (use := site.total) is not None and use.elision is not None
        if use.elision.begins or use.elision.elided
    ]
    return sorted(found, key=lambda one: one.elision.aborted, reverse=True)


@dataclass
class Measurement:
    """The runs of all configurations, in the order of CONFIGURATIONS."""

    comparison: Comparison
    transactions: Transactions
    configurations: tuple[Configuration, ...]
    counts: dict[str, Counts] = field(default_factory=dict)  # by configuration
    ending: BaseException | None = None  # what ended the runs early
    locks: list[MeasuredLock] = field(default_factory=list)  # by aborts, descending

    def summaries(self) -> list[CellSummary]:
        """Return a summary for each configuration and number of threads."""
        return summarise(self.comparison)

    @property
    def measure(self) -> Measure:
        """The measure by which configurations are judged."""
        return self.comparison.primary

    def to_fine(self, threads: int | None) -> dict[str, Ratio]:
        """Return how many times as fast as `fine` each configuration is."""
        samples = {
            one.name: samples_of(self.comparison, Cell(one.name, threads), self.measure)
            for one in self.configurations
        }
        positive = {
            name: own
            for name, own in samples.items()
            if min(own.values(), default=0) > 0
        }
        counts = len(self.comparison.settings.threads)
        family = max(1, (len(self.configurations) - 1) * counts)
        known = contrasts(positive, FINE.name, family)
        found = {}
        for name, own in positive.items():
            if name == FINE.name:
                continue
            ratio = (
                known[name].ratio
                if name in known
                else ratio_without_interval(own, positive.get(FINE.name, {}))
            )
            if ratio:
                found[name] = self._as_speed(ratio)
        return found

    def _as_speed(self, ratio: Ratio) -> Ratio:
        """Return the ratio of speeds: more is better."""
        if not self.measure.lower_is_better:
            return ratio
        low = None if ratio.high is None else 1 / ratio.high
        high = None if ratio.low is None else 1 / ratio.low
        return Ratio(1 / ratio.value, low, high, ratio.blocks)

    def failures(self) -> Iterator[str]:
        """Yield a sentence for each configuration in which the program failed."""
        for row in self.summaries():
            if row.failures:
                yield f"{row.cell.words}: {row.trouble}"

    @property
    def failed(self) -> bool:
        """Return true if any run failed."""
        return any(run.outcome != record.OK for run in self.comparison.runs)
