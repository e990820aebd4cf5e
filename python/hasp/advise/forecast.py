# SPDX-License-Identifier: MIT
"""Forecast of each lock's performance at the worst site, on a simulated machine.

The site becomes a workload of the simulator that has its median critical section, the
time a thread spends between two critical sections, and its number of locks. The rest of
the program is ignored, so the forecast is about the lock, not the program.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from hasp.base.errors import HaspError
from hasp.lab.simulate import placement
from hasp.lab.simulate.job import OK
from hasp.lab.simulate.machines.machine import Machine
from hasp.lab.simulate.options import Options
from hasp.lab.simulate.pool import run_jobs
from hasp.lab.simulate.simulation import flattened, plan
from hasp.locks.native import REFERENCE
from hasp.locks.native import lock as lock_named
from hasp.profile.diagnosis.measure import spinning_share
from hasp.profile.model.profile import Profile, Site

DURATION_NS, WARM_UP_NS = 2_000_000, 200_000  # of simulated time
MOST_LOCKS = 1024  # locks of one site that are simulated separately


@dataclass(frozen=True)
class Forecast:
    """Simulated operations per second of each lock."""

    machine: str
    workload: str
    section_ns: int
    pause_ns: int
    threads: int
    rates: dict[str, float]

    @property
    def best(self) -> str | None:
        """The name of the fastest lock."""
        return max(self.rates, key=lambda name: self.rates[name], default=None)


def forecast(
    profile: Profile, site: Site, machine: Machine, locks: Sequence[str]
) -> Forecast:
    """Simulate the locks, and always futex (glibc's algorithm), on the machine."""
    use = site.total
    section = use.hold.quantile(0.5) if use else None
    if use is None or section is None:
        raise HaspError(
            f"the critical sections of {site.name} were not timed, so they cannot be "
            "simulated",
            "record without --sample, or for a longer time",
        )
    pause = pause_of(profile, site, use.acquisitions)
    many = min(len(site.locks), MOST_LOCKS)
    names = dict.fromkeys(["futex", *(name for name in locks if name != REFERENCE)])
    options = Options(
        machine=machine,
        workload="one-lock" if many <= 1 else f"n-locks:{many}",
        locks=[lock_named(name) for name in names],
        threads=[machine.topology.cpus],
        placement=placement.DEFAULT,
        seeds=[1],
        warm_up_ns=WARM_UP_NS,
        duration_ns=max(DURATION_NS, round(50 * (section + pause))),
        knobs={
            "cs_ns": str(round(section)),
            "think_ns": str(round(pause)),
            "think_cycles": "0",
        },
    )
    rates = {}
    with flattened(machine) as machine_file:
        for record in run_jobs(plan(options, machine_file), None):
            if record["outcome"] == OK:
                rates[record["lock"]] = 1e6 * float(record["throughput_mops"])
    return Forecast(
        machine.name,
        options.workload,
        round(section),
        round(pause),
        machine.topology.cpus,
        rates,
    )


def pause_of(profile: Profile, site: Site, acquisitions: int) -> float:
    """Return a thread's average work between two critical sections of the site, in ns.

    That is its CPU time outside of critical sections; parked waits use no CPU time.
    """
    parked = 1 - spinning_share(profile)
    outside = sum(
        max(0.0, thread.cpu_ns - thread.section_ns + thread.wait_ns * parked)
        for thread in profile.threads
        if thread.number in site.threads or not site.threads
    )
    return outside / max(1, acquisitions)


def words(result: Forecast) -> list[str]:
    """Return the forecast as lines of text, each labelled as simulated."""
    lines = [
        f"simulated on {result.machine}, {result.threads} threads, {result.workload}: "
        f"sections of {result.section_ns} ns, {result.pause_ns} ns between them"
    ]
    futex = result.rates.get("futex")
    for name, rate in sorted(result.rates.items(), key=lambda item: -item[1]):
        ratio = f", {rate / futex:.2f} times futex" if futex else ""
        lines.append(f"simulated: {name}: {rate:,.0f} operations/s{ratio}")
    return lines


def as_json(result: Forecast) -> dict[str, object]:
    """Return the forecast as a JSON record."""
    return {"simulated": True, **dataclasses.asdict(result), "best": result.best}
