# SPDX-License-Identifier: MIT
"""RCL's two thresholds (USENIX ATC 2012, figure 8) hold on the simulated Opteron."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import measure_rcl


def test_rcl_is_faster_from_the_published_shares_on() -> None:
    rare, some, most = map(measure_rcl.load, (100_000, 60_000, 20_000))
    assert rare.share < measure_rcl.THAN_POSIX <= some.share < measure_rcl.THAN_ALL
    assert most.share >= measure_rcl.THAN_ALL
    assert measure_rcl.holds([some, most]) == (True, True)
    # Below the thresholds, nothing is gained.
    assert rare.to_posix < 1.02
    assert some.to_locks < 1.02


def test_uncontended_calls_cost_as_much_as_published() -> None:
    for bar in (measure_rcl.RCL, measure_rcl.COMBINING):
        found = measure_rcl.cycles(bar.subject, measure_rcl.LOW)
        assert measure_rcl.Row(bar.name, bar.low, found).agrees, found


def test_a_slower_rcl_is_noticed() -> None:
    fast = measure_rcl.Load(1, share=0.8, to_posix=2, to_locks=1.5, to_combining=1)
    slow = measure_rcl.Load(1, share=0.3, to_posix=0.9, to_locks=0.8, to_combining=1)
    assert measure_rcl.holds([fast]) == (True, True)
    assert measure_rcl.holds([fast, slow]) == (False, True)
