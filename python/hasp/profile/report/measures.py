# SPDX-License-Identifier: MIT
"""The measures that `hasp diff` compares, with the noise of a single run.

All are rates, shares and times that do not depend on the length of a run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy
from numpy.typing import NDArray

from hasp.profile.model.distribution import Distribution
from hasp.profile.model.profile import Profile
from hasp.profile.report.figures import Row, contended_share, statistic
from hasp.statistics import counting
from hasp.statistics.counting import Change


@dataclass(frozen=True)
class Sighting:
    """A site in one run."""

    row: Row
    profile: Profile

    @property
    def seconds(self) -> float:
        """Return the duration of the run."""
        return max(self.profile.duration_ns, 1) / 1e9


@dataclass(frozen=True)
class Measure:
    """One figure of a site in a run, with its noise from counting alone."""

    name: str
    unit: str
    meaning: str
    of: Callable[[Sighting], float | None]
    between: Callable[[Sighting, Sighting], Change | None]


def _middles(times: Distribution) -> list[float]:
    edges = times.edges_ns
    return [(low + high) / 2 for low, high in pairwise(edges)]


def _mean_variance(times: Distribution) -> float | None:
    return counting.variance_of_mean(times.counts, _middles(times), times.timed)


def _ratio(
    before: float | None,
    after: float | None,
    variances: tuple[float | None, ...],
) -> Change | None:
    """Return the change, whose variance is the sum of both.

    If either variance is unknown, the change has no interval.
    """
    if not before or not after:
        return None
    known = [one for one in variances if one is not None]
    if len(known) < len(variances):
        return Change(after / before, None, None, 1.0)
    return counting.change(after / before, sum(known))


def _mean(name: str) -> Measure:
    def of(seen: Sighting) -> float | None:
        return statistic(getattr(seen.row.use, name), "mean")

    def between(before: Sighting, after: Sighting) -> Change | None:
        sides = [getattr(one.row.use, name) for one in (before, after)]
        variances = (_mean_variance(sides[0]), _mean_variance(sides[1]))
        return _ratio(of(before), of(after), variances)

    return Measure(f"{name}.mean", "ns", f"mean {name} time", of, between)


def _p99(name: str) -> Measure:
    def of(seen: Sighting) -> float | None:
        return statistic(getattr(seen.row.use, name), "p99")

    def variance(times: Distribution) -> float | None:
        def p99(drawn: NDArray[numpy.int64]) -> NDArray[numpy.float64]:
            return counting.quantiles(drawn, times.edges_ns, 0.99)

        return counting.variance_by_bootstrap(times.counts, times.timed, p99)

    def between(before: Sighting, after: Sighting) -> Change | None:
        sides = [getattr(one.row.use, name) for one in (before, after)]
        variances = (variance(sides[0]), variance(sides[1]))
        return _ratio(of(before), of(after), variances)

    return Measure(f"{name}.p99", "ns", f"99th percentile of {name} times", of, between)


def _rate(seen: Sighting) -> float:
    return seen.row.use.acquisitions / seen.seconds


def _rate_between(before: Sighting, after: Sighting) -> Change | None:
    return counting.of_counts(
        before.row.use.acquisitions,
        after.row.use.acquisitions,
        after.seconds / before.seconds,
    )


def _contended_between(before: Sighting, after: Sighting) -> Change | None:
    stats = before.row.use, after.row.use
    pairs = [(one.contended, one.acquisitions) for one in stats]
    return counting.of_shares(pairs[0], pairs[1])


def _waiting(seen: Sighting) -> float | None:
    total = statistic(seen.row.use.wait, "total")
    return None if total is None else total / seen.seconds / 1e9


def _sum_variance(times: Distribution) -> float | None:
    """Return the variance of a sum of random length (compound Poisson)."""
    of_mean = _mean_variance(times)
    return None if of_mean is None else of_mean + 1 / max(times.timed, 1)


def _waiting_between(before: Sighting, after: Sighting) -> Change | None:
    sides = [_sum_variance(one.row.use.wait) for one in (before, after)]
    return _ratio(_waiting(before), _waiting(after), (sides[0], sides[1]))


def _share_variance(seen: Sighting) -> float | None:
    """Return the variance of waits and holds together, weighted by time."""
    use = seen.row.use
    total = use.wait.total_ns + use.hold.total_ns
    variance = 0.0
    for times in (use.wait, use.hold):
        if times.total_ns:
            own = _sum_variance(times)
            if own is None:
                return None
            variance += own * (times.total_ns / total) ** 2
    return variance


def _share_between(before: Sighting, after: Sighting) -> Change | None:
    return _ratio(
        before.row.site.share,
        after.row.site.share,
        (_share_variance(before), _share_variance(after)),
    )


MEASURES = {
    one.name: one
    for one in (
        Measure(
            "share",
            "share",
            "share of all threads' time: acquiring, holding and releasing it",
            lambda seen: seen.row.site.share,
            _share_between,
        ),
        Measure("rate", "count", "acquisitions per second", _rate, _rate_between),
        Measure(
            "contended",
            "share",
            "share of acquisitions that had to wait",
            lambda seen: contended_share(seen.row.use),
            _contended_between,
        ),
        Measure(
            "waiting",
            "count",
            "mean number of waiting threads: wait time per second",
            _waiting,
            _waiting_between,
        ),
        _mean("wait"),
        _p99("wait"),
        _mean("hold"),
        _p99("hold"),
    )
}
