# SPDX-License-Identifier: MIT
"""The measures of a program and of each of its sites that detectors use.

Times are in ns, shares are fractions of the program's time: the time in which its
threads ran, waited for locks or were in critical sections, or the run's duration if
that is longer. So a sleeping main thread and idle workers do not reduce a share.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from hasp.locks.native import REFERENCE
from hasp.profile.diagnosis.causes import gate, pending
from hasp.profile.diagnosis.causes.bystanders import without_cpu
from hasp.profile.diagnosis.causes.durations import middles
from hasp.profile.diagnosis.causes.holders import Part, holder_of, parts_of
from hasp.profile.diagnosis.causes.limits import (
    FEW_SAMPLES,
    MOST,
    OUTLIER,
    PART,
    SLICE,
)
from hasp.profile.diagnosis.causes.sleepers import changes_at_most, sleepers
from hasp.profile.diagnosis.cpu_time import cpu_time, granted_share
from hasp.profile.diagnosis.gain import busy
from hasp.profile.model.distribution import NOTHING
from hasp.profile.model.profile import (
    Kind,
    Lock,
    Operation,
    Profile,
    Site,
    SiteStats,
    Thread,
    sum_of,
)

LOCKS = (Kind.MUTEX, Kind.RWLOCK, Kind.SPINLOCK)
NONE = SiteStats(0, 0, NOTHING, NOTHING, NOTHING)
MOST_SPUN = 0.95  # share of the CPU time
QUIET = 0.9  # of the usable CPU time; other programs used hardly any
WORKS = 0.05  # of the busiest thread's time; less active threads are not workers


@dataclass(frozen=True)
class SiteFacts:
    """The measures of one site of locks."""

    site: Site
    facts: Facts

    @property
    def name(self) -> str:
        """The name of the lock from the source: `db.c:88 &db->mu`."""
        return self.site.name

    @cached_property
    def use(self) -> SiteStats:
        """All acquisitions."""
        return self.site.total or NONE

    def of(self, operation: Operation) -> SiteStats:
        """Return the statistics of one operation; zeros if it never happened."""
        return self.site.stats.get(operation, NONE)

    @cached_property
    def wait_ns(self) -> float:
        """All threads' waits in ns, including the estimate for unrecorded ones."""
        return float(self.use.wait.total_ns + self.use.unseen_wait_ns)

    @cached_property
    def hold_ns(self) -> float:
        """All threads' holds in ns."""
        return float(self.use.hold.total_ns)

    @cached_property
    def background(self) -> frozenset[int]:
        """The users in the background; none if they are the majority."""
        idle = self.facts.background & self.site.threads.keys()
        few = 2 * len(idle) <= len(self.site.threads)
        return frozenset(idle) if few else frozenset()

    @cached_property
    def costly_wait_ns(self) -> float:
        """The waits in ns without those of threads in the background."""
        waits = {n: self.thread_use(n).wait.total_ns for n in self.site.threads}
        idle_ns = sum(waits[number] for number in self.background)
        return self.wait_ns * (1 - idle_ns / (sum(waits.values()) or 1))

    @cached_property
    def owner_changes(self) -> int:
        """Acquisitions after another thread; the record extrapolates their number."""
        counts = [self.thread_use(n).acquisitions for n in self.site.threads]
        return min(self.use.owner_changes, changes_at_most(counts))

    @property
    def wait_share(self) -> float:
        """Waits as a share of the program's time."""
        return self.facts.share(self.wait_ns)

    @cached_property
    def working_ns(self) -> float:
        """All holds in ns, without the time that preemption may have added.

        A hold that is far longer than the 90th percentile, and about a time slice or
        longer, counts as one of the 90th percentile.
        """
        hold = self.use.hold
        usual = hold.quantile(0.9)
        if not usual or not hold.timed:
            return self.hold_ns
        most = max(OUTLIER * usual, SLICE / OUTLIER)
        total = kept = 0.0
        for count, middle in middles(hold):
            total += count * middle
            kept += count * (middle if middle <= most else usual)
        return self.hold_ns * kept / total if total else self.hold_ns

    @property
    def demand(self) -> float:
        """The demand on the hottest lock, relative to the demand on the CPUs.

        The demand on the lock is the time in its sections, the demand on the CPUs is
        the CPU time divided by their number (operational analysis). The larger one
        limits the program.
        """
        held = self.hottest.hold_ns if self.hottest else 0.0
        if self.hold_ns:
            own = self.facts.crowded and (self.facts.granted or 0.0) >= QUIET
            cut = without_cpu(self.site) if own else 0.0
            held *= min(self.working_ns / self.hold_ns, 1 - cut)
        cpus = min(max(self.facts.profile.cpus, 1), max(self.facts.workers, 1))
        needed = self.facts.useful_ns / cpus
        return held / needed if needed else 1.0

    @property
    def crowded(self) -> bool:
        """True if the program itself keeps holders from running.

        More threads than CPUs want to run, and the lock lets enough of them run at once
        to fill the CPUs. Otherwise other programs took the holders' CPU.
        """
        return self.facts.crowded and self.demand < 1 - PART

    @property
    def loss(self) -> float:
        """The share of the program's time that is saved if nobody waits for this site.

        If all CPUs are busy, waiting costs throughput only if the demand on the lock
        exceeds the demand on the CPUs, so that the lock is the bottleneck.
        """
        limited = max(self.facts.headroom, self.narrowness)
        return min(self.facts.share(self.costly_wait_ns), limited)

    @property
    def narrowness(self) -> float:
        """How much the lock limits the program, 0 to 1; half at equal demands."""
        return min(max(2 * (self.demand - (1 - PART)), 0.0), 1.0)

    @cached_property
    def hold_mean(self) -> float:
        """The mean hold in ns."""
        return self.hold_ns / self.use.acquisitions if self.use.acquisitions else 0.0

    @cached_property
    def wait_mean(self) -> float:
        """The mean wait of a contended acquisition in ns."""
        return self.use.wait.mean_ns or 0.0

    @property
    def contended(self) -> float:
        """The share of acquisitions that waited."""
        return (
            self.use.contended / self.use.acquisitions if self.use.acquisitions else 0
        )

    @property
    def rate(self) -> float:
        """Acquisitions per second."""
        return self.use.acquisitions / self.facts.seconds

    @cached_property
    def users(self) -> tuple[Thread, ...]:
        """The threads that acquired one of the locks."""
        known = self.facts.threads_by_number
        return tuple(known[n] for n in self.site.threads if n in known)

    @property
    def each_hold(self) -> float:
        """The mean hold in ns, of the function with the longest holds if known."""
        if unrecorded := pending.each_ns(self.site, self.facts.profile):
            return unrecorded
        holders = self.site.holders
        mean = holders[0].mean_ns if holders else None
        return mean or self.hold_mean

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The holds and waits of each function, the longest holder first."""
        return self.facts.parts.get(self.site.number, ())

    @cached_property
    def holder(self) -> str:
        """The function that holds the locks longest; "" if it is not known."""
        if pending.asleep_ns(self.site, self.facts.profile) and (
            outermost := pending.holder(self.site)
        ):
            return outermost
        return holder_of(self.site, self.parts)

    @cached_property
    def hottest(self) -> Lock | None:
        """The lock with the longest waits."""
        return max(
            self.site.locks[:1024],
            key=lambda lock: (lock.wait_ns, lock.acquisitions),
            default=None,
        )

    @cached_property
    def is_gate(self) -> bool:
        """True if a thread holds the locks on purpose, to keep others idle."""
        return gate.is_gate(self.site, self.facts.profile)

    def thread_use(self, number: int) -> SiteStats:
        """Return the statistics of one thread."""
        return sum_of(self.site.threads.get(number, {}).values()) or NONE

    @property
    def waiting(self) -> str:
        """The waiting threads in words, such as `3 of 4 threads wait`."""
        users = max(len(self.users), 1)
        mean = self.wait_ns / self.facts.busy_ns
        if mean >= 1 - MOST / 4:
            waiting = min(round(mean), users)
            verb = "waits" if waiting == 1 else "wait"
            return f"{waiting} of {users} threads {verb}"
        return f"threads wait {100 * self.wait_share:.0f} % of their time"


@dataclass(frozen=True)
class Facts:
    """The program."""

    profile: Profile

    @cached_property
    def sites(self) -> tuple[SiteFacts, ...]:
        """The sites of mutexes, rwlocks and spin locks that were used."""
        return tuple(
            SiteFacts(site, self)
            for site in self.profile.sites
            if site.kind in LOCKS
            and (use := site.total) is not None
            and (use.acquisitions or use.trylocks)
        )

    @cached_property
    def threads_by_number(self) -> Mapping[int, Thread]:
        """The recorded threads."""
        return {thread.number: thread for thread in self.profile.threads}

    @property
    def seconds(self) -> float:
        """The duration of the run."""
        return max(self.profile.duration_ns, 1) / 1e9

    @cached_property
    def busy_ns(self) -> float:
        """The part of the run in which a thread ran or waited for a lock."""
        least = self.cpu_ns / max(self.profile.cpus, 1)
        return max(busy(self.profile).ns, least, 1.0)

    @cached_property
    def cpu_ns(self) -> float:
        """The CPU time of all threads."""
        return cpu_time(self.profile)

    @cached_property
    def useful_ns(self) -> float:
        """The CPU time without that of waiters that spin.

        glibc's mutexes and rwlocks sleep; a waiter that was seen on a CPU had been
        woken.
        """
        replaced = self.profile.lock not in ("", REFERENCE)
        spun = 0.0
        for one in self.sites:
            if one.site.kind is Kind.SPINLOCK:
                spun += one.wait_ns
            elif replaced:
                spun += one.wait_ns * (one.use.spinning or 0.0)
        return max(self.cpu_ns - spun, self.cpu_ns * (1 - MOST_SPUN))

    @property
    def system_ns(self) -> float:
        """The kernel's part of the CPU time."""
        samples = self.profile.process_samples
        return float(samples[-1].system_ns) if samples else 0.0

    @cached_property
    def parked(self) -> float:
        """The share of waits that slept; the rest was spent spinning on a CPU."""
        spinning = slept = 0
        for one in self.sites:
            spinning += one.use.samples_spinning
            slept += one.use.samples_parked
        return slept / (spinning + slept) if spinning + slept else 1.0

    def _active(self, thread: Thread) -> float:
        waited = thread.cpu_ns + thread.wait_ns * self.parked
        return max(waited, float(thread.section_ns))

    @cached_property
    def background(self) -> frozenset[int]:
        """The threads that mostly sleep by themselves; none if the CPUs are short."""
        active = {one.number: self._active(one) for one in self.profile.threads}
        return frozenset() if self.crowded else sleepers(self.profile, active)

    @cached_property
    def active_ns(self) -> float:
        """The time that all threads ran, waited for locks or were in sections."""
        return sum(self._active(thread) for thread in self.profile.threads)

    @cached_property
    def workers(self) -> int:
        """The threads that were active, without those that only started others."""
        active = [self._active(thread) for thread in self.profile.threads]
        most = max(active, default=0.0)
        return sum(ns >= WORKS * most > 0 for ns in active)

    def share(self, ns: float) -> float:
        """Return a time as a share of the program's time, at most 1."""
        return min(ns / max(self.active_ns, self.busy_ns), 1.0)

    @cached_property
    def waited(self) -> float:
        """The share of the program's time that threads waited for locks, not gates."""
        return self.share(sum(one.wait_ns for one in self.sites if not one.is_gate))

    @cached_property
    def work_waited(self) -> float:
        """The same without the waits of threads in the background."""
        return self.share(
            sum(one.costly_wait_ns for one in self.sites if not one.is_gate)
        )

    @cached_property
    def running(self) -> float:
        """The mean number of CPUs that the program used while it was busy."""
        return self.cpu_ns / self.busy_ns

    @cached_property
    def crowded(self) -> bool:
        """True if more threads than CPUs were runnable, without waiting threads.

        False if other programs used the CPUs: then holders waited for these programs.
        False also if CPUs were idle: then the threads had just been woken.
        """
        runnable = self.profile.runnable
        granted = 1.0 if self.granted is None else self.granted
        if runnable is None or granted < MOST:
            return False
        cpus = max(self.profile.cpus, 1)
        return runnable > cpus and self.running >= (1 - PART) * granted * cpus

    @cached_property
    def granted(self) -> float | None:
        """The share of the usable CPU time that the threads got; None: unknown."""
        few = len(self.profile.process_samples) < FEW_SAMPLES / 2
        return None if few else granted_share(self.profile, self.cpu_ns)

    @cached_property
    def headroom(self) -> float:
        """The share of the CPUs that a remedy can fill with work.

        If threads fill all CPUs with useful work, waits for locks cost latency, but no
        throughput. Time in the kernel counts as free, because it may be a cost of the
        locks, as does the time of other programs, which may not run the next time.
        """
        if busy(self.profile).ready_share is None or not self.cpu_ns:
            return 1.0
        used = min(self.running / max(self.profile.cpus, 1), 1.0)
        kernel = self.system_ns / self.cpu_ns
        useful = self.useful_ns / self.cpu_ns
        return max(0.0, 1 - used * (1 - min(kernel, 1.0)) * useful)

    @cached_property
    def parts(self) -> Mapping[int, tuple[Part, ...]]:
        """The functions that held or waited, by site number."""
        return parts_of(self.profile)
