# SPDX-License-Identifier: MIT
"""Which recorded sections can never commit."""

from __future__ import annotations

from itertools import pairwise

import pytest

from hasp.profile.diagnosis.obstacles import (
    Obstacle,
    Obstacles,
    obstacles_of,
    sections_with,
)
from hasp.profile.model.distribution import Distribution
from hasp.profile.trace.format import Operation

EDGES = (0.0, 100.0, 1000.0, 10_000.0, 100_000.0)


def holds(*counts: int) -> Distribution:
    middles = [(low + high) / 2 for low, high in pairwise(EDGES)]
    total = sum(c * m for c, m in zip(counts, middles, strict=True))
    return Distribution(counts, EDGES, round(total), 100_000, sum(counts))


@pytest.mark.parametrize(
    ("counts", "share", "sections"),
    [
        ((990, 0, 0, 10), 0.9, 0.01),  # the long ones sleep
        ((0, 0, 0, 1000), 0.4, 1.0),  # all are alike
        ((500, 0, 0, 500), 0.1, 0.5),
    ],
)
def test_sleep_is_in_the_longest_sections(counts, share, sections) -> None:
    assert sections_with(holds(*counts), share) == pytest.approx(sections)


def test_obstacles_are_independent() -> None:
    both = Obstacles((Obstacle("waits", 0.5, "a"), Obstacle("calls", 0.5, "b")))
    assert both.never == 0.75
    assert Obstacles().never == 0


def test_condition_waits_and_owners_are_obstacles(profile_of) -> None:
    waits = profile_of(Operation.RELOCK, 100, flags=0)
    (found,) = obstacles_of(waits).values()
    assert [one.kind for one in found.found] == ["waits"]
    assert found.never == pytest.approx(3 * 100 / 1100)
    (found,) = obstacles_of(profile_of(None, 0, flags=1)).values()
    assert [(one.kind, one.share) for one in found.found] == [("kind", 1.0)]
