# SPDX-License-Identifier: MIT
"""Runs the experiments for claims, each once and several at a time."""

from __future__ import annotations

import json
import statistics
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from hasp.base.errors import HaspError
from hasp.lab.simulate import placement
from hasp.lab.simulate.job import ENGINE, OK, PUBLISHED_ENGINE, Job, Record
from hasp.lab.simulate.machines.flat import flatten
from hasp.lab.simulate.machines.machine import Machine, load
from hasp.lab.simulate.pool import Pool
from hasp.lab.simulate.validation.lock_sets import Form
from hasp.locks import native

SEEDS = (1, 2, 3)
WARM_UP_NS = 500_000
DURATION_NS = 4_000_000
MEASURER = "hasp-machine-simulated"
Knobs = Mapping[str, int | str]
ATOMICS = ("compare_exchange", "fetch_add", "test_and_set", "exchange")


class Unanswered(Exception):
    """An experiment failed, or the simulator does not support it."""


@dataclass(frozen=True)
class Runs:
    """Runs that differ only in their seeds."""

    records: tuple[Record, ...]
    mhz: int

    def value(self, key: str) -> float:
        """Return the median over the seeds."""
        return statistics.median(self.values(key))

    def values(self, key: str) -> list[float]:
        """Return the figure of each seed. Raises Unanswered if a run lacks it."""
        found = [record[key] for record in self.records]
        if any(figure is None for figure in found):
            raise Unanswered(f"the run has no {key}")
        return [float(figure) for figure in found]

    def cycles(self, key: str) -> float:
        """Convert a time in ns to cycles of the machine."""
        return self.value(key) * self.mhz / 1000

    @property
    def mops(self) -> float:
        """The throughput in millions of operations a second."""
        return self.value("throughput_mops")


class Lab:
    """Runs jobs on simulated machines for the claims, with one form of the locks."""

    def __init__(self, folder: Path, pool: Pool, form: Form) -> None:
        self.folder = folder
        self.pool = pool
        self.form = form
        self._measuring = threading.Semaphore(self.pool.width)

    def with_shipped_locks(self) -> Lab:
        """Return a lab that shares the pool and runs Hasp's own locks."""
        return Lab(self.folder, self.pool, Form.SHIPPED)

    @cache  # noqa: B019 - one lab for one validation
    def machine(self, name: str) -> Machine:
        """Return the machine with that name, with NUMA nodes as cohorts.

        Published forms know no others, so Hasp's locks are compared by them, too.
        """
        found = load(name)
        return replace(found, topology=replace(found.topology, cohorts="node"))

    @cache  # noqa: B019
    def file(self, name: str, **changes: int) -> str:
        """Return a machine's flattened file, with any constants overridden."""
        text = flatten(self.machine(name))
        for key, value in changes.items():
            table, _, rest = key.partition("__")
            lines = text.splitlines()
            at = next(
                i for i, s in enumerate(lines) if s.startswith(f"{table}.{rest} ")
            )
            lines[at] = f"{table}.{rest} {value}"
            text = "\n".join(lines) + "\n"
        path = self.folder / f"{name}{'-changed' if changes else ''}.machine"
        # Other threads may be writing or using the same file.
        part = path.with_suffix(f".{threading.get_ident()}")
        part.write_text(text)
        part.replace(path)
        return str(path)

    def cpus(self, name: str, threads: int) -> tuple[int, ...]:
        """Return the CPUs of `threads` threads in the default placement."""
        return tuple(placement.cpus(self.machine(name), threads, "default", 1))

    def pause(self, name: str, cpus: Sequence[int]) -> int:
        """The largest latency of an atomic among the CPUs, in cycles.

        As in SSYNC (section 5.4), a thread pauses that long after owning a line;
        otherwise it would get the line back before the others.
        """
        machine = self.machine(name)
        topology = machine.topology
        places = {topology.place_of(cpu) for cpu in cpus}
        rows = [
            topology.expand(machine.latencies[operation, "modified"])
            for operation in ATOMICS
        ]
        far = max(
            topology.between_places[one][other] for one in places for other in places
        )
        return max(row[far] for row in rows)

    def jobs(
        self,
        machine: str,
        workload: str,
        lock: str | None,
        threads: int,
        knobs: Knobs | None = None,
        *,
        cpus: Sequence[int] | None = None,
        seeds: Sequence[int] = SEEDS,
        duration_ns: int = DURATION_NS,
    ) -> list[Job]:
        """Return a job for each seed. By default, threads pause as in SSYNC."""
        places = tuple(cpus) if cpus is not None else self.cpus(machine, threads)
        wanted = {"think_cycles": self.pause(machine, places), **(knobs or {})}
        published = self.form is Form.PUBLISHED
        return [
            Job(
                machine=self.file(machine),
                workload=workload,
                lock=lock,
                threads=threads,
                cpus=places,
                seed=seed,
                warm_up_ns=WARM_UP_NS,
                duration_ns=duration_ns,
                knobs=tuple(sorted((key, str(wanted[key])) for key in wanted)),
                engine=PUBLISHED_ENGINE if lock and published else ENGINE,
            )
            for seed in seeds
        ]

    def runs(
        self,
        machine: str,
        workload: str,
        lock: str | None,
        threads: int,
        knobs: Knobs | None = None,
        *,
        cpus: Sequence[int] | None = None,
        seeds: Sequence[int] = SEEDS,
        duration_ns: int = DURATION_NS,
    ) -> Runs:
        """The runs of one lock with all seeds."""
        many = self.compare(
            machine,
            workload,
            [lock],
            threads,
            knobs,
            cpus=cpus,
            seeds=seeds,
            duration_ns=duration_ns,
        )
        return many[lock]

    def compare(
        self,
        machine: str,
        workload: str,
        locks: Sequence[str | None],
        threads: int,
        knobs: Knobs | None = None,
        *,
        cpus: Sequence[int] | None = None,
        seeds: Sequence[int] = SEEDS,
        duration_ns: int = DURATION_NS,
    ) -> Mapping[str | None, Runs]:
        """The runs of several locks."""
        jobs = {
            lock: self.jobs(
                machine,
                workload,
                lock,
                threads,
                knobs,
                cpus=cpus,
                seeds=seeds,
                duration_ns=duration_ns,
            )
            for lock in locks
        }
        futures = {
            lock: [self.pool.submit(job) for job in own] for lock, own in jobs.items()
        }
        mhz = self.machine(machine).mhz
        found = {}
        for lock, own in futures.items():
            records = tuple(future.result() for future in own)
            for record in records:
                if record["outcome"] != OK:
                    raise Unanswered(f"{lock or workload}: {record['detail']}")
            found[lock] = Runs(records, mhz)
        return found

    @cache  # noqa: B019
    def operation(
        self,
        machine: str,
        operation: str,
        state: str,
        cpus: tuple[int, ...],
        node: int | None = None,
        own_home: bool = False,
    ) -> float:
        """Cycles of one operation on a line, as `hasp machine` measures them.

        `cpus` are the measuring CPU, the holder and the sharers. With `own_home`, a
        line has its home where it was first touched even if homes are hashed.
        """
        file = (
            self.file(machine, model__hashed_home=0) if own_home else self.file(machine)
        )
        words = [measurer(), "coherence", "--machine", file, "--samples", "20"]
        words += ["--cpus", ",".join(map(str, cpus)), "--cases", f"{operation}:{state}"]
        if node is not None:
            words += ["--node", str(node)]
        with self._measuring:
            done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode != 0:
            raise Unanswered(done.stderr.strip() or f"status {done.returncode}")
        record = json.loads(done.stdout)
        samples = zip(record["cycles"], record["overheads"], strict=True)
        batch = record["batch"]
        cycles: list[float] = [(full - empty) / batch for full, empty in samples]
        return statistics.median(cycles)


@cache
def measurer() -> str:
    """Return the path of `hasp machine`'s program linked with the simulator."""
    try:
        return str(native.program(MEASURER))
    except HaspError as problem:
        raise Unanswered(problem.message) from None
