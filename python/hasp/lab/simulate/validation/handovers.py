# SPDX-License-Identifier: MIT
"""Claims about free locks: SSYNC, section 6.1.1, and costs of the lock study."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from functools import partial

from hasp.lab.simulate.validation.claim import PREDICTED, Claim, Measured
from hasp.lab.simulate.validation.distances import (
    MULTI_SOCKETS,
    NIAGARA,
    OPTERON,
    SINGLE_SOCKETS,
    TILERA,
    XEON,
    pairs,
    short_name,
)
from hasp.lab.simulate.validation.lab import Lab
from hasp.lab.simulate.validation.lock_sets import locks_of, study_lock

UNCONTENDED = "uncontended"
STUDY = "a-64"  # the lock study's machine


def acquire(
    lab: Lab, machine: str, locks: Sequence[str], cpus: Sequence[int], trylock: int = 0
) -> dict[str, float]:
    """Cycles to acquire a free lock that another CPU held last, for each lock."""
    found = lab.compare(
        machine, UNCONTENDED, list(locks), len(cpus), {"trylock": trylock}, cpus=cpus
    )
    # libslock also subtracts the cost of reading the clock.
    timer = lab.machine(machine).figures["local", "timer"]
    return {lock: found[lock].cycles("acquire_mean_ns") - timer for lock in locks}


def _by_distance(lab: Lab, machine: str) -> dict[str, dict[str, float]]:
    """Cycles of each lock, by SSYNC's name, for each distance of the last holder."""
    ours = locks_of(lab.form, machine)
    places: dict[str, tuple[int, ...]] = {"own": (0,)}
    places |= pairs(lab.machine(machine).topology)
    return {
        name: dict(zip(ours, _of_all(lab, machine, cpus), strict=True))
        for name, cpus in places.items()
    }


def _of_all(lab: Lab, machine: str, cpus: Sequence[int]) -> Iterable[float]:
    return acquire(
        lab, machine, list(locks_of(lab.form, machine).values()), cpus
    ).values()


def _remote_by_local(lab: Lab, machine: str) -> Measured:
    found = _by_distance(lab, machine)
    own = found["own"]
    ratios = {
        name: max(cycles[name] for cycles in found.values()) / own[name] for name in own
    }
    words = ", ".join(f"{name} {ratio:.1f}" for name, ratio in ratios.items())
    return Measured(max(ratios.values()), words=f"the largest of {words}")


def _across(lab: Lab, machine: str) -> Measured:
    """Cycles of the median lock across sockets."""
    found = _by_distance(lab, machine)
    far = [found[name] for name in ("one_hop", "two_hops")]
    values = [statistics.median(cycles.values()) for cycles in far]
    words = f"the median lock: one hop {values[0]:.0f}, two hops {values[1]:.0f}"
    return Measured(max(values), words=words)


def _single_socket(lab: Lab, machine: str) -> Measured:
    found = _by_distance(lab, machine)
    farthest = list(found.values())[-1] if machine == NIAGARA else found["10_hops"]
    return Measured(
        statistics.median(farthest.values()), words="the median lock, farthest holder"
    )


def _by_place(lab: Lab, machine: str) -> Measured:
    """Cycles of the median lock for a far last holder over those for a near one."""
    found = _by_distance(lab, machine)
    near, far = (
        ("1_hops", "10_hops") if machine == TILERA else ("same_core", "other_core")
    )
    if machine == NIAGARA:  # all other cores are equally far away
        ours = list(locks_of(lab.form, machine).values())
        one, other = (acquire(lab, machine, ours, (0, cpu)) for cpu in (8, 56))
        ratio = statistics.median(other[lock] / one[lock] for lock in ours)
        return Measured(ratio, words="two different previous holders")
    ratio = statistics.median(
        found[far][name] / found[near][name] for name in found[far]
    )
    return Measured(ratio, words="the median lock, ten hops over one")


def _study_locks(lab: Lab, names: Sequence[str]) -> list[str]:
    return [study_lock(lab.form, name) for name in names]


def _cost(lab: Lab, locks: Sequence[str], trylock: int) -> Measured:
    """Cycles of the median lock on a core that held it last."""
    values = acquire(lab, STUDY, _study_locks(lab, locks), (0,), trylock)
    words = ", ".join(f"{lock} {cycles:.0f}" for lock, cycles in values.items())
    return Measured(statistics.median(values.values()), words=words)


def _handover(lab: Lab, lock: str) -> Measured:
    [ours] = _study_locks(lab, [lock])
    runs = lab.runs(STUDY, "one-lock", ours, 64)
    cycles = [value * runs.mhz / 1000 for value in runs.values("handover_ns")]
    return Measured(
        statistics.median(cycles), min(cycles), max(cycles), "64 threads, one lock"
    )


TRYLOCK = {"hmcs": 220, "c-bo-mcs": 170, "spinlock": 60, "mcs": 80}
ACQUIRE = {
    "light": (("backoff", "spinlock", "ticket", "ttas"), 40),
    "hierarchical": (("c-bo-mcs", "c-tkt-tkt", "c-ptl-tkt", "hmcs"), 190),
}
HANDOVER = {"mcs": 460, "spinlock": 46_000}

CLAIMS = (
    *(
        Claim(
            identity,
            machine,
            PREDICTED,
            "a free lock: remote acquisition over local, at most",
            partial(_remote_by_local, machine=machine),
            ratio,
            ratio,
        )
        for identity, machine, ratio in (("S32", OPTERON, 12.5), ("S33", XEON, 11.0))
    ),
    *(
        Claim(
            f"S34/{short_name(machine)}",
            machine,
            PREDICTED,
            "a free lock: acquisition across sockets",
            partial(_across, machine=machine),
            350,
            450,
            "cycles",
        )
        for machine in MULTI_SOCKETS
    ),
    *(
        Claim(
            f"S35/{short_name(machine)}",
            machine,
            PREDICTED,
            "a free lock: acquisition",
            partial(_single_socket, machine=machine),
            200,
            200,
            "cycles",
        )
        for machine in SINGLE_SOCKETS
    ),
    *(
        Claim(
            f"S36/{short_name(machine)}",
            machine,
            PREDICTED,
            "a free lock: distance of the previous holder has little or no effect",
            partial(_by_place, machine=machine),
            1.0,
            1.0,
        )
        for machine in SINGLE_SOCKETS
    ),
    *(
        Claim(
            f"T42/{lock}",
            STUDY,
            PREDICTED,
            f"trylock of a free {lock}",
            partial(_cost, locks=[lock], trylock=1),
            cycles,
            cycles,
            "cycles",
            group="TOCS",
        )
        for lock, cycles in TRYLOCK.items()
    ),
    *(
        Claim(
            identity,
            STUDY,
            PREDICTED,
            f"acquisition of a free lock, {kind} locks",
            partial(_cost, locks=ACQUIRE[kind][0], trylock=0),
            ACQUIRE[kind][1],
            ACQUIRE[kind][1],
            "cycles",
            group="TOCS",
        )
        for identity, kind in (("T43", "light"), ("T44", "hierarchical"))
    ),
    *(
        Claim(
            f"T48/{lock}",
            STUDY,
            PREDICTED,
            f"handover of {lock}, one thread per core",
            partial(_handover, lock=lock),
            cycles,
            cycles,
            "cycles",
            group="TOCS",
        )
        for lock, cycles in HANDOVER.items()
    ),
)
