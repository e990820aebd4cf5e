# SPDX-License-Identifier: MIT
"""What runs on a node: one task of the array, until nothing is left for it to do.

A program is done by one task: all its locks and sizes, in whole random blocks, so that
what is compared was measured on one node. Tasks on nodes of the same machine share the
programs; which task gets which is decided by who comes first, so that none waits for
another. What earlier arrays have done counts, whichever node did it.
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

LONGEST_MARGIN = 60.0  # seconds before the time limit in which no run goes on
SIGNAL_DELAY = 1.0  # seconds that a signal may take to reach us after a program


@dataclass(frozen=True)
class TaskOrder:
    """What the tasks of an array are told."""

    campaign: Campaign
    store: Path  # absolute
    machine: str | None  # a name for all nodes, or
    machine_per: str  # what a machine is: a kind of node, or each node
    selection: str
    time_s: float


class PatientJournal(Journal):
    """A journal that takes no failure for one that is Slurm's doing.

    When a job is cancelled or preempted, every process of it gets SIGTERM: the measured
    program may end before we hear why. So a failure is written down only after the
    signal would have come.
    """

    def add(self, entry: JournalEntry) -> None:
        """Write an entry; Interrupted comes first where both are due."""
        if entry.outcome != record.OK:
            time.sleep(SIGNAL_DELAY)
        super().add(entry)


def carry_out(order: TaskOrder) -> str:
    """Do a task's share; what became of it is in the store, and returned."""
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
    """The task with its machine, which its node must be like."""
    by_kind = name_of_kind(facts) if order.machine_per == "kind" else task.node
    machine = order.machine or by_kind
    kind = kind_of(facts)
    agreed = files.agree(machine, kind, task.job)
    if agreed != kind:
        raise HaspError(
            f"the machine {machine} is {agreed}, but {task.node} is {kind}",
            "choose nodes that are alike with --constraint or --partition, or leave "
            "out --machine: each kind of node is then a machine by itself",
        )
    return dataclasses.replace(task, machine=machine)


def share(task: Task, order: TaskOrder, files: Files, array: str) -> None:
    """Claim programs, and carry each out, until none is left."""
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
                    f"no program of the plan runs on {task.node}: "
                    + next(iter(task.left_out.values())),
                    "install some there, or load them by `setup` in the plan's [slurm]",
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
    """A line for the job's log."""
    words = f"{one.cell.words}, block {entry.block}: {entry.outcome}"
    print(" ".join([words, entry.detail, entry.noise]).rstrip(), flush=True)


def by_length(campaign: Campaign) -> list[tuple[int, StudyProgram]]:
    """The programs with their numbers, the longest first: short ones fill the end."""
    return sorted(
        enumerate(campaign.programs),
        key=lambda pair: -pair[1].seconds * len(pair[1].settings.cells),
    )


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """End in order before the job's time limit, and when Slurm asks for it.

    By a timer of our own: Slurm's warning signal (`--signal`) reaches every process of
    the job, and would kill the program that is being measured, and what measures it.
    """
    interrupt_on_signals()

    # What ends a run is masked where nothing must be left half done; the alarm is not.
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
