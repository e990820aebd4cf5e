# SPDX-License-Identifier: MIT
"""Runs of `hasp-simulate` and their records."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from hasp.base.durations import format_duration
from hasp.base.errors import EXIT_FINDING, HaspError
from hasp.locks import native
from hasp.locks.kinds import MUTEX

ENGINE = "hasp-simulate"
PUBLISHED_ENGINE = "hasp-simulate-published"  # with locks in their published form
SCHEMA = "hasp.simulate/1"
OK, FAILED = "ok", "failed"
OVERRUN = 10  # a run that exceeds its requested duration by this factor gets a warning

Record = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """All inputs of a run; equal jobs give byte-identical results."""

    machine: str  # its flattened file
    workload: str  # may include the shorthand, as in n-locks:512
    lock: str | None
    threads: int
    cpus: tuple[int, ...] | None  # None: the simulated scheduler places the threads
    seed: int
    warm_up_ns: int
    duration_ns: int
    knobs: tuple[tuple[str, str], ...] = ()
    engine: str = ENGINE
    load: str | None = None  # file with the load of the workload `replay`
    rwlock: str | None = None  # of `replay`, which takes both kinds

    @property
    def command(self) -> list[str]:
        """Return the command line of the run."""
        words = [
            native.engine(self.engine),
            "--machine",
            self.machine,
            "--workload",
            self.workload,
        ]
        if self.lock is not None:
            words += ["--lock", self.lock]
        if self.rwlock is not None:
            words += ["--rwlock", self.rwlock]
        if self.load is not None:
            words += ["--load", self.load]
        words += ["--threads", str(self.threads), "--seed", str(self.seed)]
        words += ["--cpus", ",".join(map(str, self.cpus)) if self.cpus else "any"]
        words += ["--warm-up-ns", str(self.warm_up_ns)]
        words += ["--duration-ns", str(self.duration_ns)]
        return words + [f"{name}={value}" for name, value in self.knobs]


@dataclass(frozen=True)
class Workload:
    """The simulator's description of a workload."""

    name: str
    summary: str
    takes_lock: bool
    kind: str  # of its locks; the name of one of KINDS
    threads_least: int
    threads_most: int
    shorthand: str | None
    unpinned: bool
    knobs: dict[str, dict[str, Any]]
    shape_of: str  # applications of the lock study with the same use of locks, or ""

    def refuse_threads(self, counts: Iterable[int], remedy: str) -> None:
        """Raise HaspError with `remedy` if a thread count is out of bounds."""
        for count in counts:
            if not self.threads_least <= count <= self.threads_most:
                raise HaspError(
                    f"{self.name} takes {self.threads_least} to "
                    f"{self.threads_most} threads, not {count}",
                    remedy,
                )


@cache
def workloads() -> tuple[Workload, ...]:
    """Return all workloads of the simulator."""
    return described_by(native.engine(ENGINE))


def described_by(program: str) -> tuple[Workload, ...]:
    """Return the workloads that a program lists."""
    listing = subprocess.run(
        [program, "--list"], capture_output=True, text=True, check=True
    )
    found = []
    for line in listing.stdout.splitlines():
        record = json.loads(line)
        found.append(
            Workload(
                name=record["workload"],
                summary=record["summary"],
                takes_lock=record["lock"],
                kind=record.get("kind", MUTEX.name),
                threads_least=record["threads_least"],
                threads_most=record["threads_most"],
                shorthand=record["shorthand"],
                unpinned=bool(record.get("unpinned")),
                knobs={knob["name"]: knob for knob in record["knobs"]},
                shape_of=record.get("shape_of", ""),
            )
        )
    return tuple(found)


def _overrun(job: Job, record: Record) -> str | None:
    """Return a warning if the run lasted much longer than requested, else None."""
    asked_ns = job.warm_up_ns + job.duration_ns
    lasted_ns = record.get("simulated_ns") or 0
    if lasted_ns < OVERRUN * asked_ns:
        return None
    return (
        f"lasted {lasted_ns / asked_ns:.0f} times as long as asked "
        f"({format_duration(lasted_ns * 1e-9)} instead of "
        f"{format_duration(asked_ns * 1e-9)}): its last operations took that long, and "
        "the results do not count them. Simulate longer: --duration "
        f"{lasted_ns / 1000:.0f}us"
    )


def finished(job: Job, status: int, stdout: str, stderr: str) -> Record:
    """Return the record of a run that has ended.

    A deadlock or a violation of mutual exclusion gives a record with outcome `failed`.
    Raises HaspError if the simulator refused the run or crashed.
    """
    prefix = f"{job.engine}: "
    said = "\n".join(line.removeprefix(prefix) for line in stderr.strip().splitlines())
    if status == 0:
        record = json.loads(stdout)
        return {
            "schema": SCHEMA,
            "outcome": OK,
            **record,
            "warning": _overrun(job, record),
        }
    if status == EXIT_FINDING:
        return {
            "schema": SCHEMA,
            "outcome": FAILED,
            "workload": job.workload.partition(":")[0],
            "lock": job.lock,
            "threads": job.threads,
            "seed": job.seed,
            "detail": said,
        }
    if status == 2:
        message = said.removesuffix(f"; see {job.engine} --help")
        raise HaspError(
            message or "the simulator refused", "see `hasp simulate --list`"
        )
    raise HaspError(
        f"{job.engine} ended with status {status}" + (f": {said}" if said else ""),
        f"this is a bug in Hasp; the command was: {' '.join(job.command)}",
    )
