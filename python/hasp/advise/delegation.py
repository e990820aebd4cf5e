# SPDX-License-Identifier: MIT
"""Whether to delegate the sections of the worst site: simulated on a machine.

The site becomes a workload of the simulator, as in forecast.py, whose sections also
read and write a cache line that they share. It runs under locks and under executors,
with a thread for each CPU; delegation is proposed if the best executor wins by a
margin. No recording shows whether sections write what they share; what executors save
is the way of that data. So, where they win, sections that write nothing are simulated
too, and the proposal says whether it is for them as well; where they lose, sections of
the same length that write many lines are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from hasp.advise.forecast import DURATION_NS, MOST_LOCKS, WARM_UP_NS, pause_of
from hasp.lab.simulate import placement
from hasp.lab.simulate.job import OK, Record
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
WIDE_LINES = 20  # of sections that write much


@dataclass(frozen=True)
class Comparison:
    """Simulated sections per second of the best lock and of the best executor."""

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


@dataclass(frozen=True)
class Prediction:
    """What delegation gains if sections write one shared line, none, or many."""

    written: Comparison
    read: Comparison | None  # None: not simulated, because one line loses
    wide: Comparison | None  # None: not simulated, because one line wins

    def wins(self, lines: int = 1) -> bool:
        """Whether to delegate sections that write so many lines that they share."""
        if self.written.wins:
            return lines > 0 or (self.read is not None and self.read.wins)
        return lines >= WIDE_LINES and self.wide is not None and self.wide.wins


@dataclass(frozen=True)
class Gain:
    """What delegation gains at a site."""

    site: str
    machine: str
    threads: int
    section_ns: int
    pause_ns: int
    predicted: Prediction

    @property
    def sentence(self) -> str:
        """What to do, and the figures."""
        best = self.predicted.written
        compared = (
            f"simulated on {self.machine} with {self.threads} threads, {best.executor} "
            f"executes {best.ratio:.2f} times as many of its sections as {best.lock}, "
            "the best lock"
        )
        wide = self.predicted.wide
        if not self.predicted.wins():
            said = f"do not delegate {self.site}: {compared}"
            if wide is None or not wide.wins:
                return said
            return (
                f"{said}. Do if each of them writes {WIDE_LINES} cache lines or more: "
                f"{wide.ratio:.2f} times"
            )
        command = f"hasp delegate --lock {self.site.split(' ')[0]}"
        said = f"delegate {self.site}: {compared}; `{command}` rewrites its sections"
        read = self.predicted.read
        if read is None or self.predicted.wins(0):
            return said
        return f"{said}. Not if they only read what they share: {read.ratio:.2f} times"

    def as_json(self) -> dict[str, object]:
        """Return it as a JSON record."""
        best, read = self.predicted.written, self.predicted.read
        wide = self.predicted.wide
        return {
            "simulated": True,
            "site": self.site,
            "machine": self.machine,
            "threads": self.threads,
            "section_ns": self.section_ns,
            "pause_ns": self.pause_ns,
            **dataclasses.asdict(best),
            "ratio": best.ratio,
            "delegate": self.predicted.wins(),
            "read_only_ratio": read.ratio if read else None,
            "delegate_read_only": self.predicted.wins(0),
            "wide_ratio": wide.ratio if wide else None,
            "delegate_wide": self.predicted.wins(WIDE_LINES),
        }


def gain_of(profile: Profile, site: Site, machine: Machine) -> Gain | None:
    """Simulate the site; None if it has no mutexes, or no section was timed."""
    use = site.total
    section = use.hold.quantile(0.5) if use else None
    if site.kind is not Kind.MUTEX or use is None or section is None:
        return None
    pause = pause_of(profile, site, use.acquisitions)
    locks = max(1, min(len(site.locks), MOST_LOCKS))
    predicted = predict(machine, round(section), round(pause), locks)
    if not predicted:
        return None
    return Gain(
        site.name,
        machine.name,
        machine.topology.cpus,
        round(section),
        round(pause),
        predicted,
    )


def predict(
    machine: Machine, section_ns: int, pause_ns: int, locks: int
) -> Prediction | None:
    """Simulate sections of this length, with pauses between them.

    None if that is not possible: some executors need a thread of their own, so the
    machine must have at least two CPUs.
    """
    if machine.topology.cpus < 2:
        return None
    duration = max(DURATION_NS, 50 * (section_ns + pause_ns))
    knobs = {
        "locks": str(locks),
        "cs_lines": "1",
        "cs_ns": str(section_ns),
        "think_ns": str(pause_ns),
        "think_cycles": "0",
    }
    written = _compared(machine, duration, knobs)
    if not written:
        return None
    if written.wins:
        none = {**knobs, "cs_lines": "0"}
        return Prediction(written, _compared(machine, duration, none), None)
    further_ns = max(0, section_ns - round(_wide_ns(machine, duration, knobs)))
    wide = {**knobs, "cs_lines": str(WIDE_LINES), "cs_ns": str(further_ns)}
    return Prediction(written, None, _compared(machine, duration, wide))


def _wide_ns(machine: Machine, duration: int, knobs: dict[str, str]) -> float:
    """Return how long it takes to write the lines of a wide section."""
    one_lock = {name: value for name, value in knobs.items() if name != "locks"}
    none, wide = (
        after_acquiring_ns(
            machine, duration, {**one_lock, "cs_lines": str(lines), "cs_ns": "0"}
        )
        for lines in (0, WIDE_LINES)
    )
    return wide - none


def after_acquiring_ns(machine: Machine, duration: int, knobs: dict[str, str]) -> float:
    """Return the median time from an acquisition to the end of the release, if two
    threads use a lock with glibc's algorithm; 0 if that cannot be simulated."""
    records = list(_records(machine, "one-lock", ("futex",), 2, duration, knobs))
    if not records:
        return 0
    (record,) = records
    return float(record["operation_p50_ns"] - record["acquire_p50_ns"])


def _compared(
    machine: Machine, duration: int, knobs: dict[str, str]
) -> Comparison | None:
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
    return Comparison(lock, locks[lock], executor, executors[executor])


def rates_of(
    machine: Machine, duration: int, locks: tuple[str, ...], knobs: dict[str, str]
) -> dict[str, float]:
    """Return the sections per second under each lock that could be simulated."""
    cpus = machine.topology.cpus
    return {
        record["lock"]: 1e6 * float(record["throughput_mops"])
        for record in _records(machine, "delegation", locks, cpus, duration, knobs)
        if record["throughput_mops"]
    }


def _records(
    machine: Machine,
    workload: str,
    locks: tuple[str, ...],
    threads: int,
    duration: int,
    knobs: dict[str, str],
) -> Iterator[Record]:
    """Yield the records of the runs that could be simulated."""
    options = Options(
        machine=machine,
        workload=workload,
        locks=[lock_named(name) for name in locks],
        threads=[threads],
        placement=placement.DEFAULT,
        seeds=[1],
        warm_up_ns=WARM_UP_NS,
        duration_ns=duration,
        knobs=knobs,
    )
    with flattened(machine) as machine_file:
        for record in run_jobs(plan(options, machine_file), None):
            if record["outcome"] == OK:
                yield record
