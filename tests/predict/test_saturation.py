# SPDX-License-Identifier: MIT
"""Saturation of closed queueing models, compared with their analytic answers."""

from __future__ import annotations

from itertools import count
from math import perm

import pytest
from predict_samples import closed

from hasp.predict.load import Variant, exponential
from hasp.predict.runs import Case
from hasp.predict.saturation import SATURATED, saturation

# Handovers take a fraction of a microsecond, little beside these.
GAP, HOLD = 90_000.0, 10_000.0


def constant_times(gap: float, hold: float) -> int:
    """Return the threads that saturate a lock if no time varies."""
    return next(n for n in count(1) if n * hold >= SATURATED * (gap + hold))


def machine_repair(gap: float, hold: float) -> int:
    """Return the threads that saturate a lock with exponential times: M/M/1//N.

    Its utilisation is 1 - p0; D. Gross and C. Harris, "Fundamentals of Queueing
    Theory", section on finite-source queues.
    """

    def utilisation(threads: int) -> float:
        ratio = hold / gap
        return 1 - 1 / sum(perm(threads, k) * ratio**k for k in range(threads + 1))

    return next(n for n in count(1) if utilisation(n) >= SATURATED)


@pytest.mark.parametrize("varies", [False, True])
def test_a_lock_saturates_at_the_analytic_number_of_threads(runs, varies) -> None:
    shape = {"shape": exponential()} if varies else {}
    simulated = runs(closed(GAP, HOLD, **shape))
    found = saturation(
        simulated.load,
        [1, 64],
        [Variant(varies, 1, seed) for seed in (1, 2)],
        lambda pairs: simulated.run([Case("ticket", n, v) for n, v in pairs], 2),
    )
    exact = machine_repair(GAP, HOLD) if varies else constant_times(GAP, HOLD)
    assert found.threads is not None
    assert abs(found.threads - exact) <= 1
    assert found.site == 0
    assert found.busy == pytest.approx(1, abs=0.02)


def test_a_lock_that_does_not_saturate_is_named_with_its_use(runs) -> None:
    simulated = runs(closed(99_000.0, 1000.0))
    found = saturation(
        simulated.load,
        [1, 8],
        [Variant(False, 1, 1)],
        lambda pairs: simulated.run([Case("ticket", n, v) for n, v in pairs], 2),
    )
    assert (found.threads, found.low, found.high) == (None, None, None)
    assert found.busy == pytest.approx(8 / 100, rel=0.3)
