# SPDX-License-Identifier: MIT
"""Claims about messages of one cache line: SSYNC, section 6.2."""

from __future__ import annotations

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
    pairs,
    short_name,
)
from hasp.lab.simulate.validation.lab import Lab, Runs

ONE_WAY, ROUND_TRIP, SERVED = "one-way", "round-trip", "client-server"
SERVER_WORK = 500  # cycles: "longer server work"


def _intent(machine: str) -> int:
    """Return 1 if the machine can prefetch lines for writing, else 0."""
    return 1 if machine in MULTI_SOCKETS else 0


def _exchange(
    lab: Lab, machine: str, pattern: str, cpus: tuple[int, int], intent: int
) -> float:
    """Cycles of a message, or of a round trip."""
    runs = lab.runs(
        machine,
        "messages",
        None,
        2,
        {"pattern": pattern, "think_cycles": 0, "write_intent": intent},
        cpus=cpus,
    )
    return runs.mhz / runs.mops


def _transfers(lab: Lab, machine: str, pattern: str) -> Measured:
    """The cost in transfers of a modified line, for the median distance."""
    topology = lab.machine(machine).topology
    row = topology.expand(lab.machine(machine).latencies["load", "modified"])
    ratios = {}
    for name, cpus in pairs(topology).items():
        if name == "same_core":  # no line is transferred
            continue
        cycles = _exchange(lab, machine, pattern, cpus, _intent(machine))
        ratios[name] = cycles / row[topology.expanded.index(name)]
    ordered = sorted(ratios.values())
    words = ", ".join(f"{name} {ratio:.1f}" for name, ratio in ratios.items())
    return Measured(ordered[len(ordered) // 2], words=words)


def _gain(lab: Lab) -> Measured:
    """The largest gain of prefetching for writing on the Opteron."""
    topology = lab.machine(OPTERON).topology
    gains = {
        name: _exchange(lab, OPTERON, ONE_WAY, cpus, 0)
        / _exchange(lab, OPTERON, ONE_WAY, cpus, 1)
        for name, cpus in pairs(topology).items()
    }
    words = ", ".join(f"{name} {gain:.1f}" for name, gain in gains.items())
    return Measured(max(gains.values()), words=f"the largest of {words}")


def _served(lab: Lab, machine: str, clients: int, reply: int, work: int = 0) -> Runs:
    return lab.runs(
        machine,
        "messages",
        None,
        clients + 1,
        {
            "pattern": SERVED,
            "servers": 1,
            "reply": reply,
            "write_intent": _intent(machine),
            # SSYNC's message library does so with prefetchw.
            "read_ahead": int(machine == OPTERON),
            "work_cycles": work,
            "think_cycles": 0,
        },
    )


def _inside(lab: Lab) -> Measured:
    return Measured(_served(lab, XEON, 9, 0).mops, words="9 clients, all in one socket")


def _outside(lab: Lab) -> Measured:
    return Measured(
        _served(lab, XEON, 10, 0).mops, words="and a tenth client in another socket"
    )


def _answers(lab: Lab, machine: str, work: int) -> Order:
    clients = FULL[machine] - 1
    answered = _served(lab, machine, clients, 1, work).mops
    one_way = _served(lab, machine, clients, 0, work).mops
    words = f"Mops of round trips against one-way messages, {clients} clients"
    return Order(answered, one_way, words)


CLAIMS = (
    Claim(
        "S27",
        OPTERON,
        PREDICTED,
        "messages: largest gain of prefetchw",
        _gain,
        2.5,
        2.5,
    ),
    *(
        Claim(
            f"{identity}/{short_name(machine)}",
            machine,
            PREDICTED,
            f"{pattern} message over transfer of a line",
            partial(_transfers, machine=machine, pattern=pattern),
            ratio,
            ratio,
        )
        for identity, pattern, ratio in (
            ("S49", ONE_WAY, 2.0),
            ("S50", ROUND_TRIP, 4.0),
        )
        for machine in (*MULTI_SOCKETS, NIAGARA)
    ),
    Claim(
        "S53/inside",
        XEON,
        PREDICTED,
        "one-way throughput of a server with clients in its socket",
        _inside,
        25,
        25,
        "Mops",
    ),
    Claim(
        "S53/remote",
        XEON,
        PREDICTED,
        "the same once a client of another socket joins",
        _outside,
        8,
        8,
        "Mops",
    ),
    Claim(
        "S54/xeon",
        XEON,
        ORDERING,
        "many clients: round trips are faster than one-way messages",
        partial(_answers, machine=XEON, work=0),
    ),
    Claim(
        "S54/opteron",
        OPTERON,
        ORDERING,
        "many clients, longer server work: round trips are faster",
        partial(_answers, machine=OPTERON, work=SERVER_WORK),
    ),
)
