# SPDX-License-Identifier: MIT
"""Provides two snapshots of a running server's trace."""

from __future__ import annotations

from pathlib import Path

import pytest
from trace_samples import BEGIN, SECOND, Synthetic

from hasp.profile.trace.format import End, LockKind, Operation

HOT, COLD = 0x1000, 0x2000  # return addresses of the two sites
MUTEX = LockKind.MUTEX


def server(
    at: int, path: Path, holds: dict[str, int] | None = None, **of_first_thread: int
) -> Path:
    """Return a program after `at` seconds, with two sites, a waiter and a holder."""
    trace = Synthetic(at * SECOND)
    trace.set_header(ended=End.RUNNING)
    hot, cold = trace.stack(HOT), trace.stack(COLD)
    locks = [trace.lock(site=site, address=8 * site) for site in (hot, cold)]
    holding = {"depth": 1, "held": [locks[0]], "name": b"holder", "tid": 11}
    holding |= holds or {}
    trace.thread(ended=0, section_ticks=at * SECOND // 2, timed=at, **holding)
    waiting = {"waiting_for": locks[0], "waiting_to": Operation.LOCK, "tid": 12}
    waiting["waiting_since"] = BEGIN + at * SECOND - SECOND // 4
    trace.thread(ended=0, **{**waiting, **of_first_thread})
    for site, each_second in ((hot, 1000), (cold, 5000)):
        trace.use(
            site=site,
            thread=1,
            acquisitions=at * each_second,
            contended=at * 100 if site == hot else 0,
            wait_ticks=at * SECOND // 10 if site == hot else 0,
            hold_ticks=at * SECOND // 2 if site == hot else at * SECOND // 100,
        )
    return trace.write(path)


@pytest.fixture
def samples(tmp_path) -> tuple[Path, Path]:
    return server(2, tmp_path / "before"), server(4, tmp_path / "after")
