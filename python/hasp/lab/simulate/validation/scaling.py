# SPDX-License-Identifier: MIT
"""How Hasp's locks scale beside their published forms, on simulated machines."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hasp.base.errors import HaspError
from hasp.lab.simulate.job import OK, Record
from hasp.lab.simulate.machines.machine import load
from hasp.lab.simulate.pool import Pool
from hasp.lab.simulate.validation.lab import Lab, Unanswered
from hasp.lab.simulate.validation.lock_sets import Form

MACHINES = ("opteron-48", "xeon-80", "haswell-72", "epyc-192")
LOCK_COUNTS = (1, 16, 512)
FEW_THREADS = (1, 12, 24)
# Locks whose published form has the same name in hasp-simulate-published.
PUBLISHED = (
    "ticket",
    "ticket-backoff",
    "alock",
    "mcs",
    "clh",
    "c-tkt-tkt",
    "hticket",
    "hclh",
    "twa",
    "hapax",
    "cna",
    "hemlock",
    "reciprocating",
    "hmcs",
    "ahmcs",
    "c-bo-mcs",
    "c-ptl-tkt",
    "fc-mcs",
    "shfl",
    "fissile",
    "malthusian",
)

CNA = "Dice and Kogan, EuroSys 2019"


@dataclass(frozen=True)
class PaperRatio:
    """A paper's statement how a lock's throughput relates to that of mcs."""

    lock: str
    machine: str
    threads: int
    ratio: float
    source: str


# All with a key-value map under one lock, a fifth of the operations updates.
MAP = "global-table"
MAP_KNOBS = {"put_percent": 10, "remove_percent": 10, "think_cycles": 0}
PAPER_RATIOS = (
    PaperRatio("cna", "haswell-72", 70, 1.39, f"{CNA}: 39 % above MCS"),
    PaperRatio("cna", "i-48", 48, 1.97, f"{CNA}: 97 % above MCS on four sockets"),
    PaperRatio("hmcs", "haswell-72", 70, 1.39, f"{CNA}: similar to CNA"),
    PaperRatio("c-bo-mcs", "haswell-72", 70, 1.39, f"{CNA}: similar to CNA"),
    PaperRatio(
        "fissile",
        "haswell-72",
        70,
        1.39,
        "Dice and Kogan, arXiv 2020: like CNA at high contention",
    ),
    PaperRatio("twa", "haswell-72", 70, 1.0, "Dice and Kogan, Euro-Par 2019: as MCS"),
    PaperRatio("hemlock", "haswell-72", 70, 1.0, "Dice and Kogan, SPAA 2021: as MCS"),
    PaperRatio("hapax", "haswell-72", 70, 1.0, "Dice and Kogan, PPoPP 2026: as MCS"),
    PaperRatio(
        "reciprocating", "haswell-72", 70, 1.0, "Dice and Kogan, PPoPP 2025: as MCS"
    ),
)


@dataclass(frozen=True)
class Cell:
    """A lock under one load on one machine."""

    machine: str
    lock: str
    threads: int
    locks: int

    @property
    def workload(self) -> str:
        """The simulator's workload."""
        return f"n-locks:{self.locks}" if self.locks > 1 else "one-lock"


@dataclass(frozen=True)
class Result:
    """Millions of operations a second of both forms, and transfers of lines for each
    operation."""

    cell: Cell
    shipped: float
    published: float
    shipped_transfers: float
    published_transfers: float

    @property
    def ratio(self) -> float:
        """Shipped by published."""
        return self.shipped / self.published

    def to_record(self) -> dict[str, Any]:
        """Return the result as JSON."""
        figures = {key: value for key, value in asdict(self).items() if key != "cell"}
        return {
            **asdict(self.cell),
            **{key: float(f"{value:.4g}") for key, value in figures.items()},
        }


def cells(
    machines: Iterable[str],
    locks: Sequence[str],
    threads: Sequence[int] | None = None,
    lock_counts: Iterable[int] = LOCK_COUNTS,
) -> list[Cell]:
    """Return the cells of a table; `threads` None: 1, 12, 24 and all CPUs."""
    found = []
    for name in machines:
        most = load(name).topology.cpus
        counts = threads or (*(n for n in FEW_THREADS if n < most), most)
        found += [
            Cell(name, lock, count, number)
            for lock in locks
            for number in lock_counts
            for count in counts
        ]
    return found


@contextmanager
def laboratory(width: int | None) -> Iterator[dict[Form, Lab]]:
    """Yield a lab for each form of the locks; they share a pool of `width` runs."""
    pool = Pool(width)
    with tempfile.TemporaryDirectory() as folder:
        try:
            yield {form: Lab(Path(folder), pool, form) for form in Form}
        finally:
            pool.stop()


def measure(
    labs: dict[Form, Lab],
    wanted: Iterable[Cell],
    seeds: Sequence[int],
    duration_ns: int,
) -> Iterator[Result]:
    """Simulate both forms in each cell; yields the results in the order of the cells.

    Raises HaspError if a run fails.
    """

    def start(lab: Lab, cell: Cell) -> list[Future[Record]]:
        jobs = lab.jobs(
            cell.machine,
            cell.workload,
            cell.lock,
            cell.threads,
            seeds=seeds,
            duration_ns=duration_ns,
        )
        return [lab.pool.submit(job) for job in jobs]

    started = [
        (cell, {form: start(labs[form], cell) for form in Form}) for cell in wanted
    ]
    for cell, runs in started:
        shipped = _figures(cell, runs[Form.SHIPPED])
        published = _figures(cell, runs[Form.PUBLISHED])
        yield Result(cell, shipped[0], published[0], shipped[1], published[1])


def ratio_to_mcs(lab: Lab, claim: PaperRatio, seeds: Sequence[int]) -> float:
    """Return the throughput of a claim's lock by that of mcs.

    Raises HaspError if a run fails.
    """
    try:
        runs = lab.compare(
            claim.machine,
            MAP,
            (claim.lock, "mcs"),
            claim.threads,
            MAP_KNOBS,
            seeds=seeds,
        )
    except Unanswered as error:
        raise HaspError(f"{claim}: {error}") from None
    return runs[claim.lock].mops / runs["mcs"].mops


def _figures(cell: Cell, futures: Iterable[Future[Record]]) -> tuple[float, float]:
    """Return throughput and transfers for each operation, means over the seeds."""
    records = [future.result() for future in futures]
    for record in records:
        if record["outcome"] != OK:
            raise HaspError(f"{cell}: {record['detail']}")
    throughput = [float(record["throughput_mops"]) for record in records]
    transfers = [
        (record["transfers_local"] + record["transfers_remote"]) / record["operations"]
        for record in records
    ]
    return sum(throughput) / len(records), sum(transfers) / len(records)
