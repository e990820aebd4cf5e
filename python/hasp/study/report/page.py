# SPDX-License-Identifier: MIT
"""The report as an HTML page, and the data that the page shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy

from hasp.base import pages as page
from hasp.base.errors import HaspError
from hasp.locks.native import locks as known_locks
from hasp.statistics.correlation import correlations
from hasp.statistics.grid import POINTS
from hasp.study.report.origin import origins
from hasp.study.report.summary import Summary, best_locks
from hasp.study.report.verdict import sentences

DIGITS = 4  # significant digits of a mean; runs are never more precise
POINT_NAMES = {
    "one": "the smallest size",
    "max": "the largest size",
    "opt": "each lock's best size",
}


def render(
    summaries: list[Summary], title: str, batches: Sequence[dict[str, Any]] = ()
) -> str:
    """Return the page for all machines and metrics, and the store's batches."""
    machines = dict.fromkeys(one.machine for one in summaries)
    data = {
        "points": [[point, POINT_NAMES[point]] for point in POINTS],
        "locks": properties({lock for one in summaries for lock in one.grid.locks}),
        "origins": {machine: origins(batches, machine) for machine in machines},
        "studies": [as_data(one, summaries) for one in summaries],
    }
    return page.render("hasp.study.report", title, data)


def as_data(summary: Summary, all_of_them: Sequence[Summary] = ()) -> dict[str, Any]:
    """Return a summary as JSON, with lists in the order of its programs and locks.

    `all_of_them` contains the other metrics of the machine, for correlations.
    """
    grid = summary.grid
    with numpy.errstate(divide="ignore"):
        measured = 1 / grid.values if summary.inverted else grid.values
    return {
        "machine": summary.machine,
        "metric": summary.metric,
        "lower_is_better": summary.inverted,
        "reference": summary.reference,
        "size_unit": summary.size_unit,
        "programs": list(grid.programs),
        "locks": list(grid.locks),
        "sizes": list(grid.sizes),
        "values": _rounded(measured),
        "half_width": _rounded(summary.spread, 2),
        "best_size": grid.best_sizes().tolist(),
        "sensitive": summary.sensitive.tolist(),
        "gain": {point: _rounded(values) for point, values in summary.gain.items()},
        "deviation": _rounded(summary.deviation),
        "best": [best_locks(summary, index) for index in range(len(grid.programs))],
        "unsure": [
            sum(one.verdict == "cannot tell" for one in found.values())
            for found in summary.contests
        ],
        "collapsed": summary.collapsed.tolist(),
        "coverage": {point: _rounded(v) for point, v in summary.coverage.items()},
        "harmful": {point: _rounded(v) for point, v in summary.harmful.items()},
        "superiority": {p: _rounded(v) for p, v in summary.superiority.items()},
        "correlation": {
            other.metric: [
                _rounded(found.get(program, math.nan)) for program in grid.programs
            ]
            for other in all_of_them
            if other.machine == summary.machine and other.metric != summary.metric
            for found in [correlations(grid, other.grid)]
        },
        "verdict": sentences(summary),
    }


def _rounded(values: Any, digits: int = DIGITS) -> Any:
    """Nested lists of rounded numbers, with None for NaN."""
    if isinstance(values, numpy.ndarray):
        return [_rounded(item, digits) for item in values]
    number = float(values)
    return float(f"{number:.{digits}g}") if math.isfinite(number) else None


def properties(names: set[str]) -> dict[str, dict[str, Any]]:
    """Hasp's facts about these locks, by their names in the study."""
    try:
        known = {
            name: lock for lock in known_locks() for name in (lock.name, *lock.aliases)
        }
    except HaspError:  # a report works without the native programs
        known = {}
    found = {}
    for name in sorted(names):
        lock = known.get(name)
        found[name] = {
            "family": lock.category if lock else "other",
            "parks": bool(lock and lock.parks),
            "fifo": bool(lock and lock.fifo),
            "numa": bool(lock and lock.numa),
        }
    return found
