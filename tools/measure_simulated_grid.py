#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare a lock with others on simulated machines, from no to extreme contention.

    PYTHONPATH=python tools/measure_simulated_grid.py
    PYTHONPATH=python tools/measure_simulated_grid.py --machines xeon-80 --missed

Sections are short or take 1 us, and threads pause for 0 to 5 us between them; there is
one thread, up to two for each CPU. Other cells call trylock in a loop. With more than
one thread, a lock has three runs with different seeds, and its throughput and its
fairness are the medians of theirs. Pauses vary by up to a tenth, as threads with equal
ones may take turns in an order in which hardly any of them has to wait. A lock counts
as fair in a cell if Jain's index of its threads' shares is at least 0.95 of that of the
mutex of glibc, which runs in its published form. Prints in how many cells the lock has
at least 0.9 and 0.75 of the best of the fair locks, and of all of them; --missed adds
the cells below 0.9. FlexGuard needs an eBPF program, so Hasp does not offer it: its
published form is compared with the lock, and does not count as the best.
Takes about five minutes on two CPUs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import geometric_mean, median

from hasp.base.errors import HaspError
from hasp.lab.simulate import placement
from hasp.lab.simulate.job import ENGINE, OK, PUBLISHED_ENGINE, Job, Record
from hasp.lab.simulate.machines.machine import Machine, load
from hasp.lab.simulate.pool import Pool
from hasp.lab.simulate.simulation import flattened

MACHINES = "opteron-48,xeon-80,epyc-2x64,epyc-192"
OTHERS = (
    "futex,ttas-backoff,mcs,cna,hmcs,c-bo-mcs,malthusian-park,shfl,glk,shfl-park,"
    "c-bo-mcs-park,mcs-park"
)
GLIBC = "glibc"
BESIDE = ("flexguard",)  # compared with the lock only
FORMS = {GLIBC: "futex", "flexguard": "flexguard"}  # that run as published
SECTIONS_NS = (0, 1000)
PAUSES_NS = (0, 200, 1000, 5000)
TRYLOCK = (("put_percent", "20"), ("trylock", "1"))
JITTER = ("jitter_percent", "10")  # or else seeds differ in the first pauses only
SEEDS = (1, 2, 3)
FAIR, NEAR, LEAST = 0.95, 0.9, 0.75


@dataclass(frozen=True)
class Cell:
    """A load on a machine."""

    machine: str
    threads: int
    workload: str
    knobs: tuple[tuple[str, str], ...]

    def job(self, machine: Machine, file: str, lock: str, seed: int = 1) -> Job:
        """Return a run of a lock."""
        most = machine.topology.cpus
        fits = self.threads <= most
        return Job(
            machine=file,
            workload=self.workload,
            lock=FORMS.get(lock, lock),
            threads=self.threads,
            cpus=tuple(placement.cpus(machine, self.threads, "default", 1))
            if fits
            else None,
            seed=seed,
            warm_up_ns=1_000_000,
            duration_ns=6_000_000 if fits else 20_000_000,
            knobs=(*self.knobs, JITTER),
            engine=PUBLISHED_ENGINE if lock in FORMS else ENGINE,
        )

    @property
    def seeds(self) -> tuple[int, ...]:
        """Return the seeds of a lock's runs."""
        return SEEDS if self.threads > 1 else SEEDS[:1]

    def __str__(self) -> str:
        load_of = " ".join(f"{name}={value}" for name, value in self.knobs)
        return f"{self.machine} {self.threads} threads {load_of}"


def cells(machine: str, most: int) -> Iterator[Cell]:
    """Yield the cells of a machine with that many CPUs."""
    few = (2, most // 8, most // 2, most)
    for section in SECTIONS_NS:
        for pause in PAUSES_NS:
            knobs = (("cs_ns", str(section)), ("think_ns", str(pause)))
            for threads in (1, *few):
                yield Cell(machine, threads, "one-lock", knobs)
            yield Cell(machine, 2 * most, "oversubscribed", knobs)
    for threads in few:
        yield Cell(machine, threads, "global-table", TRYLOCK)


def measure(
    machines: list[str], locks: list[str], width: int | None
) -> dict[Cell, dict[str, Record]]:
    """Run all locks in all cells."""
    pool = Pool(width)
    found: dict[Cell, dict[str, Record]] = {}
    try:
        for name in machines:
            machine = load(name)
            with flattened(machine) as file:
                futures = {
                    (cell, lock): [
                        pool.submit(cell.job(machine, file, lock, seed))
                        for seed in cell.seeds
                    ]
                    for cell in cells(name, machine.topology.cpus)
                    for lock in locks
                }
                for (cell, lock), runs in futures.items():
                    records = [_checked(cell, run.result()) for run in runs]
                    found.setdefault(cell, {})[lock] = middle(records)
    finally:
        pool.stop()
    return found


def _checked(cell: Cell, record: Record) -> Record:
    if record["outcome"] != OK:
        raise HaspError(
            f"{record['lock']}, {cell}: {record['detail']}", "a bug in Hasp"
        )
    return record


def middle(records: list[Record]) -> Record:
    """Return the run with the median throughput, with the median fairness of all."""
    ordered = sorted(records, key=lambda run: float(run["throughput_mops"]))
    fairness = median(float(run["jain_fairness"]) for run in records)
    return {**ordered[len(ordered) // 2], "jain_fairness": fairness}


def best(records: dict[str, Record], lock: str, *, fair: bool) -> str:
    """Return the lock with the highest throughput; `lock` itself always takes part."""
    least = FAIR * float(records[GLIBC]["jain_fairness"]) if fair else 0
    return max(
        (
            other
            for other, record in records.items()
            if other in (lock, GLIBC)
            or (other not in BESIDE and record["jain_fairness"] >= least)
        ),
        key=lambda other: float(records[other]["throughput_mops"]),
    )


def ratio(records: dict[str, Record], lock: str, other: str) -> float:
    """Return the throughput of a lock by that of another one."""
    own = float(records[lock]["throughput_mops"])
    return own / float(records[other]["throughput_mops"])


def summary(found: dict[Cell, dict[str, Record]], lock: str, *, fair: bool) -> str:
    """Return the counts as a sentence."""
    ratios = [
        ratio(records, lock, best(records, lock, fair=fair))
        for records in found.values()
    ]
    near, enough = (sum(each >= limit for each in ratios) for limit in (NEAR, LEAST))
    return (
        f"{lock} has at least {NEAR} of the best {'fair ' if fair else ''}lock in "
        f"{near} of {len(ratios)} cells ({100 * near / len(ratios):.0f} %), at least "
        f"{LEAST} in {enough} ({100 * enough / len(ratios):.0f} %); the lowest is "
        f"{min(ratios):.2f}"
    )


def beside(found: dict[Cell, dict[str, Record]], lock: str, other: str) -> str:
    """Return how a lock compares with another one, as a sentence."""
    cells_by_load = {
        "threads outnumber CPUs": [
            each for cell, each in found.items() if cell.workload == "oversubscribed"
        ],
        "each thread has a CPU": [
            each for cell, each in found.items() if cell.workload != "oversubscribed"
        ],
    }
    parts = []
    for load_of, records in cells_by_load.items():
        ratios = [ratio(each, lock, other) for each in records]
        near = sum(each >= NEAR for each in ratios)
        fairness = [
            median(float(each[name]["jain_fairness"]) for each in records)
            for name in (lock, other)
        ]
        parts.append(
            f"where {load_of}, {lock} has at least {NEAR} of {other} in {near} of "
            f"{len(ratios)} cells, {geometric_mean(ratios):.2f} in the geometric mean, "
            f"at least {min(ratios):.2f}, at most {max(ratios):.2f} (median fairness "
            f"{fairness[0]:.2f} and {fairness[1]:.2f})"
        )
    return "; ".join(parts)


def missed(found: dict[Cell, dict[str, Record]], lock: str) -> Iterator[str]:
    """Yield a line for each cell in which the lock has less than 0.9 of the best."""
    for cell, records in found.items():
        ahead = best(records, lock, fair=True)
        share = ratio(records, lock, ahead)
        if share < NEAR:
            own, other = (_lines(records[each]) for each in (lock, ahead))
            yield f"{share:.2f} of {ahead:<15} {cell}: {own}, {other}"


def _lines(record: Record) -> str:
    moved = int(record["transfers_local"]) + int(record["transfers_remote"])
    return f"{moved / max(1, int(record['operations'])):.1f} lines"


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--lock", default="auto")
    add("--others", default=OTHERS, metavar="LIST")
    add("--machines", default=MACHINES, metavar="LIST")
    add("--missed", action="store_true", help="print the cells below 0.9")
    add("--jobs", type=int, metavar="N")
    given = parser.parse_args()
    locks = list(dict.fromkeys((given.lock, GLIBC, *BESIDE, *given.others.split(","))))
    try:
        found = measure(given.machines.split(","), locks, given.jobs)
    except HaspError as error:
        print(error.message, file=sys.stderr)
        return 1
    if given.missed:
        print("\n".join(missed(found, given.lock)))
    for fair in (True, False):
        print(summary(found, given.lock, fair=fair))
    for other in BESIDE:
        print(beside(found, given.lock, other))
    return 0


if __name__ == "__main__":
    sys.exit(main())
