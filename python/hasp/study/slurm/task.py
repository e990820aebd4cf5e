# SPDX-License-Identifier: MIT
"""The work of one task of the array on a node, until no work is left for it.

One task runs all locks and sizes of a program, in whole random rounds, so that the runs
that are compared come from one node. Tasks on nodes of the same machine share the
programs: the first task to claim a program runs it, so that none waits for another.
Runs of earlier arrays count, whichever node made them.
"""

from __future__ import annotations

import dataclasses
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hasp.base import host
from hasp.base.errors import HaspError, Interrupted
from hasp.base.signals import interrupt_on_signals
from hasp.compare import run_record as record
from hasp.study.batch import journals_of
from hasp.study.campaign import Campaign
from hasp.study.carry_out import Carrying, Configuration
from hasp.study.journal import Journal, JournalEntry
from hasp.study.program import StudyProgram
from hasp.study.samples import open_store
from hasp.study.slurm.files import DONE, INTERRUPTED, REFUSED, Files, Task
from hasp.study.slurm.naming import kind_of, name_of_kind

LONGEST_MARGIN = 60.0  # seconds before the time limit at which a run is interrupted
SIGNAL_DELAY = 1.0  # seconds; a signal may reach us this much later than the program


@dataclass(frozen=True)
class TaskOrder:
    """The input of the tasks of an array."""

    campaign: Campaign
    store: Path  # absolute
    machine: str | None  # one name for all nodes; if None:
    machine_per: str  # whether a kind of nodes is a machine, or each node
    selection: str
    time_s: float


class PatientJournal(Journal):
    """A journal that ignores failures caused by Slurm.

    When a job is cancelled or preempted, all its processes get SIGTERM, and the
    measured program may die before this process gets it. So a failure is written only
    after the signal has had time to arrive.
    """

    def add(self, entry: JournalEntry) -> None:
        """Write an entry, unless an Interrupted arrives first."""
        if entry.outcome != record.OK:
            time.sleep(SIGNAL_DELAY)
        super().add(entry)


def carry_out(order: TaskOrder) -> str:
    """Do the work of a task; writes its state to the store, and returns it."""
    from submitit import JobEnvironment

    environment = JobEnvironment()
    array = environment.array_job_id or environment.raw_job_id
    facts = host.facts()
    files = Files(order.store, order.campaign.digest)
    task = Task(
        job=environment.job_id,
        node=os.environ.get("SLURMD_NODENAME", facts.hostname),
        selection=order.selection,
        host=facts.as_json(),
    )
    files.write(task)
    end: dict[str, Any]
    try:
        with time_limit(order.time_s):
            task = named(task, order, facts, files)
            files.write(task)
            share(task, order, files, array)
        end = {"outcome": DONE}
    except Interrupted:
        end = {"outcome": INTERRUPTED}
    except HaspError as problem:
        end = {
            "outcome": REFUSED,
            "message": problem.message,
            "remedy": problem.remedy,
        }
    files.write(dataclasses.replace(files.task(task.job), **end))
    return str(end["outcome"])


def named(task: Task, order: TaskOrder, facts: host.Host, files: Files) -> Task:
    """The task with its machine; raises HaspError if the node is of another kind."""
    by_kind = name_of_kind(facts) if order.machine_per == "kind" else task.node
    machine = order.machine or by_kind
    kind = kind_of(facts)
    agreed = files.agree(machine, kind, task.job)
    if agreed != kind:
        raise HaspError(
            f"the machine {machine} is {agreed}, but {task.node} is {kind}",
            "select equal nodes with --constraint or --partition, or drop --machine, "
            "so that each kind of nodes is a machine of its own",
        )
    return dataclasses.replace(task, machine=machine)


def share(task: Task, order: TaskOrder, files: Files, array: str) -> None:
    """Claim programs and run them until none is left."""
    campaign = order.campaign
    own = files.parts(task.machine) / f"{task.job}.jsonl"
    known = journals_of(campaign, open_store(order.store), task.machine)
    journal = PatientJournal(own, others=[path for path in known if path != own])
    try:
        with Carrying(campaign, journal) as carrying:
            task = dataclasses.replace(task, left_out=carrying.left_out)
            files.write(task)
            if len(task.left_out) == len(campaign.programs):
                raise HaspError(
                    f"no program of the campaign runs on {task.node}: "
                    + next(iter(task.left_out.values())),
                    "install one there, or load it by `setup` in the campaign [slurm]",
                )
            for number, program in by_length(campaign):
                others = {each.name for each in campaign.programs} - {program.name}
                left = next(carrying.steps(others), None) is not None
                if left and files.claim(array, task.machine, number, task.job):
                    print(f"{program.name}, on {task.node}", flush=True)
                    for one in carrying.steps(others):
                        tell(one, carrying.run(one))
    finally:
        journal.close()


def tell(one: Configuration, entry: JournalEntry) -> None:
    """Write a line to the job's log."""
    words = f"{one.cell.words}, block {entry.block}: {entry.outcome}"
    print(" ".join([words, entry.detail, entry.noise]).rstrip(), flush=True)


def by_length(campaign: Campaign) -> list[tuple[int, StudyProgram]]:
    """The programs with their numbers, the longest first, for an even distribution."""
    return sorted(
        enumerate(campaign.programs),
        key=lambda pair: -pair[1].seconds * len(pair[1].settings.cells),
    )


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Interrupt the work before the job's time limit, and on signals from Slurm.

    This uses a timer, because Slurm's warning signal (`--signal`) reaches every process
    of the job, and would kill the measured program.
    """
    interrupt_on_signals()

    # `uninterrupted` blocks the ending signals but not the alarm.
    def end(_number: int, _frame: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    before: Callable[..., object] | int | None = signal.signal(signal.SIGALRM, end)
    margin = min(LONGEST_MARGIN, seconds / 4)
    signal.setitimer(signal.ITIMER_REAL, seconds - margin)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
