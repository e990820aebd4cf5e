# SPDX-License-Identifier: MIT
"""Claims about single operations, measured as by `hasp machine`: SSYNC, section 5.2."""

from __future__ import annotations

from functools import partial

from hasp.lab.simulate.validation.claim import (
    BY_TABLE,
    FITTED,
    PREDICTED,
    Claim,
    Measured,
    Order,
)
from hasp.lab.simulate.validation.distances import (
    NIAGARA,
    OPTERON,
    TILERA,
    XEON,
    at_distance,
)
from hasp.lab.simulate.validation.lab import Lab

FAI, ATOMICS = "fai", ("cas", "fai", "tas", "swap")


def cell(lab: Lab, machine: str, operation: str, state: str, name: str) -> float:
    """Cycles in a cell of table 2."""
    topology = lab.machine(machine).topology
    cpus = at_distance(topology, name)
    own_home = topology.hops > 0
    return lab.operation(machine, operation, state, cpus, own_home=own_home)


def _worst_load(lab: Lab) -> Measured:
    """The worst case over all homes that are two hops from both cores."""
    topology = lab.machine(OPTERON).topology
    far = topology.distances.index("two_hops")
    each = topology.cpus_per_place
    worst = 0.0
    for home in range(topology.places):
        near = [at for at in range(8) if topology.between_places[home][at] == far]
        for one in near[:1]:
            for other in near:
                cpus = (one * each, other * each + 1, other * each + 2)
                worst = max(
                    worst, lab.operation(OPTERON, "load", "modified", cpus, home)
                )
    return Measured(worst, words="over all homes; the cores may be near each other")


def _everyone(lab: Lab, machine: str) -> Measured:
    """A store to a line that all cores share, in the worst case over homes."""
    topology = lab.machine(machine).topology
    cpus = tuple(range(topology.cpus))
    values = [
        lab.operation(machine, "store", "shared", cpus, home)
        for home in range(topology.numa_nodes)
    ]
    return Measured(max(values), words="the largest over the line's homes")


def _shared_far(lab: Lab) -> Measured:
    near = cell(lab, XEON, "load", "shared", "same_die")
    far = cell(lab, XEON, "load", "shared", "two_hops")
    return Measured(far / near, words=f"{far:.0f} / {near:.0f} cycles")


def _adjacent(lab: Lab) -> Measured:
    return Measured(cell(lab, TILERA, "load", "modified", "one_hop"))


def _farther(lab: Lab) -> Measured:
    far = cell(lab, TILERA, "load", "modified", "max_hops")
    return Measured(far - cell(lab, TILERA, "load", "modified", "one_hop"))


def _inflated(lab: Lab) -> Measured:
    return Measured(
        cell(lab, OPTERON, "store", "owned", "same_die"),
        words="all sharers on the measuring core's die",
    )


def _uninflated(lab: Lab) -> Measured:
    return Measured(cell(lab, OPTERON, "store", "modified", "same_die"))


def _constant(lab: Lab) -> Measured:
    """The cost of the most expensive store over that of the cheapest."""
    topology = lab.machine(NIAGARA).topology
    values = [
        lab.operation(NIAGARA, "store", state, cpus)
        for state in ("modified", "exclusive", "shared")
        for cpus in ((0, 8, 9), (0, 1, 2), tuple(range(topology.cpus)))
    ]
    return Measured(max(values) / min(values))


def _equal_atomics(machine: str, far: str) -> Claim:
    def measure(lab: Lab) -> Measured:
        values = [
            cell(lab, machine, operation, state, name)
            for operation in ATOMICS
            for state, name in (("modified", far),)
        ]
        return Measured(max(values) / min(values))

    return Claim(
        id="S23",
        machine=machine,
        kind=BY_TABLE,
        says="CAS, FAI, TAS and SWAP cost essentially the same: largest over smallest",
        measure=measure,
        least=1.0,
        most=1.0,
    )


def _fastest_atomic(lab: Lab) -> Order:
    costs = {
        operation: cell(lab, TILERA, operation, "modified", "one_hop")
        for operation in ATOMICS
    }
    other = min(cost for operation, cost in costs.items() if operation != FAI)
    return Order(other, costs[FAI], "the fastest other atomic against FAI, cycles")


CLAIMS = (
    Claim(
        "S14",
        OPTERON,
        PREDICTED,
        "worst-case load, both cores two hops from the directory",
        _worst_load,
        312,
        312,
        "cycles",
    ),
    Claim(
        "S15",
        XEON,
        BY_TABLE,
        "load of a shared line: two hops over within the socket",
        _shared_far,
        7.5,
        7.5,
    ),
    Claim(
        "S16",
        TILERA,
        BY_TABLE,
        "load from the adjacent tile",
        _adjacent,
        45,
        45,
        "cycles",
    ),
    Claim(
        "S17",
        TILERA,
        BY_TABLE,
        "load from the most remote tile minus load from the adjacent one",
        _farther,
        20,
        20,
        "cycles",
    ),
    Claim(
        "S18/before",
        OPTERON,
        BY_TABLE,
        "store within a die, the line not shared",
        _uninflated,
        83,
        83,
        "cycles",
    ),
    Claim(
        "S18/after",
        OPTERON,
        BY_TABLE,
        "store within a die, all sharers there: broadcast",
        _inflated,
        244,
        244,
        "cycles",
    ),
    Claim(
        "S19",
        OPTERON,
        FITTED,  # this claim justifies sharers.store_millicycles
        "store on a line shared by all 48 cores",
        partial(_everyone, machine=OPTERON),
        296,
        296,
        "cycles",
    ),
    Claim(
        "S20",
        XEON,
        FITTED,
        "store on a line shared by all 80 cores",
        partial(_everyone, machine=XEON),
        445,
        445,
        "cycles",
    ),
    Claim(
        "S21",
        TILERA,
        FITTED,
        "store on a line shared by all 36 cores, at most",
        partial(_everyone, machine=TILERA),
        200,
        200,
        "cycles",
    ),
    Claim(
        "S22",
        NIAGARA,
        BY_TABLE,
        "stores cost the same in any state with any sharers: largest over smallest",
        _constant,
        1.0,
        1.0,
    ),
    _equal_atomics(OPTERON, "two_hops"),
    _equal_atomics(XEON, "two_hops"),
    Claim("S24", TILERA, BY_TABLE, "FAI is the fastest atomic", _fastest_atomic),
)
