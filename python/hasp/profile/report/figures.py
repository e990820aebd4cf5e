# SPDX-License-Identifier: MIT
"""The figures of each site, for tables, exports and conditions.

A metric is `NAME` or `NAME.STAT`, as in `hasp report --sort` and `--fail-if`. Wait
times cover contended acquisitions only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from hasp.base.errors import HaspError
from hasp.profile.model.distribution import Distribution
from hasp.profile.model.profile import Kind, Operation, Profile, Site, SiteStats

IDLE_KINDS = {Kind.CONDITION: Operation.WAIT, Kind.BARRIER: Operation.BARRIER}
TIMES = ("wait", "hold", "handover")
QUANTILES = {"p50": 0.5, "p99": 0.99, "p999": 0.999}
STATISTICS = ("total", "mean", *QUANTILES, "max")


@dataclass(frozen=True)
class Row:
    """A site and the sum of all operations on its locks."""

    site: Site
    use: SiteStats

    @property
    def name(self) -> str:
        """The site's name."""
        return self.site.name

    def value(self, metric: Metric) -> float | None:
        """Return the metric of this site; None if it was not measured."""
        return metric.of(self)


@dataclass(frozen=True)
class Metric:
    """One figure of a site."""

    name: str
    unit: str  # ns, share or count
    meaning: str
    of: Callable[[Row], float | None]


def statistic(times: Distribution, name: str) -> float | None:
    """Return one statistic of a distribution in ns; None if nothing was timed."""
    if name == "total" and not times.number:
        return 0
    if not times.timed:
        return None
    if name == "total":
        return times.total_ns
    if name == "mean":
        return times.mean_ns
    if name == "max":
        return times.max_ns
    return times.quantile(QUANTILES[name])


def contended_share(use: SiteStats) -> float | None:
    """Return the share of contended acquisitions; None without acquisitions."""
    return use.contended / use.acquisitions if use.acquisitions else None


def _plain(name: str, unit: str, meaning: str) -> Metric:
    return Metric(name, unit, meaning, lambda row: getattr(row.use, name))


def _timed(times: str, name: str, meaning: str) -> Metric:
    return Metric(
        f"{times}.{name}",
        "ns",
        f"{meaning}: {name}",
        lambda row: statistic(getattr(row.use, times), name),
    )


def _failures(row: Row) -> float | None:
    use = row.use
    return use.trylock_failures / use.trylocks if use.trylocks else None


MEANINGS = {
    "wait": "time to acquire, of contended acquisitions",
    "hold": "time from acquire to release",
    "handover": "time from a release to the next acquire, while threads wait",
}

METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        _plain("acquisitions", "count", "number of acquisitions"),
        Metric(
            "contended",
            "share",
            "share of acquisitions that had to wait",
            lambda row: contended_share(row.use),
        ),
        Metric(
            "share",
            "share",
            "share of all threads' time: acquiring, holding and releasing it",
            lambda row: row.site.share,
        ),
        *(
            _timed(times, name, meaning)
            for times, meaning in MEANINGS.items()
            for name in STATISTICS
        ),
        *(
            Metric(
                f"waiters.{name}",
                "count",
                f"threads waiting at once: {name}",
                lambda row, name=name: getattr(row.site, f"waiters_{name}"),  # type: ignore[misc]
            )
            for name in ("mean", "p95", "max")
        ),
        Metric(
            "spinning",
            "share",
            "share of sampled waits that were on a CPU",
            lambda row: row.use.spinning,
        ),
        _plain("trylocks", "count", "calls of trylock"),
        Metric("failures", "share", "share of trylocks that failed", _failures),
        _plain("timeouts", "count", "timed lock operations that timed out"),
        _plain("owner_changes", "count", "acquisitions from another thread"),
        _plain("node_changes", "count", "acquisitions from another NUMA node"),
        _plain("nested", "count", "acquisitions while another lock was held"),
        Metric(
            "instances",
            "count",
            "locks created there",
            lambda row: float(len(row.site.locks)),
        ),
    )
}
# The default statistic of a metric.
SHORT = {**{name: f"{name}.total" for name in TIMES}, "waiters": "waiters.mean"}


def metric(text: str) -> Metric:
    """Return the metric of that name; raises HaspError for an unknown one."""
    name = SHORT.get(text, text)
    if name not in METRICS:
        raise HaspError(f"there is no metric {text!r}", metrics_in_words())
    return METRICS[name]


def metrics_in_words() -> str:
    """Return the list of metrics for messages."""
    plain = [name for name in METRICS if "." not in name]
    times = f"{'|'.join(TIMES)}[.{'|.'.join(STATISTICS)}]"
    return f"metrics: {', '.join(plain)}, waiters[.mean|.p95|.max], {times}"


def rows(profile: Profile, by: Metric | None = None) -> list[Row]:
    """Return the sites with acquisitions, sorted by a metric, descending."""
    found = [
        Row(site, use)
        for site in profile.sites
        if site.kind not in IDLE_KINDS
        and (use := site.total) is not None
        and (use.acquisitions or use.trylocks)
    ]
    order = by or METRICS["share"]

    def key(row: Row) -> tuple[float, float]:
        value = row.value(order)
        return (-1.0 if value is None else value, float(row.use.acquisitions))

    return sorted(found, key=key, reverse=True)


def idle_rows(profile: Profile) -> list[Row]:
    """Return the condition variables and barriers that were used, by wait time."""
    found = [
        Row(site, use)
        for site in profile.sites
        if site.kind in IDLE_KINDS
        and (use := site.stats.get(IDLE_KINDS[site.kind])) is not None
        and (use.acquisitions or use.signals or use.broadcasts)
    ]
    return sorted(found, key=lambda row: row.use.wait.total_ns, reverse=True)


def chosen(found: Sequence[Row], text: str) -> list[Row]:
    """Return the rows that match `text`:

    a site's number, name, part of it, or pattern.
    """
    if text.lstrip("#").isdecimal():
        number = int(text.lstrip("#"))
        return [row for row in found if row.site.number == number]
    exact = [row for row in found if text in _names(row.site)]
    return exact or [
        row
        for row in found
        if any(text in name or fnmatchcase(name, text) for name in _names(row.site))
    ]


def _names(site: Site) -> tuple[str, ...]:
    return (site.name, site.place, site.expression or site.name)


def matches(site: Site, pattern: str) -> bool:
    """Return true if a glob pattern of `--fail-if` matches this site."""
    return any(name == pattern or fnmatchcase(name, pattern) for name in _names(site))
