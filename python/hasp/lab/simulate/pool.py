# SPDX-License-Identifier: MIT
"""Run simulations on all CPUs of the host; an interruption keeps finished results."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from hasp.base.errors import Interrupted
from hasp.base.progress import Display
from hasp.lab.simulate.job import Job, Record, finished


class Pool:
    """Runs a few jobs at a time, each distinct job once."""

    def __init__(self, jobs: int | None = None) -> None:
        self.width = jobs or len(os.sched_getaffinity(0))
        self._executor = ThreadPoolExecutor(self.width)
        self._known: dict[Job, Future[Record]] = {}
        self._running: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()
        self._stopped = False
        self.done = 0

    def submit(self, job: Job) -> Future[Record]:
        """Start a job unless it is known, and return its future record."""
        with self._lock:
            if job not in self._known:
                self._known[job] = self._executor.submit(self._run, job)
            return self._known[job]

    @property
    def submitted(self) -> int:
        """The number of distinct jobs."""
        return len(self._known)

    def _run(self, job: Job) -> Record:
        with subprocess.Popen(
            job.command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            start_new_session=True,  # so that Ctrl-C does not reach it
        ) as process:
            with self._lock:
                self._running.add(process)
                if self._stopped:
                    process.kill()
            stdout, stderr = process.communicate()
        with self._lock:
            self._running.discard(process)
            self.done += 1
        return finished(job, process.returncode, stdout, stderr)

    def stop(self) -> None:
        """Kill running jobs and cancel waiting ones."""
        with self._lock:
            self._stopped = True
            running = list(self._running)
        for process in running:
            process.kill()
        self._executor.shutdown(wait=True, cancel_futures=True)


class PoolDisplay(Display):
    """Shows the time left, from the share of the work that is finished."""

    def __init__(self, total: float) -> None:
        super().__init__()
        self._total = total
        self._done = 0.0
        self._began = time.monotonic()

    def add(self, work: float, words: str) -> None:
        """Add finished work, in the unit of the total, described by `words`."""
        self._done += work
        elapsed = time.monotonic() - self._began
        left = elapsed * (self._total - self._done) / max(self._done, 1e-9)
        self.show_time(f"finished {words}", elapsed, left)


def run_jobs(jobs: Iterable[Job], width: int | None = None) -> Iterator[Record]:
    """Yield each record once it is finished; jobs with most threads start first.

    If the consumer is interrupted while it waits, records of jobs that have finished
    are yielded before Interrupted is raised.
    """
    ordered = sorted(dict.fromkeys(jobs), key=lambda job: -job.threads)
    pool = Pool(width)
    waiting: dict[Future[Record], Job] = {}
    try:
        waiting.update((pool.submit(job), job) for job in ordered)
        with PoolDisplay(sum(job.threads for job in ordered)) as progress:
            while waiting:
                done, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    job = waiting.pop(future)
                    yield future.result()
                    words = f"{job.lock or job.workload}, {job.threads} threads"
                    progress.add(job.threads, words)
    except Interrupted:
        for future in waiting:
            if future.done():
                yield future.result()
        raise
    finally:
        pool.stop()
