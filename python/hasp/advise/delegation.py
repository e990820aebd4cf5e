# SPDX-License-Identifier: MIT
"""Whether to delegate the sections of the worst site: simulated on a machine.

The site becomes a workload of the simulator, as in forecast.py, whose sections also
read and write a cache line that they share. It runs under locks and under executors,
with a thread for each CPU; delegation is proposed if the best executor wins by a
margin.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from hasp.advise.forecast import DURATION_NS, MOST_LOCKS, WARM_UP_NS, pause_of
from hasp.lab.simulate import placement
from hasp.lab.simulate.job import OK
from hasp.lab.simulate.machines.machine import Machine
from hasp.lab.simulate.options import Options
from hasp.lab.simulate.pool import run_jobs
from hasp.lab.simulate.simulation import flattened, plan
from hasp.locks.native import lock as lock_named
from hasp.profile.model.profile import Kind, Profile, Site

# The locks that are among the fastest on the simulated machines, and executors of each
# kind: in place if uncontended, a combining queue, a server.
LOCKS = ("futex", "mcs", "clh-prefetch", "auto")
EXECUTORS = ("adaptive", "cc-synch", "rcl")
# Executors must win by so much: sources have to be changed for them, and most of the
# simulator's figures agree with published ones within 25 %.
MARGIN = 1.25


@dataclass(frozen=True)
class Gain:
    """Simulated sections per second of the best lock and of the best executor."""

    site: str
    machine: str
    threads: int
    section_ns: int
    pause_ns: int
    lock: str
    lock_rate: float
    executor: str
    executor_rate: float

    @property
    def ratio(self) -> float:
        """How many times as many sections the executor executes."""
        return self.executor_rate / self.lock_rate

    @property
    def wins(self) -> bool:
        """Whether delegation should be proposed."""
        return self.ratio >= MARGIN

    @property
    def sentence(self) -> str:
        """What to do, and the figures."""
        compared = (
            f"simulated on {self.machine} with {self.threads} threads, {self.executor} "
            f"executes {self.ratio:.2f} times as many of its sections as {self.lock}, "
            "the best lock"
        )
        if not self.wins:
            return f"do not delegate {self.site}: {compared}"
        command = f"hasp delegate --lock {self.site.split(' ')[0]}"
        return f"delegate {self.site}: {compared}; `{command}` rewrites its sections"

    def as_json(self) -> dict[str, object]:
        """Return it as a JSON record."""
        return {
            "simulated": True,
            **dataclasses.asdict(self),
            "ratio": self.ratio,
            "delegate": self.wins,
        }


def gain_of(profile: Profile, site: Site, machine: Machine) -> Gain | None:
    """Simulate the site; None if it has no mutexes, or no section was timed."""
    use = site.total
    section = use.hold.quantile(0.5) if use else None
    if site.kind is not Kind.MUTEX or use is None or section is None:
        return None
    pause = pause_of(profile, site, use.acquisitions)
    knobs = {
        "locks": str(max(1, min(len(site.locks), MOST_LOCKS))),
        "cs_lines": "1",
        "cs_ns": str(round(section)),
        "think_ns": str(round(pause)),
        "think_cycles": "0",
    }
    duration = max(DURATION_NS, round(50 * (section + pause)))
    locks = rates_of(machine, duration, LOCKS, knobs)
    executors = {
        name: rate
        for name in EXECUTORS
        for rate in rates_of(
            machine, duration, ("mcs",), {**knobs, "executor": name}
        ).values()
    }
    if not locks or not executors:
        return None
    lock, executor = (max(rates, key=rates.__getitem__) for rates in (locks, executors))
    return Gain(
        site.name,
        machine.name,
        machine.topology.cpus,
        round(section),
        round(pause),
        lock,
        locks[lock],
        executor,
        executors[executor],
    )


def rates_of(
    machine: Machine, duration: int, locks: tuple[str, ...], knobs: dict[str, str]
) -> dict[str, float]:
    """Return the sections per second under each lock that could be simulated."""
    options = Options(
        machine=machine,
        workload="delegation",
        locks=[lock_named(name) for name in locks],
        threads=[machine.topology.cpus],
        placement=placement.DEFAULT,
        seeds=[1],
        warm_up_ns=WARM_UP_NS,
        duration_ns=duration,
        knobs=knobs,
    )
    with flattened(machine) as machine_file:
        return {
            record["lock"]: 1e6 * float(record["throughput_mops"])
            for record in run_jobs(plan(options, machine_file), None)
            if record["outcome"] == OK and record["throughput_mops"]
        }
