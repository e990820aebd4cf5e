# SPDX-License-Identifier: MIT
"""Claims about locks under contention: SSYNC, sections 5.3 and 6.1.2 to 6.1.3."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from functools import partial

from hasp.lab.simulate.validation.claim import (
    FITTED,
    ORDERING,
    PREDICTED,
    Claim,
    Measured,
    Order,
)
from hasp.lab.simulate.validation.distances import (
    ALL,
    FULL,
    MULTI_SOCKETS,
    NIAGARA,
    OPTERON,
    SINGLE_SOCKETS,
    TILERA,
    XEON,
    short_name,
)
from hasp.lab.simulate.validation.lab import DURATION_NS, Lab
from hasp.lab.simulate.validation.lock_sets import (
    HIERARCHICAL,
    MUTEX,
    QUEUE,
    SPIN,
    TICKET,
    locks_of,
)

ONE_LOCK = "one-lock"
FEW_LOCKS, MANY_LOCKS = 4, 512
SLOW_NS = 20_000_000  # long enough for acquisitions of 720,000 cycles each
MANY_NS = 1_000_000  # tens of thousands of acquisitions if there are many locks
MAGNITUDE = 10
# Crossing sockets multiplies latencies by 2 to 7.5, and contention widens the gap (S1).
# A "severe" degradation is therefore taken to be at least a factor of 2.
SEVERE = 2


def one_lock(
    lab: Lab, machine: str, threads: int, names: Sequence[str] | None = None
) -> dict[str, float]:
    """Throughput of one lock in Mops, for each lock by SSYNC's name."""
    return _throughputs(lab, machine, ONE_LOCK, threads, names, {})


def n_locks(
    lab: Lab, machine: str, threads: int, locks: int, names: Sequence[str] | None = None
) -> dict[str, float]:
    """Throughput in Mops when each acquisition picks one of many locks at random."""
    return _throughputs(lab, machine, "n-locks", threads, names, {"locks": locks})


def _throughputs(
    lab: Lab,
    machine: str,
    workload: str,
    threads: int,
    names: Sequence[str] | None,
    knobs: Mapping[str, int],
) -> dict[str, float]:
    ours = locks_of(lab.form, machine)
    chosen = [name for name in ours if names is None or name in names]
    found = lab.compare(
        machine,
        workload,
        [ours[name] for name in chosen],
        threads,
        knobs,
        duration_ns=DURATION_NS if workload == ONE_LOCK else MANY_NS,
    )
    return {name: found[ours[name]].mops for name in chosen}


def best(values: Mapping[str, float], names: Sequence[str]) -> tuple[float, str]:
    """The highest throughput among some locks, and the lock's name."""
    return max((values[name], name) for name in names if name in values)


def order(
    values: Mapping[str, float], winners: Sequence[str], losers: Sequence[str]
) -> Order:
    """The best throughput of the winners against the best of the losers."""
    first, winner = best(values, winners)
    second, loser = best(values, losers)
    return Order(first, second, f"Mops: {winner} against {loser}")


def _slow_ticket(lab: Lab) -> Measured:
    runs = lab.runs(OPTERON, ONE_LOCK, "ticket", 48, duration_ns=SLOW_NS)
    cycles = [value * runs.mhz / 1000 for value in runs.values("operation_mean_ns")]
    return Measured(statistics.median(cycles), min(cycles), max(cycles))


def _collapse(lab: Lab, machine: str) -> Measured:
    """Throughput of one core over that of all cores, as geometric mean of the locks."""
    alone, together = one_lock(lab, machine, 1), one_lock(lab, machine, FULL[machine])
    ratios = {name: alone[name] / together[name] for name in alone}
    median = statistics.median(ratios.values())
    words = f"geometric mean of all locks; the median lock {median:.1f}: " + ", ".join(
        f"{name} {ratio:.0f}" for name, ratio in ratios.items()
    )
    return Measured(statistics.geometric_mean(ratios.values()), words=words)


def _comparable(lab: Lab, machine: str, names: Sequence[str]) -> Measured:
    alone = one_lock(lab, machine, 1, names)
    together = one_lock(lab, machine, FULL[machine], names)
    ratios = {name: together[name] / alone[name] for name in alone}
    words = ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())
    return Measured(statistics.median(ratios.values()), words=f"median of {words}")


def _class_order(
    lab: Lab, machine: str, winners: Sequence[str], losers: Sequence[str]
) -> Order:
    values = one_lock(lab, machine, FULL[machine])
    return order(values, winners, losers)


def _both_queues(lab: Lab, machine: str) -> Order:
    """The worse of CLH and MCS against the best of the other non-hierarchical locks."""
    values = one_lock(lab, machine, FULL[machine])
    worse = min(values["clh"], values["mcs"])
    others = [name for name in (*SPIN, "array", MUTEX) if name in values]
    second, loser = best(values, others)
    return Order(worse, second, f"Mops: the worse of the two against {loser}")


def _ticket_at_many(lab: Lab, machine: str) -> Order:
    values = n_locks(lab, machine, FULL[machine], MANY_LOCKS)
    others = [name for name in values if name != TICKET]
    return order(values, [TICKET], others)


def _mutex_never(lab: Lab, machine: str) -> Order:
    """The smallest margin of the best lock over the mutex, at several thread counts."""
    counts = sorted({2, FULL[machine] // 2, FULL[machine]})
    found = []
    for threads in counts:
        for values in (
            one_lock(lab, machine, threads),
            n_locks(lab, machine, threads, MANY_LOCKS),
        ):
            others = [name for name in values if name != MUTEX]
            found.append(order(values, others, [MUTEX]))
    return min(found, key=lambda answer: answer.margin)


def _remote_thread(lab: Lab, name: str) -> Order:
    inside, outside = (one_lock(lab, XEON, count, [name])[name] for count in (10, 11))
    return Order(inside, outside, f"Mops: {name}, 10 threads against 11", SEVERE)


def _scalability(lab: Lab, machine: str, locks: int) -> float:
    """Best throughput of any lock on 36 cores over that on one core: figure 8."""
    alone = n_locks(lab, machine, 1, locks)
    together = n_locks(lab, machine, 36, locks)
    return max(together.values()) / max(alone.values())


def _poor_scaling(lab: Lab, locks: int) -> Order:
    """The smaller of the single-socket machines' speed-ups, over the Opteron's."""
    gains = {
        machine: _scalability(lab, machine, locks)
        for machine in (OPTERON, *SINGLE_SOCKETS)
    }
    words = f"best lock's speed-up on 36 cores, {locks} locks: single-socket, Opteron"
    return Order(min(gains[name] for name in SINGLE_SOCKETS), gains[OPTERON], words)


def _uniform_scaling(lab: Lab) -> Measured:
    """The Niagara's speed-up over the Tilera's: figure 8, highest contention."""
    niagara, tilera = (_scalability(lab, name, FEW_LOCKS) for name in SINGLE_SOCKETS)
    words = f"best lock's speed-up on 36 cores, 4 locks: {niagara:.2f} / {tilera:.2f}"
    return Measured(niagara / tilera, words=words)


CLAIMS = (
    Claim(
        "S3",
        NIAGARA,
        PREDICTED,
        "locks under high contention: the Niagara's speed-up over the Tilera's",
        _uniform_scaling,
        1.7,
        1.7,
    ),
    Claim(
        "S25",
        OPTERON,
        FITTED,  # this claim justifies model.occupancy_permille
        "plain ticket lock on 48 cores: acquire and release",
        _slow_ticket,
        720_000,
        720_000,
        "cycles",
    ),
    *(
        Claim(
            f"S37/{short_name(machine)}",
            machine,
            PREDICTED,
            "one lock: the throughput on all cores is an order of magnitude lower",
            partial(_collapse, machine=machine),
            MAGNITUDE,
            MAGNITUDE,
            "times lower",
        )
        for machine in MULTI_SOCKETS
    ),
    *(
        Claim(
            f"S38/{kind}/{short_name(machine)}",
            machine,
            PREDICTED,
            f"one lock: {kind} locks on all cores are comparable to one core",
            partial(_comparable, machine=machine, names=names),
            0.5,
            2.0,
            loose=True,
        )
        for kind, names in (("queue", QUEUE), ("spin", SPIN))
        for machine in SINGLE_SOCKETS
    ),
    Claim(
        "S39",
        XEON,
        ORDERING,
        "one lock: hierarchical locks are best",
        partial(
            _class_order,
            machine=XEON,
            winners=HIERARCHICAL,
            losers=(*SPIN, *QUEUE, MUTEX),
        ),
    ),
    *(
        Claim(
            f"S40/{short_name(machine)}",
            machine,
            ORDERING,
            "CLH and MCS are the most resilient non-hierarchical locks",
            partial(_both_queues, machine=machine),
        )
        for machine in ALL
    ),
    *(
        Claim(
            f"S41/{short_name(machine)}",
            machine,
            ORDERING,
            "ticket is the best spin lock under extreme contention",
            partial(
                _class_order,
                machine=machine,
                winners=[TICKET],
                losers=[name for name in SPIN if name != TICKET],
            ),
        )
        for machine in ALL
    ),
    *(
        Claim(
            f"S42/{short_name(machine)}",
            machine,
            ORDERING,
            "ticket is best at 512 locks",
            partial(_ticket_at_many, machine=machine),
        )
        for machine in (OPTERON, NIAGARA, TILERA)
    ),
    *(
        Claim(
            f"S43/{short_name(machine)}",
            machine,
            ORDERING,
            "the mutex is never best with one thread per core",
            partial(_mutex_never, machine=machine),
        )
        for machine in ALL
    ),
    *(
        Claim(
            f"S44/{short_name(machine)}",
            machine,
            ORDERING,
            "one lock: queue locks are best",
            partial(
                _class_order,
                machine=machine,
                winners=QUEUE,
                losers=(*SPIN, MUTEX, *HIERARCHICAL),
            ),
        )
        for machine in (OPTERON, NIAGARA, TILERA)
    ),
    *(
        Claim(
            f"S46/{name}",
            XEON,
            ORDERING,
            "one thread on a remote socket degrades the throughput severely: by half",
            partial(_remote_thread, name=name),
        )
        for name in ("ticket", "mcs", "clh")
    ),
    *(
        Claim(
            f"S47/{locks}",
            OPTERON,
            ORDERING,
            f"{locks} locks: the Opteron scales worst",
            partial(_poor_scaling, locks=locks),
        )
        for locks in (4, 16, 32, 128)
    ),
)
