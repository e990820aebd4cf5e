# SPDX-License-Identifier: MIT
"""`hasp study run CAMPAIGN --on slurm`: submit jobs for a campaign, and collect them.

No state is kept besides Slurm's and the store's. Jobs have a name that is unique to the
campaign and the store, by which Slurm finds them, so that nothing is submitted twice
even if the process that submitted it has died. The store knows which runs are done.

If an array ends, for example at its time limit, and it made at least one run, another
array continues its work.
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

SETTLING = 10.0  # seconds until a node's writes appear on a network file system


@dataclass(frozen=True)
class Target:
    """The store of a campaign, and the resources to request from the cluster."""

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
        """Return the current state of the store."""
        return look(self.campaign, self.store, self.files)

    def jobs(self) -> list[SlurmJob]:
        """Return the tasks of our arrays that Slurm still lists."""
        return [job for job in queue.jobs_called(self.name) if job.array in self.arrays]

    def begin(self) -> None:
        """Find live jobs of the campaign, or submit an array if runs are left."""
        with self._alone():
            live = [job for job in queue.jobs_called(self.name) if job.live]
            if live:
                self._adopt(live)
            elif self._more(self.state()):
                self._submit(self.state())
            else:
                note("nothing is left to run")

    def _adopt(self, live: list[SlurmJob]) -> None:
        """Wait for the jobs of an earlier call instead of submitting more."""
        self.arrays = {job.array for job in live}
        words = f"job {', '.join(sorted(self.arrays))} of this campaign"
        for array in self.arrays:
            other = self.files.selection_of(array)
            if other not in (None, self.selection):
                raise HaspError(
                    f"{words} was submitted with other options: {other}",
                    "use the same options to wait for it, end it with --cancel, or use "
                    "another --store",
                )
        note(f"{words} is pending or running: waiting for it instead of submitting")

    def _more(self, state: State) -> bool:
        machines = state.machines(self.selection)
        new = self.settings.machine_per == "node" and len(machines) < self.settings.jobs
        # Missing programs may have been installed in the meantime.
        lacking = any(map(state.left_out, machines))
        return not machines or new or lacking or any(map(state.left, machines))

    def _submit(self, state: State) -> None:
        # Imported here because submitit is an extra.
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
        with uninterrupted():  # a submitted job must be recorded
            job = submission.submit(order, count, self.name, self.settings, self.files)
            self.arrays = {job}
            self.files.submitted(job, self.selection)
        nodes = "a node" if count == 1 else f"up to {count} nodes"
        note(f"job {job} submitted, for {nodes}; logs: {self.files.folder}")

    def _count(self, state: State) -> int:
        """Return the number of tasks: at most one per program, each on one node."""
        if self.settings.machine_per == "node":
            return self.settings.jobs
        left = [state.left(machine) for machine in state.machines(self.selection)]
        most = sum(map(len, left)) or len(self.campaign.programs)
        if most < self.settings.jobs:
            programs = "1 program" if most == 1 else f"{most} programs"
            note(f"{programs} left: only {most} of {self.settings.jobs} nodes get work")
        return min(most, self.settings.jobs)

    def finish(self) -> None:
        """Wait for the jobs, and submit others until no run is left."""
        while self.arrays:
            with ClusterDisplay(self.state()) as display:
                ended = display.until_ended(self.jobs, self.state)
            state = self._settled(ended)
            self._complain(ended, state)
            if not any(map(state.left, state.machines(self.selection))):
                return
            if not any(state.made_by(array) for array in self.arrays):
                raise HaspError(
                    "the jobs ended without a single run",
                    f"check the logs in {self.files.folder}; is --time long enough for "
                    "one run of the longest program?",
                )
            note("the jobs ended with runs left: submitting another array")
            self.publish()
            self.arrays = set()
            self.begin()

    def _settled(self, ended: list[SlurmJob]) -> State:
        """Return the state, after waiting until completed tasks appear in the store."""
        orderly = {job.id for job in ended if job.state == "COMPLETED"}
        limit = time.monotonic() + SETTLING
        while True:
            state = self.state()
            final = {task.job for task in state.tasks if task.outcome != RUNNING}
            if orderly <= final or time.monotonic() > limit:
                return state
            time.sleep(0.5)

    def _complain(self, ended: list[SlurmJob], state: State) -> None:
        """Raise the error of the first job that failed, if any did."""
        tasks = {task.job: task for task in state.tasks}
        wrong = [
            failure(job, tasks.get(job.id), self.files)
            for job in ended
            if not went_well(job, tasks.get(job.id))
        ]
        if len(wrong) > 1:
            note(f"{len(wrong)} jobs failed; the first one:")
        if wrong:
            raise wrong[0]

    def cancel(self) -> None:
        """Cancel the campaign's jobs, and wait until their results are written."""
        live = [job for job in queue.jobs_called(self.name) if job.live]
        if not live:
            note("no job of this campaign is pending or running")
            return
        self.arrays = {job.array for job in live}
        queue.cancel(self.arrays)
        with ClusterDisplay(self.state()) as display:
            display.until_ended(self.jobs, self.state)
        note(f"job {', '.join(sorted(self.arrays))} cancelled; its runs are kept")

    def publish(self) -> None:
        """Write the runs so far to the store, as one batch for each machine."""
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
        """Print the result for each machine; returns the exit status."""
        state = self.state()
        status = 0
        for machine in state.machines(self.selection):
            for name, why in state.left_out(machine).items():
                note(f"{machine}: {name} is skipped: {why}")
            progress = Tally(state.entries[machine])
            for words in given_up(self.campaign, progress):
                note(f"{machine}: {words}")
                status = EXIT_FINDING
            say_doubts(state.entries[machine])
            facts = next(task.host for task in state.tasks if task.machine == machine)
            if facts["cpus_allowed"] < facts["cpus_online"]:
                note(
                    f"{machine}: jobs may use only {facts['cpus_allowed']} of the "
                    f"{facts['cpus_online']} CPUs of a node"
                )
            runs = sum(entry.counts for entry in state.entries[machine])
            note(f"{machine}: {runs} runs in {self.store.folder}")
        return status

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """A lock that keeps two calls from finding no job and both submitting one."""
        with (self.files.folder / "lock").open("w") as file:
            # On a file system without locks, this is not prevented.
            with contextlib.suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_EX)
            yield
