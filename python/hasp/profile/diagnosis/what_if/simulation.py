# SPDX-License-Identifier: MIT
"""Simulate a network of threads and locks for some thousand acquisitions.

Locks are granted in the order of arrival. A released lock with waiters stays
unavailable for a recorded handover time. CPUs are not simulated: the recorded times
contain their effect, and prediction.py limits the result by them.
"""

from __future__ import annotations

import random
from bisect import bisect
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import accumulate

from hasp.profile.diagnosis.what_if.network import Customer, Network, Station
from hasp.profile.model.distribution import Distribution

EVENTS = 100_000
WARM_UP = 0.1  # of the events, which are not counted
CUSTOMERS = 512  # simulated at most; more make no difference to a saturated lock


@dataclass(frozen=True)
class Treatment:
    """How the locks of a site differ from the recorded ones."""

    hold: float = 1.0
    outside: float = 0.0
    split: int = 1
    removed: bool = False


@dataclass
class Result:
    """The figures of one simulation; times in ns."""

    rates: list[float] = field(default_factory=list)  # visits per ns, by customer
    used: dict[int, float] = field(default_factory=dict)  # the busiest lock's, by site
    wait_ns: dict[int, float] = field(default_factory=dict)  # mean, by site


class _Lock:
    """A lock for one writer or several readers; readers overtake waiting writers."""

    __slots__ = ("busy_ns", "exclusive", "queue", "readers", "since")

    def __init__(self) -> None:
        self.exclusive = False
        self.readers = 0
        self.queue: deque[tuple[_Thread, bool]] = deque()
        self.busy_ns = 0.0
        self.since = 0.0


class _Thread:
    __slots__ = ("arrived", "customer", "steps", "visits")

    def __init__(self, customer: int) -> None:
        self.customer = customer
        self.visits = 0
        self.arrived = 0.0
        self.steps: Iterator[_Step] = iter(())


# What a thread does next: pass time, or acquire or release a lock.
_Step = tuple[str, float, "tuple[int, _Lock, bool] | None"]
TIME, ACQUIRE, RELEASE, DONE = "time", "acquire", "release", "done"


class Simulation:
    """One run; `steady` makes the times outside of locks constant, not exponential."""

    def __init__(
        self,
        net: Network,
        treatments: Mapping[int, Treatment],
        *,
        steady: bool,
    ) -> None:
        self._net = net
        self._treatments = defaultdict(Treatment, treatments)
        self._steady = steady
        self._events = EVENTS
        self._now = 0.0
        self._heap: list[tuple[float, int, _Thread]] = []
        self._sequence = 0
        self._locks = {number: self._made(s) for number, s in net.stations.items()}
        self._draw = {n: _Sampler(s.hold) for n, s in net.stations.items()}
        self._handover = {n: _Sampler(s.handover) for n, s in net.stations.items()}
        self._waits: dict[int, list[float]] = defaultdict(lambda: [0.0, 0.0])
        self._random = random.Random(1)

    def run(self) -> Result:
        """Simulate, and return the figures after the warm-up."""
        threads = self._threads()
        for thread in threads:
            self._advance(thread)
        began = self._turn(int(self._events * WARM_UP))
        for thread in threads:
            thread.visits = 0
        for locks, _ in self._locks.values():
            for lock in locks:
                lock.busy_ns, lock.since = 0.0, began
        self._waits.clear()
        return self._result(threads, self._turn(self._events) - began)

    def _result(self, threads: list[_Thread], lasted: float) -> Result:
        result = Result()
        lasted = max(lasted, 1.0)
        visits = [0] * len(self._net.customers)
        number = [0] * len(self._net.customers)
        for thread in threads:
            visits[thread.customer] += thread.visits
            number[thread.customer] += 1
        result.rates = [
            seen / max(there, 1) / lasted
            for seen, there in zip(visits, number, strict=True)
        ]
        for site, (locks, _) in self._locks.items():
            result.used[site] = min(1.0, max(lock.busy_ns for lock in locks) / lasted)
        for site, (count, total) in self._waits.items():
            result.wait_ns[site] = total / count if count else 0.0
        return result

    def _made(self, station: Station) -> tuple[list[_Lock], list[float]]:
        split = self._treatments[station.site].split
        weights = [w for w in station.weights for _ in range(split)]
        return [_Lock() for _ in weights], list(accumulate(weights))

    def _threads(self) -> list[_Thread]:
        whole = sum(customer.population for customer in self._net.customers)
        scale = min(1.0, CUSTOMERS / max(whole, 1))
        threads = []
        for place, customer in enumerate(self._net.customers):
            for _ in range(max(1, round(scale * customer.population))):
                thread = _Thread(place)
                thread.steps = self._life(customer)
                threads.append(thread)
        return threads

    def _life(self, customer: Customer) -> Iterator[_Step]:
        sites = list(customer.visits)
        sums = list(accumulate(customer.visits[site].number for site in sites))
        outside = customer.outside_ns / sums[-1]
        draw = self._random.random
        exponential = self._random.expovariate
        yield TIME, outside * draw(), None
        while True:
            mean = outside
            yield TIME, mean if self._steady else mean and exponential(1 / mean), None
            site = sites[bisect(sums, draw() * sums[-1], 0, len(sums) - 1)]
            visit = customer.visits[site]
            yield from self._section(site, visit.hold_ns, visit.reads, customer)
            yield DONE, 0.0, None

    def _section(
        self, site: int, mean: float, reads: float, customer: Customer
    ) -> Iterator[_Step]:
        station, treatment = self._net.stations[site], self._treatments[site]
        draw = self._random.random
        locks, sums = self._locks[site]
        shared = station.hold_shares and draw() < reads
        held = (site, locks[bisect(sums, draw() * sums[-1], 0, len(sums) - 1)], shared)
        if not treatment.removed:
            yield ACQUIRE, 0.0, held
        section = mean * self._draw[site](draw()) * treatment.hold
        yield TIME, section * (1 - treatment.outside), None
        for inner, times in station.inner.items():
            ns = customer.inner_hold_ns.get(inner)
            if ns is not None:
                for _ in range(int(times + draw())):
                    yield from self._section(inner, ns, 0.0, customer)
        if not treatment.removed:
            yield RELEASE, 0.0, held
        if treatment.outside:
            yield TIME, section * treatment.outside, None

    def _turn(self, events: int) -> float:
        for _ in range(events):
            if not self._heap:
                break
            self._now, _, thread = heappop(self._heap)
            self._advance(thread)
        return self._now

    def _at(self, when: float, thread: _Thread) -> None:
        self._sequence += 1
        heappush(self._heap, (when, self._sequence, thread))

    def _advance(self, thread: _Thread) -> None:
        """Continue a thread until it has to wait."""
        while True:
            kind, ns, held = next(thread.steps)
            if held is None:
                if kind is DONE:
                    thread.visits += 1
                    continue
                self._at(self._now + ns, thread)
                return
            if kind is RELEASE:
                self._release(held)
            elif not self._acquire(thread, held):
                return

    def _acquire(self, thread: _Thread, held: tuple[int, _Lock, bool]) -> bool:
        site, lock, shared = held
        self._waits[site][0] += 1
        if lock.exclusive or (lock.readers and not shared):
            thread.arrived = self._now
            lock.queue.append((thread, shared))
            return False
        self._enter(lock, shared)
        return True

    def _enter(self, lock: _Lock, shared: bool) -> None:
        if not lock.readers:
            lock.since = self._now
        lock.exclusive = not shared
        lock.readers += shared

    def _release(self, held: tuple[int, _Lock, bool]) -> None:
        site, lock, shared = held
        lock.readers -= shared
        if lock.readers:
            return
        lock.exclusive = False
        lock.busy_ns += self._now - lock.since
        if not lock.queue:
            return
        mean = self._net.stations[site].handover_ns
        start = self._now + mean * self._handover[site](self._random.random())
        first = lock.queue[0][1]
        granted = [one for one in lock.queue if one[1]] if first else [lock.queue[0]]
        for one in granted:
            lock.queue.remove(one)
            self._enter(lock, one[1])
            self._waits[site][1] += start - one[0].arrived
            self._at(start, one[0])


class _Sampler:
    """Draws durations from a histogram, as multiples of its mean."""

    def __init__(self, times: Distribution) -> None:
        counts = list(times.counts)
        while counts and not counts[-1]:
            counts.pop()
        edges = times.edges_ns
        self._middles = [(edges[i] + edges[i + 1]) / 2 for i in range(len(counts))]
        if counts:
            self._middles[-1] = min(
                self._middles[-1], max(times.max_ns, edges[len(counts) - 1])
            )
        self._sums = list(accumulate(counts))
        weighed = sum(m * c for m, c in zip(self._middles, counts, strict=True))
        self._mean = weighed / self._sums[-1] if self._sums and self._sums[-1] else 0.0

    def __call__(self, uniform: float) -> float:
        if not self._mean:
            return 1.0
        place = bisect(self._sums, uniform * self._sums[-1])
        return self._middles[min(place, len(self._middles) - 1)] / self._mean
