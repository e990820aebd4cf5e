# SPDX-License-Identifier: MIT
"""Merge the sites of several processes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from hasp.profile.model.distribution import Distribution
from hasp.profile.model.holding import Holding
from hasp.profile.model.lazy import Lazy
from hasp.profile.model.merge_part import Part
from hasp.profile.model.profile import Lock, Operation, Site, SiteStats, sum_of

SAME_CLOCK = 0.05  # relative difference of bucket edges
TIMES = ("wait", "hold", "handover")
Key = tuple[object, ...]


def merged_sites(parts: Sequence[Part]) -> Iterator[Site]:
    """Yield the sites; they are numbered from 1."""
    groups: dict[Key, list[tuple[Part, Site]]] = {}
    for part in parts:
        for site in part.profile.sites:
            groups.setdefault(_key(site), []).append((part, site))
    numbers = {
        (id(part), site.number): number
        for number, group in enumerate(groups.values(), 1)
        for part, site in group
    }
    lived = sum(part.lived_ns for part in parts)
    for number, group in enumerate(groups.values(), 1):
        yield _site(number, group, lived, numbers)


def _key(site: Site) -> Key:
    origin = site.origins[0] if site.origins else None
    address = origin.address if origin else None
    return (site.kind, site.name, origin.frames if origin else (), address)


def _site(
    number: int,
    group: Sequence[tuple[Part, Site]],
    lived: int,
    numbers: Mapping[tuple[int, int], int],
) -> Site:
    worst_part, worst = max(group, key=lambda pair: _waited(pair[1]))
    edges = next((found for _, site in group if (found := _edges_of(site))), ())
    operations = dict.fromkeys(o for _, site in group for o in site.stats)
    share = sum(site.share * part.lived_ns for part, site in group)
    renumbered = _renumbered(worst, worst_part, numbers)
    return replace(
        renumbered,
        number=number,
        locks=_locks(group),
        stats={
            operation: total
            for operation in operations
            if (
                total := sum_of(
                    _aligned(site.stats[operation], edges)
                    for _, site in group
                    if operation in site.stats
                )
            )
        },
        threads=_Threads(group, edges),
        share=share / lived if lived else 0.0,
        waiters_mean=_largest([site.waiters_mean for _, site in group]),
        waiters_p95=_largest([site.waiters_p95 for _, site in group]),
        waiters_max=max(
            (site.waiters_max for _, site in group if site.waiters_max is not None),
            default=None,
        ),
    )


def _renumbered(site: Site, part: Part, numbers: Mapping[tuple[int, int], int]) -> Site:
    """Return the site with new numbers in the details that are not merged."""

    def site_number(old: int) -> int:
        return numbers.get((id(part), old), 0)

    def moved(holding: Holding | None) -> Holding | None:
        if holding is None:
            return None
        states = (
            replace(one, waits_for=one.waits_for and site_number(one.waits_for))
            for one in holding.states
        )
        return replace(holding, states=tuple(states))

    fairness = site.fairness and replace(
        site.fairness,
        lock=part.lock(site.fairness.lock),
        top_thread=site.fairness.top_thread and part.thread(site.fairness.top_thread),
    )
    lines = tuple(
        replace(
            one,
            lock=part.lock(one.lock),
            neighbour=part.lock(one.neighbour),
            neighbour_site=site_number(one.neighbour_site),
        )
        for one in site.shared_lines
    )
    return replace(
        site,
        fairness=fairness,
        shared_lines=lines,
        holding=moved(site.holding),
        long_holding=moved(site.long_holding),
    )


def _waited(site: Site) -> int:
    total = site.total
    return total.wait.total_ns if total else 0


def _largest(values: Sequence[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)


def _locks(group: Sequence[tuple[Part, Site]]) -> Sequence[Lock]:
    """Return the locks of all processes, on access: there may be millions."""
    bounds = [0]
    for _, site in group:
        bounds.append(bounds[-1] + len(site.locks))

    def lock(place: int) -> Lock:
        index = next(i for i in range(len(group)) if place < bounds[i + 1])
        part, site = group[index]
        return part.moved_lock(site.locks[place - bounds[index]])

    return Lazy(bounds[-1], lock)


class _Threads(Mapping[int, Mapping[Operation, SiteStats]]):
    """The statistics by thread of all processes."""

    def __init__(
        self, group: Sequence[tuple[Part, Site]], edges: Sequence[float]
    ) -> None:
        self._edges = edges
        self._where = {
            part.thread(number): (site, number)
            for part, site in group
            for number in site.threads
        }

    def __iter__(self) -> Iterator[int]:
        return iter(self._where)

    def __len__(self) -> int:
        return len(self._where)

    def __getitem__(self, number: int) -> Mapping[Operation, SiteStats]:
        site, old = self._where[number]
        found = site.threads[old].items()
        return {operation: _aligned(use, self._edges) for operation, use in found}


def _edges_of(site: Site) -> Sequence[float]:
    for use in site.stats.values():
        for name in TIMES:
            times: Distribution = getattr(use, name)
            if times.counts:
                return times.edges_ns
    return ()


def _aligned(use: SiteStats, edges: Sequence[float]) -> SiteStats:
    """Return the statistics with these bucket edges.

    Each process measures the speed of the clock itself, with small differences.
    """
    changed = {}
    for name in TIMES:
        times: Distribution = getattr(use, name)
        if times.counts and len(edges) == len(times.edges_ns):
            if abs(times.edges_ns[-1] / edges[-1] - 1) > SAME_CLOCK:
                raise ValueError("the processes ran on machines with different clocks")
            changed[name] = replace(times, edges_ns=edges)
    return replace(use, **changed)  # type: ignore[arg-type]
