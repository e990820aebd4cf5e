# SPDX-License-Identifier: MIT
"""Find busy locks of different threads in one cache line."""

from __future__ import annotations

import numpy as np

from hasp.profile.model.cache_lines import SharedLine
from hasp.profile.model.sites import Sites
from hasp.profile.model.thread_shares import ThreadShares
from hasp.profile.trace.format import LockKind

LINE = 64  # bytes
HELD = (LockKind.MUTEX, LockKind.RWLOCK, LockKind.SPINLOCK)
BUSY_SHARE = 0.005  # of all acquisitions, from which a lock is busy
FEWEST = 1000  # acquisitions of a busy lock
MOST_LOCKS = 4096  # busy locks that are compared
MOST_PAIRS = 16  # of one site
NO_COUNTERS = (
    "which data share a cache line with a mutex is not measured; `perf c2c` shows it "
    "on processors with the counters for it"
)


def shared_lines(
    sites: Sites, shares: ThreadShares
) -> dict[int, tuple[SharedLine, ...]]:
    """Return the pairs of each site, the busiest first."""
    found: dict[int, list[SharedLine]] = {}
    for one, other in _pairs(sites):
        if not _has_several_threads(one, other, shares):
            continue
        for lock, neighbour in ((one, other), (other, one)):
            acquisitions = sites.sums.sums["acquisitions"]
            pair = SharedLine(
                lock=lock,
                neighbour=neighbour,
                neighbour_site=int(sites.of[neighbour]),
                acquisitions=int(acquisitions[lock]),
                neighbour_acquisitions=int(acquisitions[neighbour]),
            )
            found.setdefault(int(sites.of[lock]), []).append(pair)
    return {site: _busiest(pairs) for site, pairs in found.items()}


def _busiest(pairs: list[SharedLine]) -> tuple[SharedLine, ...]:
    def least(pair: SharedLine) -> int:
        return min(pair.acquisitions, pair.neighbour_acquisitions)

    return tuple(sorted(pairs, key=least, reverse=True)[:MOST_PAIRS])


def _pairs(sites: Sites) -> list[tuple[int, int]]:
    """Return the pairs of busy locks in one line, by address."""
    records, acquisitions = sites.sums.records, sites.sums.sums["acquisitions"]
    enough = max(FEWEST, BUSY_SHARE * float(acquisitions.sum()))
    held = np.isin(records["kind"], [int(kind) for kind in HELD])
    busy = np.flatnonzero(held & (acquisitions >= enough))
    busy = busy[np.argsort(-acquisitions[busy], kind="stable")][:MOST_LOCKS]
    address = records["address"].astype(np.uint64)
    busy = busy[np.argsort(address[busy], kind="stable")]
    found = []
    for index, lock in enumerate(busy.tolist()):
        last = (int(address[lock]) + max(int(records[lock]["bytes"]), 1) - 1) // LINE
        for other in busy[index + 1 :].tolist():
            if int(address[other]) // LINE > last:
                break
            if _live_together(records[lock], records[other]):
                found.append((lock, other))
    return found


def _live_together(one: np.void, other: np.void) -> bool:
    return all(
        not a["died"] or a["died"] > b["born"] for a, b in ((one, other), (other, one))
    )


def _has_several_threads(one: int, other: int, shares: ThreadShares) -> bool:
    """Return true if different threads use the two locks, as far as is known."""
    mine, theirs = (set(shares.of(lock)[0].tolist()) for lock in (one, other))
    return not mine or not theirs or len(mine | theirs) > 1
