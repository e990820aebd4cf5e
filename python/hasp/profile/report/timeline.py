# SPDX-License-Identifier: MIT
"""Waiters and holders of sites over time, in a bounded number of bins."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy

from hasp.profile.model.profile import Profile
from hasp.profile.report.findings import Names

BINS = 240
MOST_SITES = 30


def timeline(profile: Profile, names: Names) -> dict[str, Any]:
    """Return the waiters, the usual holder and its share on a CPU, by site and bin.

    `bin_ns` is the width of a bin. A bin without waiters has 0 waiters and holder 0:
    holders are recorded only while threads wait. `on_cpu` is the share of the inspected
    holders that were on a CPU, or None where none was inspected.

    A sample represents the time before it: several intervals if the sampler slept
    longer or old samples were thinned out. A sampler that was late takes the missed
    samples at once; as no two samples of a lock represent the same time, these fill the
    gap.
    """
    duration = max(profile.duration_ns, 1)
    tick = profile.sample_ns
    # Bins are multiples of the sampling interval, so that all have equally many
    # samples.
    width = tick * max(1, math.ceil(duration / tick / BINS))
    bins = math.ceil(duration / width)
    waiting: dict[int, numpy.ndarray[Any, numpy.dtype[numpy.float64]]] = {}
    holders: dict[int, dict[int, dict[int, float]]] = {}  # time by thread
    seen: dict[int, numpy.ndarray[Any, numpy.dtype[numpy.float64]]] = {}  # on, off CPU
    begins: dict[int, float] = {}  # of the following sample, by lock
    for sample in reversed(profile.waiters):
        site = names.site(sample.lock)
        if site is None:
            continue
        if site.number not in waiting:
            waiting[site.number] = numpy.zeros(bins)
            seen[site.number] = numpy.zeros((2, bins))
            holders[site.number] = defaultdict(lambda: defaultdict(float))
        end = min(float(sample.at_ns), begins.get(sample.lock, bins * width))
        begin = begins[sample.lock] = max(0.0, end - sample.weight * tick)
        for place, part_ns in _spread(begin, end, width, bins):
            waiting[site.number][place] += sample.waiters * part_ns
            seen[site.number][0, place] += sample.holders_on_cpu * part_ns
            seen[site.number][1, place] += sample.holders_off_cpu * part_ns
            if sample.holder:
                holders[site.number][place][sample.holder] += part_ns
    busiest = sorted(waiting, key=lambda number: -waiting[number].sum())[:MOST_SITES]
    return {
        "bin_ns": width,
        "sites": busiest,
        "waiters": [
            [round(float(value), 2) for value in waiting[number] / width]
            for number in busiest
        ],
        "holders": [
            [
                max(one, key=one.__getitem__) if (one := by_bin.get(place)) else 0
                for place in range(bins)
            ]
            for by_bin in (holders[number] for number in busiest)
        ],
        "on_cpu": [_shares(seen[number]) for number in busiest],
    }


def _shares(seen: numpy.ndarray[Any, numpy.dtype[numpy.float64]]) -> list[float | None]:
    """Return the share of the first row in each column; None for empty columns."""
    return [
        round(float(on / (on + off)), 2) if on + off else None for on, off in seen.T
    ]


def _spread(
    begin: float, end: float, width: float, bins: int
) -> Iterator[tuple[int, float]]:
    """Yield the bins between two times, with the time in each."""
    for index in range(int(begin / width), min(int(end / width), bins - 1) + 1):
        part = min(end, (index + 1) * width) - max(begin, index * width)
        if part > 0:
            yield index, part


def process_samples(profile: Profile) -> dict[str, list[Any]]:
    """Return samples of the process over time, thinned out for a page."""
    step = max(1, len(profile.process_samples) // BINS)
    kept = profile.process_samples[::step]
    return {
        "at_ns": [one.at_ns for one in kept],
        "threads": [one.threads for one in kept],
        "waiting": [one.waiting for one in kept],
        "runnable": [one.runnable for one in kept],
    }
