# SPDX-License-Identifier: MIT
"""Run simulations on all CPUs of the host; an interruption keeps finished results."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from hasp.base import output
from hasp.base.durations import format_duration
from hasp.base.errors import Interrupted
from hasp.base.progress import bar_of
from hasp.lab.simulate.job import Job, Record, finished

SECONDS_BETWEEN_NOTES = 15.0


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


class Progress:
    """Prints the remaining time on stderr, on a terminal as a line with a bar."""

    def __init__(self, total: float) -> None:
        self.total = total
        self.done = 0.0
        self.began = self.shown = time.monotonic()
        self.live = sys.stderr.isatty()

    def add(self, work: float, words: str) -> None:
        """Add finished work, in the unit of the total, described by `words`."""
        self.done += work
        now = time.monotonic()
        if now - self.shown < (0.1 if self.live else SECONDS_BETWEEN_NOTES):
            return
        self.shown = now
        elapsed = now - self.began
        left = elapsed * (self.total - self.done) / max(self.done, 1e-9)
        say = f"{format_duration(round(left))} left"
        if self.live:
            line = f"{bar_of(elapsed, left)} {say}: {words}"[: output.COLUMNS - 1]
            print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)
        else:
            output.note(f"{say}, {words} done")

    def clear(self) -> None:
        """Erase the line."""
        if self.live:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def run_jobs(jobs: Iterable[Job], width: int | None = None) -> Iterator[Record]:
    """Yield each record once it is finished; jobs with most threads start first.

    If the consumer is interrupted while it waits, records of jobs that have finished
    are yielded before Interrupted is raised.
    """
    ordered = sorted(dict.fromkeys(jobs), key=lambda job: -job.threads)
    pool = Pool(width)
    progress = Progress(sum(job.threads for job in ordered))
    waiting: dict[Future[Record], Job] = {}
    try:
        waiting.update((pool.submit(job), job) for job in ordered)
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
        progress.clear()
        pool.stop()
