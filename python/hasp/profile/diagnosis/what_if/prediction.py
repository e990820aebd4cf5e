# SPDX-License-Identifier: MIT
"""Predict what a program gains from a change to its locks.

The recorded threads and locks are simulated twice, with and without the change, and
their throughputs are compared, as a virtual speed-up does (Curtsinger and Berger,
"Coz: Finding Code that Counts with Causal Profiling", SOSP 2015). Throughput is
the work of the threads that use the changed locks, weighted by how often they do so.
The variation of the time between acquisitions was not recorded. Two assumptions about
it, none and exponential, give the range; the result lies between them where the
simulated waits without a change equal the recorded ones. The CPUs limit the result: the
program cannot use more than all of them.

For shorter waits (`wait`) there is no mechanism to simulate. The result is the bound of
operational analysis: the time saved by the shorter waits, limited by the time that the
sections of one lock take one after another, and by the CPUs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hasp.profile.diagnosis.what_if.change import Change, What
from hasp.profile.diagnosis.what_if.network import Customer, Network, network
from hasp.profile.diagnosis.what_if.simulation import Result, Simulation, Treatment
from hasp.profile.model.profile import Profile, Site

GAIN_LIMIT = 1000.0
STEADY = (False, True)  # the times between acquisitions
NO_LOCK = "no lock"
SATURATED = 0.9  # utilisation of a lock that limits the throughput
IDLE = 0.5  # share of the threads' time on condition variables that raises a doubt
ERROR = 0.25  # difference of simulated and recorded throughput that raises a doubt


@dataclass(frozen=True)
class Prediction:
    """The predicted effect of a change; times in ns."""

    site: str  # "" for all changes together
    words: str  # the change
    throughput: float  # as a multiple of the recorded one
    low: float
    high: float
    is_bound: bool  # true: at most this much
    wait_before_ns: float | None  # mean of all acquisitions of the changed sites
    wait_after_ns: float | None
    limit: str  # what limits the throughput afterwards


@dataclass(frozen=True)
class Answer:
    """All predictions, and the reasons to doubt them."""

    predictions: Sequence[Prediction]
    threads: int
    cpus: int
    error: float  # simulated / recorded throughput - 1, without a change
    doubts: Sequence[str]


def predict(profile: Profile, changes: Sequence[tuple[Site, Change]]) -> Answer | None:
    """Predict each change alone, then all together if there are several.

    Returns None if no recorded thread uses the sites.
    """
    net = network(profile, frozenset(site.number for site, _ in changes))
    weights = {site.number: _weights(net, site.number) for site, _ in changes}
    if not net.customers or not all(map(sum, weights.values())):
        return None
    base = _Pair([Simulation(net, {}, steady=steady).run() for steady in STEADY], 0.0)
    base = replace(base, steadiness=_steadiness(net, base, [s for s, _ in changes]))
    predictions = [_predicted(net, base, [one]) for one in changes]
    if len(changes) > 1 and not any(c.what is What.WAIT for _, c in changes):
        predictions.append(_predicted(net, base, list(changes)))
    error = _error(net, base, weights)
    return Answer(
        predictions,
        sum(customer.population for customer in net.customers),
        net.cpus,
        error,
        _doubts(profile, net, error),
    )


@dataclass(frozen=True)
class _Pair:
    """One simulation with varying and one with steady times between acquisitions."""

    results: Sequence[Result]
    steadiness: float  # 0: the first is right, 1: the second

    def mean(self, values: Sequence[float]) -> float:
        """Weigh a value of each of the two simulations."""
        return values[0] + self.steadiness * (values[1] - values[0])


def _steadiness(net: Network, base: _Pair, sites: Sequence[Site]) -> float:
    """Return the steadiness at which the simulated waits are the recorded ones."""
    numbers = [site.number for site in sites]
    varied, steady = (_wait(net, result, numbers) for result in base.results)
    totals = {site.number: site.total for site in sites}
    waited = sum(use.wait.total_ns for use in totals.values() if use)
    number = sum(use.acquisitions for use in totals.values() if use)
    if varied <= steady or not number:
        return 0.5
    return min(max((varied - waited / number) / (varied - steady), 0.0), 1.0)


def treatments(changes: Sequence[tuple[Site, Change]]) -> dict[int, Treatment]:
    """Return the treatment of each site; changes to the same site combine."""
    result: dict[int, Treatment] = {}
    for site, change in changes:
        now = result.get(site.number, Treatment())
        result[site.number] = Treatment(
            now.hold * (change.value if change.what is What.HOLD else 1.0),
            max(now.outside, change.value if change.what is What.OUTSIDE else 0.0),
            now.split * (int(change.value) if change.what is What.SPLIT else 1),
            now.removed or change.what is What.REMOVE,
        )
    return result


def _predicted(
    net: Network, base: _Pair, changes: Sequence[tuple[Site, Change]]
) -> Prediction:
    together = len(changes) > 1
    name = "" if together else changes[0][0].name
    words = "all of these" if together else changes[0][1].words
    sites = [site.number for site, _ in changes]
    before = base.mean([_wait(net, one, sites) for one in base.results])
    if changes[0][1].what is What.WAIT:
        factor = changes[0][1].value
        most, limit = _fewer_waits(net, changes[0][0], factor)
        after_ns = before * factor
        return Prediction(name, words, most, most, most, True, before, after_ns, limit)
    treated = treatments(changes)
    results = [Simulation(net, treated, steady=steady).run() for steady in STEADY]
    after = replace(base, results=results)
    most = _cpu_limit(net, treated)
    pairs = zip(base.results, after.results, strict=True)
    gains = [min(_gain(net, b, a, sites), most, GAIN_LIMIT) for b, a in pairs]
    whole = after.mean(gains)
    wait = after.mean([_wait(net, one, sites) for one in after.results])
    limit = _limit(net, after, by_cpus=whole >= most)
    return Prediction(
        name, words, whole, min(gains), max(gains), False, before, wait, limit
    )


def _weights(net: Network, site: int) -> list[float]:
    """Return how often each customer acquires the locks of a site, nested or not."""
    return [
        customer.population * _number(net, customer, site) for customer in net.customers
    ]


def _number(net: Network, customer: Customer, site: int) -> float:
    mine = customer.visits.get(site)
    number = mine.number if mine else 0.0
    if site in customer.inner_hold_ns:
        for outer, visits in customer.visits.items():
            number += visits.number * net.stations[outer].inner.get(site, 0.0)
    return number


def _gain(net: Network, before: Result, after: Result, sites: Sequence[int]) -> float:
    weights = [0.0] * len(net.customers)
    for site in sites:
        weights = [a + b for a, b in zip(weights, _weights(net, site), strict=True)]
    pairs = zip(weights, before.rates, after.rates, strict=True)
    gains = [(w, new / old) for w, old, new in pairs if old and w]
    return sum(w * g for w, g in gains) / sum(w for w, _ in gains) if gains else 1.0


def _wait(net: Network, result: Result, sites: Sequence[int]) -> float:
    counts = [(sum(_weights(net, site)), site) for site in sites]
    whole = sum(count for count, _ in counts)
    waits = sum(count * result.wait_ns.get(site, 0.0) for count, site in counts)
    return waits / whole if whole else 0.0


def _cpu_limit(net: Network, treated: Mapping[int, Treatment]) -> float:
    """Return the throughput with all CPUs in use, relative to the recorded one.

    A section is assumed to use the CPU as much as its thread does on average.
    """
    if not net.utilisation:
        return GAIN_LIMIT
    saved = ran = 0.0
    for customer in net.customers:
        inside = 0.0
        for site, change in treated.items():
            visit = customer.visits.get(site)
            if visit:
                inside += (1 - change.hold) * visit.number * visit.hold_ns
        saved += customer.population * inside
        held = sum(v.number * v.hold_ns for v in customer.visits.values())
        busy = customer.outside_ns - customer.idle_ns + held
        ran += customer.population * max(busy, 1.0)
    return 1 / net.utilisation / max(1 - saved / ran, 1 / GAIN_LIMIT)


def _limit(net: Network, after: _Pair, *, by_cpus: bool) -> str:
    if by_cpus:
        return "the CPUs"
    used = {
        site: after.mean([result.used.get(site, 0.0) for result in after.results])
        for site in net.stations
    }
    site = max(used, key=lambda each: used[each])
    return net.stations[site].name if used[site] >= SATURATED else NO_LOCK


def _fewer_waits(net: Network, site: Site, factor: float) -> tuple[float, str]:
    """Return the largest throughput if waits for a site last `factor` times as long."""
    weights = _weights(net, site.number)
    gained = 0.0
    for weight, customer in zip(weights, net.customers, strict=True):
        visit = customer.visits.get(site.number)
        wait = visit.wait_ns if visit else 0.0
        left = customer.lived_ns - (1 - factor) * wait
        gained += weight * customer.lived_ns / max(left, customer.lived_ns / GAIN_LIMIT)
    paths = gained / sum(weights)
    held = max(lock.hold_ns for lock in site.locks) if site.locks else 0
    row = net.duration_ns / held if held and not _shared(net, site) else GAIN_LIMIT
    cpus = 1 / net.utilisation if net.utilisation else GAIN_LIMIT
    most = min(paths, max(row, 1.0), max(cpus, 1.0), GAIN_LIMIT)
    if most == paths:
        return most, NO_LOCK
    return most, site.name if most == max(row, 1.0) else "the CPUs"


def _shared(net: Network, site: Site) -> bool:
    return net.stations[site.number].hold_shares


def _error(net: Network, base: _Pair, weights: Mapping[int, Sequence[float]]) -> float:
    """Return simulated / recorded throughput - 1 of the customers that matter."""
    simulated = recorded = 0.0
    for place, customer in enumerate(net.customers):
        if not any(mine[place] for mine in weights.values()):
            continue
        whole = sum(visit.number for visit in customer.visits.values())
        rate = base.mean([result.rates[place] for result in base.results])
        simulated += customer.population * rate
        recorded += customer.population * whole / customer.lived_ns
    return simulated / recorded - 1 if recorded else 0.0


def _doubts(profile: Profile, net: Network, error: float) -> list[str]:
    doubts = []
    if abs(error) > ERROR:
        doubts.append(
            f"without a change, the simulation is {abs(error):.0%} "
            f"{'faster' if error > 0 else 'slower'} than the recorded program"
        )
    lived = sum(customer.population * customer.lived_ns for customer in net.customers)
    idle = sum(customer.population * customer.idle_ns for customer in net.customers)
    if lived and idle > IDLE * lived:
        doubts.append(
            f"the threads wait for work {idle / lived:.0%} of the time: where work "
            "arrives at a given rate, a faster lock shortens the response, and the "
            "throughput stays"
        )
    if profile.mode != "full":
        doubts.append("only a sample of the acquisitions was recorded")
    return doubts
