# SPDX-License-Identifier: MIT
"""The report as one HTML file that works without a network.

The template, its style and its script lie in templates/; Plotly draws. All data are in
the file as JSON, computed here, so that the script only chooses and arranges.
"""

from __future__ import annotations

import math
from typing import Any

import numpy

from hasp.errors import HaspError
from hasp.native import locks as known_locks
from hasp.report.embedded import embedded
from hasp.report.study.summary import Summary, best_locks
from hasp.report.study.verdict import sentences
from hasp.statistics.grid import POINTS

DIGITS = 4  # of a mean in the page: more than the runs can tell


def render(summaries: list[Summary], title: str, version: str) -> str:
    """The page. `summaries` holds every machine and metric of the store."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from plotly.offline import get_plotlyjs

    environment = Environment(
        loader=PackageLoader("hasp.report.study"),
        autoescape=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    data = {
        "points": list(POINTS),
        "locks": properties({lock for one in summaries for lock in one.grid.locks}),
        "studies": [as_data(one) for one in summaries],
    }
    return environment.get_template("page.html").render(
        title=title,
        version=version,
        data=embedded(data),
        plotly=get_plotlyjs(),
    )


def as_data(summary: Summary) -> dict[str, Any]:
    """A summary as JSON: lists in the order of its programs and locks."""
    grid = summary.grid
    return {
        "machine": summary.machine,
        "metric": summary.metric,
        "size_unit": summary.size_unit,
        "programs": list(grid.programs),
        "locks": list(grid.locks),
        "sizes": list(grid.sizes),
        "values": _rounded(grid.values),
        "best_size": grid.best_sizes().tolist(),
        "sensitive": summary.sensitive.tolist(),
        "gain": {point: _rounded(values) for point, values in summary.gain.items()},
        "deviation": _rounded(summary.deviation),
        "best": [best_locks(summary, place) for place in range(len(grid.programs))],
        "unsure": [
            sum(one.verdict == "cannot tell" for one in found.values())
            for found in summary.contests
        ],
        "collapsed": summary.collapsed.tolist(),
        "coverage": {point: _rounded(v) for point, v in summary.coverage.items()},
        "harmful": {point: _rounded(v) for point, v in summary.harmful.items()},
        "superiority": {p: _rounded(v) for p, v in summary.superiority.items()},
        "verdict": sentences(summary),
    }


def _rounded(values: Any) -> Any:
    """Nested lists with as many digits as make sense, None for NaN."""
    if isinstance(values, numpy.ndarray):
        return [_rounded(item) for item in values]
    number = float(values)
    return float(f"{number:.{DIGITS}g}") if math.isfinite(number) else None


def properties(names: set[str]) -> dict[str, dict[str, Any]]:
    """What Hasp knows of these locks, by the names that the study has for them."""
    try:
        known = {
            name: lock for lock in known_locks() for name in (lock.name, *lock.aliases)
        }
    except HaspError:  # a report needs no native parts
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
