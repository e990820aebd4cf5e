# SPDX-License-Identifier: MIT
"""Claims about a hash table under locks or behind servers: SSYNC, section 6.3.

The table is built from its description in the paper: keys of a bucket together, a
payload in a line of its own, a lock for each bucket or one server for three cores.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from hasp.lab.simulate.validation.claim import (
    ORDERING,
    PREDICTED,
    Claim,
    Measured,
    Order,
)
from hasp.lab.simulate.validation.distances import (
    FULL,
    MULTI_SOCKETS,
    NIAGARA,
    OPTERON,
    XEON,
    short_name,
)
from hasp.lab.simulate.validation.lab import Lab
from hasp.lab.simulate.validation.lock_sets import TICKET, locks_of

TESTED = (*MULTI_SOCKETS, NIAGARA)
LOW, HIGH = 512, 12  # buckets: low and high contention
SHORT, LONG = 12, 48  # elements in a bucket: short and long critical sections
THREADS = 36  # the largest number that SSYNC compares on all its machines
CORES_PER_SERVER = 3
OTHER_CORES_PER_SERVER = (2, 6)
DURATION_NS = 1_000_000
# SSYNC calls a speed-up of 12 on 12 buckets the optimum (S61), so its threads do not
# pause between operations.
PAUSE = {"think_cycles": 0}
SOCKET = 10  # cores of a socket of the Xeon
# "Only slight" scaling beyond a socket is taken to be at most half the gain of a core
# within it.
SLIGHT = 2


def _locked(
    lab: Lab, machine: str, buckets: int, elements: int, threads: int
) -> tuple[float, str]:
    """Return the throughput in Mops under the best of SSYNC's locks, and its name."""
    ours = locks_of(lab.form, machine)
    found = lab.compare(
        machine,
        "hash-table",
        list(ours.values()),
        threads,
        {**PAUSE, "buckets": buckets, "elements": elements},
        duration_ns=DURATION_NS,
    )
    return max((found[lock].mops, name) for name, lock in ours.items())


def _served(lab: Lab, machine: str, buckets: int, elements: int, share: int) -> float:
    """Return the throughput in Mops with one server for `share` cores."""
    runs = lab.runs(
        machine,
        "hash-table",
        TICKET,  # not acquired
        THREADS,
        {
            **PAUSE,
            "buckets": buckets,
            "elements": elements,
            "servers": THREADS // share,
            "write_intent": int(machine in MULTI_SOCKETS),
            # SSYNC's message library does so with prefetchw.
            "read_ahead": int(machine == OPTERON),
        },
        duration_ns=DURATION_NS,
    )
    return runs.mops


def _locks_win(lab: Lab, machine: str, buckets: int) -> Order:
    locked, lock = _locked(lab, machine, buckets, SHORT, THREADS)
    served = _served(lab, machine, buckets, SHORT, CORES_PER_SERVER)
    return Order(locked, served, f"Mops: {lock} against servers, {THREADS} threads")


def _servers_win(lab: Lab, machine: str) -> Order:
    turned = _locks_win(lab, machine, HIGH)
    return Order(turned.smaller, turned.larger, f"{turned.words}, turned round")


def _third(lab: Lab, machine: str) -> Order:
    def both(share: int) -> float:
        few, many = (_served(lab, machine, n, SHORT, share) for n in (HIGH, LOW))
        return math.sqrt(few * many)

    others = {share: both(share) for share in OTHER_CORES_PER_SERVER}
    share = max(others, key=others.__getitem__)
    words = (
        f"geometric mean of both contentions in Mops: against one server for {share}"
    )
    return Order(both(CORES_PER_SERVER), others[share], words)


def _speed_up(lab: Lab, machine: str, buckets: int, elements: int) -> float:
    together, _ = _locked(lab, machine, buckets, elements, THREADS)
    alone, _ = _locked(lab, machine, buckets, elements, 1)
    return together / alone


def _longer_scales(lab: Lab, machine: str) -> Order:
    long, short = (_speed_up(lab, machine, LOW, n) for n in (LONG, SHORT))
    return Order(long, short, f"speed-up on {THREADS} threads, best locks")


def _contended_speed_up(lab: Lab, machine: str) -> Measured:
    return Measured(_speed_up(lab, machine, HIGH, SHORT), words="best locks")


def _one_socket(lab: Lab) -> Order:
    one, socket, all_cores = (
        _locked(lab, XEON, LOW, SHORT, threads)[0]
        for threads in (1, SOCKET, FULL[XEON])
    )
    inside = (socket - one) / (SOCKET - 1)
    beyond = (all_cores - socket) / (FULL[XEON] - SOCKET)
    return Order(inside, beyond, "Mops that a further core gains", SLIGHT)


def _orderings(
    identity: str, machines: Sequence[str], words: str, check: Callable[..., Order]
) -> tuple[Claim, ...]:
    """Return the claim for each of the machines."""
    return tuple(
        Claim(
            f"{identity}/{short_name(machine)}",
            machine,
            ORDERING,
            words,
            partial(check, machine=machine),
        )
        for machine in machines
    )


CLAIMS = (
    *_orderings(
        "S57", TESTED, "hash table: one server for three cores is best", _third
    ),
    *_orderings(
        "S58",
        TESTED,
        "hash table, low contention: long buckets scale better",
        _longer_scales,
    ),
    *_orderings(
        "S59",
        TESTED,
        "hash table, low contention: locks are faster than servers",
        partial(_locks_win, buckets=LOW),
    ),
    *_orderings(
        "S60",
        MULTI_SOCKETS,
        "hash table, high contention: servers are faster than locks",
        _servers_win,
    ),
    *_orderings(
        "S60",
        (NIAGARA,),
        "hash table, high contention: locks are faster than servers here",
        partial(_locks_win, buckets=HIGH),
    ),
    Claim(
        "S61",
        NIAGARA,
        PREDICTED,
        f"hash table, high contention: speed-up on {THREADS} threads",
        partial(_contended_speed_up, machine=NIAGARA),
        10,
        10,
    ),
    Claim(
        "S63",
        XEON,
        ORDERING,
        "hash table, low contention: beyond a socket, a core gains at most half",
        _one_socket,
    ),
)
