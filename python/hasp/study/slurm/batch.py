# SPDX-License-Identifier: MIT
"""`hasp study run PLAN --on slurm`: submit what is left, wait for it, collect it.

Which jobs there are is Slurm's to know: they are found by a name that only this plan in
this store has, so that nothing is submitted twice, whatever became of the process that
submitted it. What is done is the store's to know. Nothing else is remembered.

An array ends, by a time limit too; as long as it brought runs, another one goes on.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hasp.base.errors import EXIT_FINDING, HaspError, Interrupted
from hasp.base.output import note
from hasp.base.signals import interrupt_on_signals, uninterrupted
from hasp.study.batch import given_up, journal_of, publish, without_name
from hasp.study.campaign import Campaign
from hasp.study.carry_out import Tally
from hasp.study.samples import create_or_open
from hasp.study.slurm import queue
from hasp.study.slurm.failure import failure, went_well
from hasp.study.slurm.files import RUNNING, Files
from hasp.study.slurm.queue import SlurmJob
from hasp.study.slurm.state import State, look
from hasp.study.slurm.watching import ClusterDisplay
from hasp.study.slurm_settings import SlurmSettings
from hasp.study.watching import say_doubts

SETTLING = 10.0  # seconds that a network file system may hide what a node wrote


@dataclass(frozen=True)
class Target:
    """The store of a campaign, and the cluster's part that is to run it."""

    folder: Path  # of the store
    settings: SlurmSettings
    machine: str | None  # its name in the store


def carry_out(
    campaign: Campaign, target: Target, *, wait: bool = True, cancel: bool = False
) -> int:
    """Run a campaign on a cluster; returns 1 if a configuration never worked."""
    queue.require()
    cluster = ClusterRun(campaign, target)
    interrupt_on_signals()
    try:
        if cancel:
            cluster.cancel()
            return 0
        cluster.begin()
        if wait:
            cluster.finish()
        elif cluster.arrays:
            note("the same command without --no-wait waits for the jobs and collects")
    except Interrupted:
        if cluster.arrays:
            note("the jobs continue: the same command finds them, --cancel ends them")
        raise
    finally:
        cluster.publish()
    return cluster.report()


class ClusterRun:
    """A campaign in a store, run by jobs of a cluster."""

    def __init__(self, campaign: Campaign, target: Target) -> None:
        self.campaign = campaign
        self.settings = target.settings
        self.machine = target.machine
        # Not resolved, because links may lead to mounts that only this host has.
        self.store = create_or_open(target.folder.absolute())
        self.files = Files(self.store.folder, campaign.digest)
        self.files.make()
        text = f"{self.store.folder.resolve()}/{campaign.digest}"
        self.name = f"hasp-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
        called = f" machine={target.machine}" if target.machine else ""
        self.selection = f"{target.settings.selection}{called}"
        self.arrays: set[str] = set()  # job arrays that we wait for

    def state(self) -> State:
        """What the store holds now."""
        return look(self.campaign, self.store, self.files)

    def jobs(self) -> list[SlurmJob]:
        """The tasks of our arrays, as far as Slurm knows them."""
        return [job for job in queue.jobs_called(self.name) if job.array in self.arrays]

    def begin(self) -> None:
        """Find the jobs that there are, or submit some if runs are left."""
        with self._alone():
            live = [job for job in queue.jobs_called(self.name) if job.live]
            if live:
                self._adopt(live)
            elif self._more(self.state()):
                self._submit(self.state())
            else:
                note("nothing is left to run")

    def _adopt(self, live: list[SlurmJob]) -> None:
        """Wait for jobs of an earlier call, in the place of submitting more."""
        self.arrays = {job.array for job in live}
        words = f"job {', '.join(sorted(self.arrays))} of this study"
        for array in self.arrays:
            other = self.files.selection_of(array)
            if other not in (None, self.selection):
                raise HaspError(
                    f"{words} was submitted with other options: {other}",
                    "give the same ones to wait for it, end it with --cancel, or use "
                    "another --store",
                )
        note(f"{words} is already there: waiting for it, nothing is submitted")

    def _more(self, state: State) -> bool:
        machines = state.machines(self.selection)
        new = self.settings.machine_per == "node" and len(machines) < self.settings.jobs
        # What a node lacked may have been installed since.
        lacking = any(map(state.left_out, machines))
        return not machines or new or lacking or any(map(state.left, machines))

    def _submit(self, state: State) -> None:
        from hasp.study.slurm import submission, task

        order = task.TaskOrder(
            campaign=self.campaign,
            store=self.store.folder,
            machine=self.machine,
            machine_per=self.settings.machine_per,
            selection=self.selection,
            time_s=self.settings.time_s,
        )
        count = self._count(state)
        with uninterrupted():  # a job that was submitted must be known
            job = submission.submit(order, count, self.name, self.settings, self.files)
            self.arrays = {job}
            self.files.submitted(job, self.selection)
        nodes = "a node" if count == 1 else f"up to {count} nodes"
        note(f"job {job} submitted, for {nodes}; logs: {self.files.folder}")

    def _count(self, state: State) -> int:
        """No more tasks than can have work: a program is done on one node."""
        if self.settings.machine_per == "node":
            return self.settings.jobs
        left = [state.left(machine) for machine in state.machines(self.selection)]
        most = sum(map(len, left)) or len(self.campaign.programs)
        if most < self.settings.jobs:
            programs = "1 program" if most == 1 else f"{most} programs"
            note(f"{programs}: {most} of {self.settings.jobs} nodes have work")
        return min(most, self.settings.jobs)

    def finish(self) -> None:
        """Wait for the jobs, and for those that go on with what they leave."""
        while self.arrays:
            ended = ClusterDisplay(self.state()).until_ended(self.jobs, self.state)
            state = self._settled(ended)
            self._complain(ended, state)
            if not any(map(state.left, state.machines(self.selection))):
                return
            if not any(state.made_by(array) for array in self.arrays):
                raise HaspError(
                    "the jobs ended, and not one run came of them",
                    f"see the logs in {self.files.folder}; is --time long enough for "
                    "one run of the longest program?",
                )
            note("the jobs ended before all was done: going on")
            self.publish()
            self.arrays = set()
            self.begin()

    def _settled(self, ended: list[SlurmJob]) -> State:
        """The state, once what ended in order is seen to have done so."""
        orderly = {job.id for job in ended if job.state == "COMPLETED"}
        limit = time.monotonic() + SETTLING
        while True:
            state = self.state()
            final = {task.job for task in state.tasks if task.outcome != RUNNING}
            if orderly <= final or time.monotonic() > limit:
                return state
            time.sleep(0.5)

    def _complain(self, ended: list[SlurmJob], state: State) -> None:
        """Raise what the first job that went wrong has to say."""
        tasks = {task.job: task for task in state.tasks}
        wrong = [
            failure(job, tasks.get(job.id), self.files)
            for job in ended
            if not went_well(job, tasks.get(job.id))
        ]
        if len(wrong) > 1:
            note(f"{len(wrong)} jobs went wrong; of the first:")
        if wrong:
            raise wrong[0]

    def cancel(self) -> None:
        """End the study's jobs, and wait until they have put down what they did."""
        live = [job for job in queue.jobs_called(self.name) if job.live]
        if not live:
            note("no job of this study is pending or running")
            return
        self.arrays = {job.array for job in live}
        queue.cancel(self.arrays)
        ClusterDisplay(self.state()).until_ended(self.jobs, self.state)
        note(f"job {', '.join(sorted(self.arrays))} cancelled; its runs are kept")

    def publish(self) -> None:
        """What the tasks have done so far, as one batch of each machine."""
        state = self.state()
        for machine in state.entries:
            tasks = [task for task in state.tasks if task.machine == machine]
            journal = journal_of(self.campaign, self.store, machine)
            publish(
                self.store,
                self.campaign,
                machine,
                journal,
                more={
                    "host": without_name(tasks[0].host),
                    "nodes": len({task.node for task in tasks}),
                    "slurm": {
                        "jobs": [task.job for task in tasks],
                        "selection": sorted({task.selection for task in tasks}),
                    },
                },
            )
            journal.close()

    def report(self) -> int:
        """What became of the machines, in words."""
        state = self.state()
        status = 0
        for machine in state.machines(self.selection):
            for name, why in state.left_out(machine).items():
                note(f"{machine}: {name} is left out: {why}")
            progress = Tally(state.entries[machine])
            for words in given_up(self.campaign, progress):
                note(f"{machine}: {words}")
                status = EXIT_FINDING
            say_doubts(state.entries[machine])
            facts = next(task.host for task in state.tasks if task.machine == machine)
            if facts["cpus_allowed"] < facts["cpus_online"]:
                note(
                    f"{machine}: jobs may use {facts['cpus_allowed']} of the "
                    f"{facts['cpus_online']} CPUs of a node"
                )
            runs = sum(entry.counts for entry in state.entries[machine])
            note(f"{machine}: {runs} runs in {self.store.folder}")
        return status

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Two calls at once must not both find no job, and both submit one."""
        with (self.files.folder / "lock").open("w") as file:
            # Without locks on that file system, only such an accident is not prevented.
            with contextlib.suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_EX)
            yield
