# SPDX-License-Identifier: MIT
"""What the rules measure: the numbers of a profile, normalised by the CPUs it may use.

Every field is a measure that a rule may name; its metadata says what it is, for the
documentation and for explanations. None means that it was not measured: a rule on it
can neither fire nor be refuted. Waiters are counted per CPU that the holder leaves to
others, C - 1: on the 64 CPUs of the lock study that is its "of 64" within rounding, and
on 2 CPUs the one thread that can wait without oversubscription still counts as all.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any


def _measure(about: str, unit: str = "") -> Any:
    """A field that is not known until somebody measures it."""
    return field(default=None, metadata={"about": about, "unit": unit})


class _Measured:
    """Measures by name."""

    def value(self, name: str) -> float | None:
        """The measure called `name`."""
        found: float | None = getattr(self, name)
        return found


@dataclass(frozen=True)
class SiteFeatures(_Measured):
    """One site's measures: of the lock there that is waited for most, where it says
    `lock`, else of all its locks together."""

    site: int
    name: str
    kind: str
    share: float | None = _measure(
        "thread time in its acquires, sections and releases (RCL's measure)", "share"
    )
    wait_share: float | None = _measure("thread time spent waiting for it", "share")
    waiters: float | None = _measure("waiting threads, mean", "threads")
    waiters_p95: float | None = _measure(
        "waiting threads, 95th percentile of the samples", "threads"
    )
    waiters_p95_share: float | None = _measure(
        "the same, per CPU that the holder leaves to others", "share"
    )
    waiters_share: float | None = _measure(
        "waiting threads per CPU that the holder leaves to others", "share"
    )
    waiters_variation: float | None = _measure(
        "variation of the waiting threads over ten parts of the run"
    )
    contended_share: float | None = _measure("acquisitions that had to wait", "share")
    acquisitions_per_s: float | None = _measure("acquisitions", "/s")
    operation_share: float | None = _measure(
        "CPU time that its acquisitions would take if none had to wait", "share"
    )
    hottest_share: float | None = _measure(
        "of all the program's acquisitions, those of the lock", "share"
    )
    owner_change_share: float | None = _measure(
        "acquisitions by another thread than the one before", "share"
    )
    hold_p50_ns: float | None = _measure("median section", "ns")
    hold_p99_ns: float | None = _measure("99th percentile of the sections", "ns")
    hold_tail: float | None = _measure(
        "99.9th percentile of the sections per median", "x"
    )
    handover_ns: float | None = _measure(
        "handover (release to next acquire, somebody waiting), mean", "ns"
    )
    handover_p99_ns: float | None = _measure("handover, 99th percentile", "ns")
    handover_ratio: float | None = _measure("handover, mean per median", "x")
    blocking_share: float | None = _measure(
        "waits on condition variables per acquisition", "share"
    )
    blocking_per_s: float | None = _measure("waits on condition variables", "/s")
    trylock_share: float | None = _measure("attempts that are trylocks", "share")
    trylock_failure_share: float | None = _measure("trylocks that fail", "share")
    trylock_failures_per_s: float | None = _measure("failing trylocks", "/s")
    trylock_run: float | None = _measure("longest run of failing trylocks", "trylocks")
    locks: float | None = _measure("locks of the site", "locks")
    creations_per_s: float | None = _measure("creations", "/s")
    created_late: float | None = _measure(
        "creations behind the first quarter of the run", "share"
    )
    lock_fault_share: float | None = _measure(
        "of the run, faulting in the pages of its locks", "share"
    )
    lock_fault_ns: float | None = _measure("faulting in the pages of its locks", "ns")
    nested_share: float | None = _measure(
        "acquisitions while another lock was held", "share"
    )
    misses: float | None = _measure("cache misses per section (PMU)", "misses")
    read_share: float | None = _measure(
        "acquisitions of a reader-writer lock that read", "share"
    )
    critical_response_share: float | None = _measure(
        "of an operation's response time, waiting and section", "share"
    )
    commit_share: float | None = _measure("elided sections that commit", "share")
    false_serialisation: float | None = _measure(
        "requests delayed by another lock on the same server (delegation)", "share"
    )
    server_use: float | None = _measure("use rate of the server (delegation)", "share")
    lock_cpu_share: float | None = _measure(
        "CPU time that waiting for it and taking it cost, at most", "share"
    )
    free_share: float | None = _measure(
        "busy part of the run, free though somebody waited", "share"
    )
    gain: float | None = _measure(
        "what another lock can gain there in throughput, at most", "share"
    )


@dataclass(frozen=True)
class Features(_Measured):
    """The program's measures, and those of its sites."""

    cpus: int = field(metadata={"about": "CPUs that it may use", "unit": "CPUs"})
    nodes: int
    sites: tuple[SiteFeatures, ...]
    lock: str = ""  # that it ran under
    threads: int = 0
    section_share: float | None = _measure(
        "thread time in critical sections, nested ones once", "share"
    )
    active_share: float | None = _measure(
        "the same, of the time in which threads ran or waited", "share"
    )
    share_growth: float | None = _measure(
        "section share at the most threads per that at the fewest", "x"
    )
    lock_variation: float | None = _measure(
        "standard deviation of the performance over locks, per mean", "share"
    )
    runnable_per_cpu: float | None = _measure(
        "threads that run, are ready or wait for a lock, typically, per CPU", "x"
    )
    ready_share: float | None = _measure(
        "CPUs that its threads ran on or were ready for, while any did", "share"
    )
    present_parks: float | None = _measure(
        "whether waiters of the lock that it ran under sleep: 1, else 0"
    )
    cpu_granted: float | None = _measure(
        "CPU time that the threads got, of what they were ready to use", "share"
    )
    preempted_hold_share: float | None = _measure(
        "long holds (over 100 us) with an involuntary switch", "share"
    )
    migrations_per_s: float | None = _measure("migrations seen", "/s")
    fault_share: float | None = _measure("CPU time in page faults", "share")
    counters: float | None = _measure("whether cache misses were counted: 1, else 0")
    memory_stalls: float | None = _measure(
        "stalled cycles per instruction outside lock functions (PMU)"
    )
    interleave_gain: float | None = _measure(
        "what interleaving memory over the nodes gains", "share"
    )
    fewer_threads_gain: float | None = _measure(
        "performance at the best smaller number of threads, more than at the most",
        "share",
    )
    spin_outside: float | None = _measure(
        "CPU time in the program's own loops before the lock (hybrid locks)", "share"
    )


@cache
def measures() -> dict[str, tuple[str, str, str]]:
    """Every measure: its scope (`program` or `site`), what it is, and its unit."""
    found = {}
    for scope, kind in (("program", Features), ("site", SiteFeatures)):
        for item in fields(kind):
            if item.metadata:
                found[item.name] = (
                    scope,
                    item.metadata["about"],
                    item.metadata["unit"],
                )
    return found
