# SPDX-License-Identifier: MIT
"""Campaigns on a simulated machine: `hasp study run --on simulated:NAME`.

Programs with a `workload` run in the simulator under every lock except the reference.
Round n of a configuration uses seed n, so no run is repeated, and all hosts get the
same values.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path

from hasp.base.errors import HaspError, Interrupted
from hasp.base.output import note
from hasp.base.signals import interrupt_on_signals
from hasp.lab.simulate.job import OK, Job, Record
from hasp.lab.simulate.machines import machine as machines
from hasp.lab.simulate.machines.machine import Machine
from hasp.lab.simulate.options import Options
from hasp.lab.simulate.pool import run_jobs
from hasp.lab.simulate.simulation import flattened, plan
from hasp.locks.native import REFERENCE, lock
from hasp.study import shapes
from hasp.study.batch import journal_of, publish
from hasp.study.campaign import THROUGHPUT, Campaign
from hasp.study.journal import Journal, JournalEntry
from hasp.study.program import StudyProgram
from hasp.study.samples import create_or_open

PREFIX = "simulated:"
WARM_UP_NS, DURATION_NS = 200_000, 2_000_000
# Field of the simulator's record -> metric in the store.
ENERGY = "energy_nj_per_op"
METRICS = {
    "throughput_mops": THROUGHPUT,
    ENERGY: ENERGY,
    **{one.name: one.name for one in shapes.METRICS if one.name != THROUGHPUT},
}
LOWER_IS_BETTER = {
    ENERGY,
    *(one.name for one in shapes.METRICS if one.lower_is_better),
}


def machine_of(place: str) -> Machine:
    """Return the machine of `simulated:NAME`; NAME may be a file."""
    if not place.startswith(PREFIX) or place == PREFIX:
        raise HaspError(
            f"--on {place}: no such place",
            f"write {PREFIX}NAME, with a machine of `hasp simulate --list`",
        )
    return machines.load(place.removeprefix(PREFIX))


def carry_out(campaign: Campaign, folder: Path, place: str, given: str | None) -> int:
    """Simulate the runs that are left; after Ctrl-C the campaign is resumable."""
    machine = machine_of(place)
    if campaign.size_unit != "threads":
        raise HaspError(
            f"{campaign.path} uses `{campaign.size_unit}`, which are not simulated",
            "write `threads` instead of `nodes`",
        )
    ours = [program for program in campaign.programs if program.workload]
    for program in campaign.programs:
        if not program.workload:
            note(f"{program.name} is skipped: it is not a workload of the simulator")
    if not ours:
        raise HaspError(
            f"{campaign.path} has nothing to simulate",
            'give a program `workload = "one-lock"` instead of a command',
        )
    name = given or f"{machine.name} (simulated)"
    store = create_or_open(folder)
    journal = journal_of(campaign, store, name, alone=True)
    interrupt_on_signals()
    try:
        with flattened(machine) as file:
            for program in ours:
                _carry_out(program, machine, file, journal)
    except Interrupted:
        note("interrupted: the same command resumes from here")
        raise
    finally:
        publish(
            store,
            campaign,
            name,
            journal,
            lower=LOWER_IS_BETTER,
            more={"simulated": machine.name},
        )
        journal.close()
    return 0


def _carry_out(
    program: StudyProgram, machine: Machine, file: str, journal: Journal
) -> None:
    done = {
        (entry.program, entry.lock, entry.threads, entry.block)
        for entry in journal.entries
    }
    jobs = [
        job
        for job in _jobs(program, machine, file)
        if (program.name, job.lock or "", job.threads, job.seed) not in done
    ]
    for job, record in _records(jobs):
        journal.add(_entry(program, job, record))
        if record["outcome"] != OK:
            note(f"{program.name}, {job.lock}, {job.threads} threads: failed")


def _jobs(program: StudyProgram, machine: Machine, file: str) -> list[Job]:
    chosen = [lock(name) for name in program.settings.locks if name != REFERENCE]
    counts = [count for count in program.settings.threads if count]
    fitting = [count for count in counts if count <= machine.topology.cpus]
    if len(fitting) < len(counts):
        note(f"{program.name}: {machine.name} has {machine.topology.cpus} CPUs")
    options = Options(
        machine=machine,
        workload=str(program.workload),
        locks=chosen,
        threads=fitting,
        placement="default",
        seeds=list(range(1, program.repetition.least + 1)),
        warm_up_ns=WARM_UP_NS,
        duration_ns=DURATION_NS,
        knobs={name: str(value) for name, value in program.knobs.items()},
    )
    return plan(options, file) if fitting else []


def _records(jobs: list[Job]) -> Iterator[tuple[Job, Record]]:
    """Yield each record, with its job."""
    by_key = {(job.lock, job.threads, job.seed): job for job in jobs}
    for record in run_jobs(jobs):
        yield by_key[record["lock"], record["threads"], record["seed"]], record


def _entry(program: StudyProgram, job: Job, record: Record) -> JournalEntry:
    return JournalEntry(
        program.name,
        job.lock or "",
        job.threads,
        block=job.seed,
        outcome=record["outcome"],
        detail=record.get("detail", ""),
        values=dict(_values(record.items())) if record["outcome"] == OK else {},
        wall_s=0.0,
        noise="",
    )


def _values(items: Iterable[tuple[str, object]]) -> Iterator[tuple[str, float]]:
    for name, value in items:
        if name in METRICS and isinstance(value, int | float) and math.isfinite(value):
            yield METRICS[name], float(value)
