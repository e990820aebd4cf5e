# SPDX-License-Identifier: MIT
"""Statistics of all locks of a trace together, without names."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hasp.profile.model.clock import clock_of
from hasp.profile.model.pending import pending_of
from hasp.profile.model.profile import SiteStats, sum_of
from hasp.profile.model.site_stats import HOLDING, OPERATIONS, StatsReader
from hasp.profile.trace.format import ChunkKind, LockKind
from hasp.profile.trace.reader import Trace

LOCKS = (LockKind.MUTEX, LockKind.RWLOCK, LockKind.SPINLOCK)


@dataclass(frozen=True)
class LockStatistics:
    """Totals over all mutexes, rwlocks and spinlocks; None if nothing was measured."""

    spent_ns: int  # waiting and holding, all threads
    contended_share: float | None
    wait_p50_ns: float | None  # of contended acquisitions
    wait_p99_ns: float | None
    wait_max_ns: float | None
    hold_p50_ns: float | None
    hold_p99_ns: float | None
    hold_max_ns: float | None


def statistics_of(trace: Trace) -> LockStatistics:
    """Return the totals. No stack is resolved, so this is fast."""
    reader = StatsReader(clock_of(trace.header, []))
    records = np.concatenate([trace.all(ChunkKind.SITE_STATS), pending_of(trace).stats])
    records = records[np.isin(records["lock_kind"], [int(kind) for kind in LOCKS])]
    total = sum_of(
        reader.use(records[records["operation"] == theirs], ours)
        for theirs, ours in OPERATIONS.items()
        if ours in HOLDING
    )
    assert total is not None
    return _of(total)


def _of(use: SiteStats) -> LockStatistics:
    wait, hold = use.wait, use.hold
    return LockStatistics(
        spent_ns=wait.total_ns + hold.total_ns,
        contended_share=use.contended / use.acquisitions if use.acquisitions else None,
        wait_p50_ns=wait.quantile(0.5),
        wait_p99_ns=wait.quantile(0.99),
        wait_max_ns=float(wait.max_ns) if wait.timed else None,
        hold_p50_ns=hold.quantile(0.5),
        hold_p99_ns=hold.quantile(0.99),
        hold_max_ns=float(hold.max_ns) if hold.timed else None,
    )
