# SPDX-License-Identifier: MIT
"""Carries out `hasp simulate`: plans the runs, executes them and reports."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from hasp.base.errors import EXIT_FINDING, HaspError, Interrupted
from hasp.base.figures import check_figure
from hasp.base.output import STDOUT, check_writable, note, write_json
from hasp.base.signals import interrupt_on_signals
from hasp.base.suggestion import did_you_mean
from hasp.lab.simulate import placement
from hasp.lab.simulate.figure import draw
from hasp.lab.simulate.job import OK, Job, Record, Workload, workloads
from hasp.lab.simulate.machines.flat import flatten
from hasp.lab.simulate.machines.machine import Machine
from hasp.lab.simulate.options import Options
from hasp.lab.simulate.pool import run_jobs
from hasp.lab.simulate.report import print_results
from hasp.locks.kinds import MUTEX, kind_of


def workload_of(text: str, known: Sequence[Workload] | None = None) -> Workload:
    """Return the workload `NAME[:N]`, by default from those of the simulator.

    Raises HaspError with suggestions.
    """
    name = text.partition(":")[0]
    known = workloads() if known is None else known
    for workload in known:
        if workload.name == name:
            if ":" in text and workload.shorthand is None:
                raise HaspError(
                    f"{name} takes no value after a colon", f"write --workload {name}"
                )
            return workload
    names = [workload.name for workload in known]
    offer = did_you_mean(name, names)
    raise HaspError(
        f"there is no workload {name!r}", f"{offer}choose one of {', '.join(names)}"
    )


@contextmanager
def flattened(machine: Machine) -> Iterator[str]:
    """Yield the path of the machine's flattened file, deleted when the context ends."""
    with tempfile.TemporaryDirectory(prefix="hasp-simulate-") as folder:
        path = Path(folder) / f"{machine.name}.machine"
        path.write_text(flatten(machine))
        yield str(path)


def default_threads(machine: Machine, workload: Workload) -> list[int]:
    """Return powers of two up to the number of CPUs, or four times that if unpinned."""
    most = machine.topology.cpus * (4 if workload.unpinned else 1)
    counts, count = {most}, workload.threads_least
    while count < most:
        counts.add(count)
        count *= 2
    return sorted(count for count in counts if count <= workload.threads_most)


def plan(options: Options, machine_file: str) -> list[Job]:
    """Return all runs. Raises HaspError if one of them is impossible."""
    workload = workload_of(options.workload)
    for name in options.knobs:
        if name not in workload.knobs:
            raise HaspError(
                f"{workload.name} has no knob {name!r}",
                f"its knobs are {', '.join(workload.knobs)}",
            )
    counts = options.threads or default_threads(options.machine, workload)
    workload.refuse_threads(counts, "leave that number out of --threads")
    locks = [lock.name for lock in options.locks if not lock.is_reference]
    if workload.takes_lock and not locks:
        kind = kind_of(workload.kind)
        raise HaspError(
            f"glibc's {kind.noun} cannot be simulated, as its source is not part of "
            "Hasp",
            "`futex` is the same algorithm"
            if kind is MUTEX
            else f"`hasp list --kind {kind.name}` prints the others",
        )
    chosen: list[str | None] = [*locks] if workload.takes_lock else [None]
    jobs = []
    for lock in chosen:
        for count in counts:
            for seed in options.seeds:
                cpus = None
                if not workload.unpinned or options.placement != placement.DEFAULT:
                    cpus = tuple(
                        placement.cpus(options.machine, count, options.placement, seed)
                    )
                jobs.append(
                    Job(
                        machine=machine_file,
                        workload=options.workload,
                        lock=lock,
                        threads=count,
                        cpus=cpus,
                        seed=seed,
                        warm_up_ns=options.warm_up_ns,
                        duration_ns=options.duration_ns,
                        knobs=tuple(sorted(options.knobs.items())),
                    )
                )
    return jobs


def simulate(options: Options) -> int:
    """Execute all runs and report them. Returns the exit status."""
    if options.json:
        check_writable(options.json)
    check_figure(options.plot)
    with flattened(options.machine) as machine_file:
        jobs = plan(options, machine_file)
        records: list[Record] = []
        interrupt_on_signals()
        try:
            for record in run_jobs(jobs, options.jobs):
                records.append({**record, "machine": options.machine.name})
                if record["outcome"] != OK:
                    note(f"{record['lock']}, {record['threads']} threads: failed")
        except Interrupted:
            note(f"interrupted after {len(records)} of {len(jobs)} runs")
            report(options, jobs, records)
            raise
    return report(options, jobs, records)


def report(options: Options, jobs: list[Job], records: list[Record]) -> int:
    """Print and write the records so far. Returns the exit status."""

    order = {(job.lock, job.threads, job.seed): at for at, job in enumerate(jobs)}
    records.sort(key=lambda row: order[row["lock"], row["threads"], row["seed"]])
    for record in records:
        record["placement"] = options.placement
    if options.json:
        write_json(records, options.json)
    if options.json != STDOUT:
        print_results(options, records)
    if options.plot and any(record["outcome"] == OK for record in records):
        draw(options.machine, options.workload, records, Path(options.plot))
    failed = any(record["outcome"] != OK for record in records)
    return EXIT_FINDING if failed else 0
