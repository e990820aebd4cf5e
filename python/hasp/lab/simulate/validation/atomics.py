# SPDX-License-Identifier: MIT
"""Claims about atomics that contend for one line: SSYNC, section 5.4, figure 4."""

from __future__ import annotations

from functools import partial

from hasp.lab.simulate.validation.claim import (
    BY_TABLE,
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
    SINGLE_SOCKETS,
    SOCKET,
    XEON,
    short_name,
)
from hasp.lab.simulate.validation.lab import Lab, Runs

FLAT = 0.95  # of the maximum


def throughput(lab: Lab, machine: str, threads: int, operation: str = "fai") -> Runs:
    """The runs in which all threads execute one atomic operation on one line."""
    return lab.runs(machine, "atomics", None, threads, {"operation": operation})


def _one_core(lab: Lab) -> Measured:
    return Measured(
        lab.operation(OPTERON, "fai", "mine", (0,)), words="a line that it owns"
    )


def _two_cores(lab: Lab, machine: str) -> Measured:
    cycles = lab.operation(machine, "fai", "modified", (0, 1))
    return Measured(cycles, words="another core of the die owned the line")


def _in_socket(lab: Lab, machine: str) -> Measured:
    run = throughput(lab, machine, SOCKET[machine])
    values = run.values("throughput_mops")
    return Measured(run.mops, min(values), max(values), f"{SOCKET[machine]} cores, FAI")


def _second_socket(lab: Lab, machine: str) -> Order:
    inside = throughput(lab, machine, SOCKET[machine]).mops
    outside = throughput(lab, machine, 2 * SOCKET[machine]).mops
    return Order(inside, outside, "Mops on one socket against two")


def _larger_drop(lab: Lab) -> Order:
    shares = {
        machine: throughput(lab, machine, 2 * SOCKET[machine]).mops
        / throughput(lab, machine, SOCKET[machine]).mops
        for machine in MULTI_SOCKETS
    }
    return Order(
        shares[OPTERON],
        shares[XEON],
        "remaining share with two sockets, Opteron against Xeon",
    )


def _flat_from(lab: Lab, machine: str) -> Measured:
    counts = [*range(1, 13), 16, 24, FULL[machine]]
    values = {count: throughput(lab, machine, count).mops for count in counts}
    limit = FLAT * max(values.values())
    first = next(count for count in counts if values[count] >= limit)
    words = "the first count within 5 % of the maximum, FAI"
    return Measured(first, words=words)


def _software_fai(lab: Lab) -> Measured:
    full = FULL[NIAGARA]
    atomic = throughput(lab, NIAGARA, full, "fai").mops
    loop = throughput(lab, NIAGARA, full, "cas-fai").mops
    return Measured(loop / atomic, words=f"{loop:.3g} / {atomic:.3g} Mops, 64 threads")


CLAIMS = (
    Claim(
        "S28/one",
        OPTERON,
        BY_TABLE,
        "an atomic operation of a core on a line that it owns",
        _one_core,
        20,
        20,
        "cycles",
    ),
    *(
        Claim(
            f"S28/two/{short_name(machine)}",
            machine,
            BY_TABLE,
            "the same once a second core joins",
            partial(_two_cores, machine=machine),
            120,
            120,
            "cycles",
        )
        for machine in MULTI_SOCKETS
    ),
    *(
        Claim(
            f"S29/{short_name(machine)}",
            machine,
            PREDICTED,
            "throughput of atomics within a socket",
            partial(_in_socket, machine=machine),
            20,
            20,
            "Mops",
        )
        for machine in MULTI_SOCKETS
    ),
    *(
        Claim(
            f"S29/drop/{short_name(machine)}",
            machine,
            ORDERING,
            "the throughput of atomics drops once a second socket joins",
            partial(_second_socket, machine=machine),
        )
        for machine in MULTI_SOCKETS
    ),
    Claim("S29/larger", XEON, ORDERING, "the drop is larger on the Xeon", _larger_drop),
    *(
        Claim(
            f"S30/{short_name(machine)}",
            machine,
            PREDICTED,
            "core count from which the throughput of atomics is flat",
            partial(_flat_from, machine=machine),
            6,
            6,
            "cores",
        )
        for machine in SINGLE_SOCKETS
    ),
    Claim(
        "S31",
        NIAGARA,
        PREDICTED,
        "FAI as a CAS loop over native FAI: practically identical",
        _software_fai,
        1.0,
        1.0,
    ),
)
