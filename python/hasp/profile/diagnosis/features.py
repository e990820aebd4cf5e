# SPDX-License-Identifier: MIT
"""The measures of a profile that rules use, normalised by the number of CPUs.

Every optional field is a measure that rules may name; measures.toml describes it. None
means not measured; rules that use it have no result. Waiters are counted per CPU other
than the holder's, C - 1: on the 64 CPUs of the lock study that is its "of 64" within
rounding, and on 2 CPUs the one thread that can wait without oversubscription still
counts fully.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


class _Measured:
    """Access to measures by name."""

    def value(self, name: str) -> float | None:
        """Return the measure called `name`."""
        found: float | None = getattr(self, name)
        return found


@dataclass(frozen=True)
class SiteFeatures(_Measured):
    """The measures of one site, as sums over all its locks.

    The number of waiters and `hottest_share` are those of its most contended lock.
    """

    site: int
    name: str
    kind: str
    share: float | None = None
    wait_share: float | None = None
    waiters: float | None = None
    waiters_p95: float | None = None
    waiters_p95_share: float | None = None
    waiters_share: float | None = None
    waiters_variation: float | None = None
    contended_share: float | None = None
    acquisitions_per_s: float | None = None
    operation_share: float | None = None
    hottest_share: float | None = None
    owner_change_share: float | None = None
    hold_p50_ns: float | None = None
    hold_p99_ns: float | None = None
    hold_tail: float | None = None
    handover_ns: float | None = None
    handover_p99_ns: float | None = None
    handover_ratio: float | None = None
    blocking_share: float | None = None
    blocking_per_s: float | None = None
    trylock_share: float | None = None
    trylock_failure_share: float | None = None
    trylock_failures_per_s: float | None = None
    trylock_run: float | None = None
    locks: float | None = None
    creations_per_s: float | None = None
    created_late: float | None = None
    lock_fault_share: float | None = None
    lock_fault_ns: float | None = None
    nested_share: float | None = None
    misses: float | None = None
    read_share: float | None = None
    greedy_share: float | None = None
    passed_over: float | None = None
    critical_response_share: float | None = None
    commit_share: float | None = None
    never_commits: float | None = None
    held_share: float | None = None
    false_serialisation: float | None = None
    server_use: float | None = None
    lock_cpu_share: float | None = None
    free_share: float | None = None
    gain: float | None = None


@dataclass(frozen=True)
class BarrierWaits:
    """The waits at the barriers of one site."""

    site: int
    name: str
    wait_share: float  # of the threads' time
    wait_p50_ns: float


@dataclass(frozen=True)
class Features(_Measured):
    """The measures of the program and of its sites."""

    cpus: int
    nodes: int
    sites: tuple[SiteFeatures, ...]
    lock: str = ""  # the algorithm of mutexes in the run
    other_locks: Mapping[str, str] = field(default_factory=dict)  # by kind
    barriers: tuple[BarrierWaits, ...] = ()
    threads: int = 0
    section_share: float | None = None
    active_share: float | None = None
    share_growth: float | None = None
    lock_variation: float | None = None
    runnable_per_cpu: float | None = None
    wanting_per_cpu: float | None = None
    ready_share: float | None = None
    cpu_granted: float | None = None
    preempted_hold_share: float | None = None
    migrations_per_s: float | None = None
    fault_share: float | None = None
    counters: float | None = None
    transactions: float | None = 0.0
    memory_stalls: float | None = None
    interleave_gain: float | None = None
    fewer_threads_gain: float | None = None
    spin_outside: float | None = None
