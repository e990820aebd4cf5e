# SPDX-License-Identifier: MIT
"""The page of a study of 200 programs under every lock has a reasonable size."""

from __future__ import annotations

import json

import numpy

from hasp.statistics.grid import POINTS, Grid
from hasp.study.report.page import as_data
from hasp.study.report.summary import Summary

PROGRAMS, LOCKS, SIZES = 200, 43, (1, 2, 4, 8, 16, 32, 64, 80)


def test_page_size_depends_only_on_the_number_of_means():
    source = numpy.random.default_rng(1)
    shape = (PROGRAMS, LOCKS, len(SIZES))
    grid = Grid(
        tuple(f"program {n}" for n in range(PROGRAMS)),
        tuple(f"lock {n}" for n in range(LOCKS)),
        SIZES,
        source.uniform(1e3, 1e7, shape),
    )
    by_lock = {point: source.uniform(0, 100, LOCKS) for point in POINTS}
    matrix = source.uniform(0, 100, (LOCKS, LOCKS))
    summary = Summary(
        machine="m",
        size_unit="threads",
        metric="throughput",
        inverted=False,
        runs=5 * grid.values.size,
        grid=grid,
        spread=source.uniform(0, 0.1, shape),
        sensitive=numpy.ones(PROGRAMS, bool),
        gain={point: source.uniform(0, 9, PROGRAMS) for point in POINTS},
        deviation=source.uniform(0, 1, PROGRAMS),
        coverage=by_lock,
        harmful=by_lock,
        superiority={"max": matrix, "opt": matrix},
        collapsed=numpy.zeros((PROGRAMS, LOCKS), bool),
        contests=[{} for _ in range(PROGRAMS)],
    )
    size = len(json.dumps(as_data(summary, [summary]), separators=(",", ":")))
    assert size < 20 * grid.values.size  # 1.4 MB; Plotly itself is 5 MB
