# SPDX-License-Identifier: MIT
"""The limits that Hasp's locks should reach, as data.

Each target limits one figure of one case for some of the locks; the first one that
applies to a lock counts. Ratios are to glibc's in the same interleaved run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hasp.locks.native import LockInfo

Which = Callable[[LockInfo], bool]

MOST = "at most"
LEAST = "at least"

# The figures of a row that can have a limit.
RATIO = "ratio"
FAIRNESS_RATIO = "fairness_ratio"
STARVATION_RATIO = "starvation_ratio"
BATON_RATIO = "baton_ratio"
EXTRA = "extra"
FINISHES = "finishes"  # not a figure: the runs end by themselves


@dataclass(frozen=True)
class Target:
    """A limit; with `low_bound` it applies to the lower end of the interval."""

    case: str
    threads: int | None  # None: any count
    figure: str
    which: Which
    sense: str = MOST
    limit: float = 0.0
    unbiased_limit: float | None = None  # if biased release is unavailable
    low_bound: bool = False


@dataclass(frozen=True)
class BestTarget:
    """A set of limits; at least one of the locks must meet all of them."""

    case: str
    which: Which
    words: str  # describes these locks
    least_ratio: float
    most_starvation_ratio: float


def _default(lock: LockInfo) -> bool:
    return lock.default


def _every(lock: LockInfo) -> bool:
    return not lock.is_reference


def _parks(lock: LockInfo) -> bool:
    return lock.parks and not lock.is_reference


def _parks_in_order(lock: LockInfo) -> bool:
    return _parks(lock) and lock.fifo


def _parks_and_bypasses(lock: LockInfo) -> bool:
    return _parks(lock) and not lock.fifo


def _spins(lock: LockInfo) -> bool:
    return lock.collapses


def _hardened(lock: LockInfo) -> bool:
    return lock.trylock_hardened and not lock.is_reference


def _outside(lock: LockInfo) -> bool:
    return bool(lock.outside_bytes or lock.node_bytes)


def _named(*names: str) -> Which:
    return lambda lock: lock.name in names


# The cost of the pair depends on the atomic operations on its path: one and a store,
# two, or a lock within a lock.
_one_atomic = _named(
    *("spinlock", "tas", "ttas", "ttas-backoff", "backoff", "hbo"),
    *("ticket", "ticket-backoff", "twa", "fissile"),
)
_clh = _named("clh", "clh-park", "clh-prefetch")
_compact = _named("cna", "shfl", "shfl-park")  # NUMA-aware, but with one level
_other_two_level = _named("glk", "u-scl")


def _two_level(lock: LockInfo) -> bool:
    hierarchical = lock.category == "hierarchical" and not _compact(lock)
    return hierarchical or _other_two_level(lock)


TARGETS = (
    Target("uncontended", 2, RATIO, _default, MOST, 0.65, unbiased_limit=0.90),
    Target("uncontended", 2, RATIO, _one_atomic, MOST, 0.65),
    Target("uncontended", 2, RATIO, _named("partitioned"), MOST, 0.75),
    Target("uncontended", 2, RATIO, _clh, MOST, 0.85),
    Target("uncontended", 2, RATIO, _named("hemlock"), MOST, 1.1),
    Target("uncontended", 2, RATIO, _two_level, MOST, 1.6),
    Target("uncontended", 2, RATIO, _every, MOST, 1.0),
    Target("uncontended", 1, RATIO, _default, MOST, 1.1),
    Target("uncontended", 1, RATIO, _every, MOST, 1.6),
    Target("contended", None, RATIO, _default, LEAST, 0.95),
    Target("contended", None, FAIRNESS_RATIO, _default, LEAST, 0.5),
    Target("oversubscribed", None, RATIO, _default, LEAST, 0.9, low_bound=True),
    Target("oversubscribed", None, RATIO, _parks_and_bypasses, LEAST, 0.5),
    Target("think_time", None, RATIO, _default, LEAST, 0.95),
    # A strict-FIFO lock pays a context switch per handover, like the ring.
    Target("oversubscribed", None, BATON_RATIO, _parks_in_order, LEAST, 0.8),
    Target("oversubscribed", None, STARVATION_RATIO, _default, MOST, 1.0),
    Target("oversubscribed", None, STARVATION_RATIO, _parks_in_order, MOST, 1.0),
    Target("trylock", None, RATIO, _hardened, LEAST, 1.0),
    Target("trylock_hammer", None, RATIO, _hardened, LEAST, 1.0),
    Target("condvar_ping_pong", None, RATIO, _default, MOST, 1.0),
    Target("condvar_ping_pong", None, RATIO, _parks, MOST, 1.5),
    Target("condvar_ping_pong", None, FINISHES, _spins),
    Target("broadcast_queue", None, RATIO, _default, MOST, 0.6),
    Target("broadcast_queue", None, RATIO, _parks_in_order, MOST, 6.0),
    Target("broadcast_queue", None, RATIO, _parks_and_bypasses, MOST, 1.5),
    # Half a byte allows for a single extra page over 100,000 mutexes.
    Target("bytes_per_mutex", None, EXTRA, _default, MOST, 0.5),
    Target("bytes_per_mutex", None, EXTRA, _outside, MOST, 64.0),
    Target("bytes_per_mutex", None, EXTRA, _every, MOST, 8.0),
    Target("create_destroy", 1, RATIO, _default, MOST, 1.1),
    Target("create_destroy", None, RATIO, _default, MOST, 1.0),
    Target("create_destroy", None, RATIO, _every, MOST, 1.5),
    Target("startup", None, EXTRA, _every, MOST, 1.0),
    # Reader-writer locks, spin locks and barriers.
    Target("read_pair", 2, RATIO, _default, MOST, 0.7),
    Target("write_pair", 2, RATIO, _default, MOST, 1.0),
    Target("reads_100", 2, RATIO, _default, LEAST, 1.5),
    Target("spin", 8, RATIO, _default, LEAST, 5.0),
    Target("barrier", 2, RATIO, _default, MOST, 0.5),
    Target("barrier", 8, RATIO, _default, MOST, 1.0),
)

BEST_TARGETS = (
    BestTarget(
        "oversubscribed",
        _parks_and_bypasses,
        "the best parking lock that may bypass",
        least_ratio=1.0,
        most_starvation_ratio=1.0,
    ),
)
