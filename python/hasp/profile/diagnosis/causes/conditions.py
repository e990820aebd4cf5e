# SPDX-License-Identifier: MIT
"""The measures of a site of condition variables that detectors use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from hasp.profile.diagnosis.causes.durations import share_of_longest
from hasp.profile.diagnosis.causes.facts import NONE, Facts, SiteFacts
from hasp.profile.diagnosis.causes.holders import function_of
from hasp.profile.diagnosis.causes.limits import CALL, FEW, MOST, WAKE
from hasp.profile.diagnosis.causes.queueing import explained
from hasp.profile.model.profile import Kind, Operation, Site, SiteStats

REGULAR = 0.1  # of the most active thread's operations


@dataclass(frozen=True)
class ConditionFacts:
    """One site of condition variables."""

    site: Site
    facts: Facts

    @property
    def name(self) -> str:
        """The name of the condition variable in the source."""
        return self.site.name

    @cached_property
    def use(self) -> SiteStats:
        """The waits; `acquisitions` is their number."""
        return self.site.stats.get(Operation.WAIT, NONE)

    @property
    def each_wait(self) -> float:
        """The mean wait in ns."""
        return self.use.wait.total_ns / max(self.use.acquisitions, 1)

    @property
    def wakes(self) -> int:
        """Waits that a signal or broadcast ended."""
        return max(self.use.acquisitions - self.use.timeouts, 0)

    @property
    def heard_broadcasts(self) -> float:
        """The broadcasts while threads waited; one at least."""
        use = self.use
        sent = max(use.signals + use.broadcasts, 1)
        empty = min((use.empty_signals or 0) / sent, 1.0)
        return max(use.broadcasts * (1 - empty), 1.0)

    @cached_property
    def function(self) -> str:
        """The function that waits."""
        parts = self.facts.parts.get(self.site.number, ())
        known = [part for part in parts if part.function]
        if known:
            return max(known, key=lambda part: part.waits).function
        return function_of(self.site.first)

    @cached_property
    def again(self) -> float:
        """The share of wake-ups after which the thread waited again.

        A broadcast, or a signal, is for one piece of work: further wake-ups are in
        vain.
        """
        if not self.wakes or self.works:
            return 0.0
        if self.use.futile_wakes is not None:
            return min(self.use.futile_wakes / self.wakes, 1.0)
        useful = self.use.signals + self.use.broadcasts
        return max(0.0, 1 - useful / self.wakes)

    @property
    def works(self) -> bool:
        """True if woken threads mostly work under the mutex.

        They hold it for longer than the system call that woke them took."""
        again = [one.of(Operation.RELOCK).hold.quantile(0.5) for one in self.mutexes]
        return bool(again) and all((held or 0.0) >= CALL for held in again)

    @cached_property
    def slept_through(self) -> float:
        """The share of the waiting time in waits that timed out after a lost signal.

        A signal without a waiter is lost; a thread that waits without checking first
        sleeps until the time-out. No wait is longer than one that timed out.
        """
        use = self.use
        lost = use.empty_signals or 0
        if use.timeouts < FEW or lost < max(use.timeouts, self.wakes):
            return 0.0
        return share_of_longest(use.wait, use.timeouts)

    @cached_property
    def waiters(self) -> frozenset[int]:
        """The numbers of the threads that wait regularly."""
        return self._threads(lambda use: use.acquisitions)

    @cached_property
    def wakers(self) -> frozenset[int]:
        """The numbers of the threads that signal regularly."""
        return self._threads(lambda use: use.signals + use.broadcasts)

    def _threads(self, count: Callable[[SiteStats], int]) -> frozenset[int]:
        counts = {
            thread: count(by_operation.get(Operation.WAIT, NONE))
            for thread, by_operation in self.site.threads.items()
        }
        most = max(counts.values(), default=0)
        return frozenset(n for n, much in counts.items() if much > REGULAR * most)

    @property
    def asleep(self) -> float:
        """The share of the run for which the threads that wait regularly did so."""
        whole = max(len(self.waiters), 1) * max(self.facts.profile.duration_ns, 1)
        return min(self.use.wait.total_ns / whole, 1.0)

    @property
    def waking_share(self) -> float:
        """The time for all wake-ups, one after the other, as a share of the run."""
        run = max(self.facts.profile.duration_ns, 1)
        return min(self.wakes * WAKE / run, 1.0)

    @property
    def idle(self) -> float:
        """The share of the run that is left if one CPU does all that is computed.

        The kernel's time does not count, because sleeping and waking are its work.
        """
        computed = self.facts.cpu_ns - self.facts.system_ns
        return max(0.0, 1 - computed / max(self.facts.profile.duration_ns, 1))

    @cached_property
    def mutexes(self) -> tuple[SiteFacts, ...]:
        """The mutexes that its waits probably release and acquire again.

        The trace does not contain them, but each such wait ends with an acquisition.
        """
        least = MOST * self.use.acquisitions
        return tuple(
            one
            for one in self.facts.sites
            if one.of(Operation.RELOCK).acquisitions >= max(least, 1)
        )

    @property
    def cost_share(self) -> float:
        """The cost of all wake-ups, as a share of the program's time.

        A woken thread also acquires the mutex, and takes the CPU from its holder. Other
        threads' waits count if there is a wake-up for each.
        """
        waits = 0.0
        if len(self.mutexes) == 1:
            mutex = self.mutexes[0]
            for_each = self.wakes / max(mutex.use.contended, 1)
            # The thread that wakes others mostly holds the mutex meanwhile.
            waking = min(self.wakes * CALL / max(mutex.hold_ns, 1.0), 1.0)
            other = 1 - explained(mutex) * (1 - waking)
            waits = mutex.wait_ns * min(for_each, 1.0) * other
        return self.facts.share(self.wakes * WAKE + waits)


def conditions_of(facts: Facts) -> tuple[ConditionFacts, ...]:
    """Return the sites of condition variables that threads waited for."""
    found = (
        ConditionFacts(site, facts)
        for site in facts.profile.sites
        if site.kind is Kind.CONDITION
    )
    return tuple(one for one in found if one.use.acquisitions)
