# SPDX-License-Identifier: MIT
"""One measurement: the native program under one lock, with a hard time limit."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hasp.lab.bench.cases import BATON, FLOOR, GLIBC, Case, program_for
from hasp.launch import interpose
from hasp.locks import native
from hasp.locks.given import NATIVE, algorithms
from hasp.locks.kinds import MUTEX, Kind

GRACE_SECONDS = 0.5  # for threads to finish after the measured time
# Added to the measuring time and grace: the program's watchdog takes up to 8 s.
KILL_MARGIN_SECONDS = 10.0

OK = "ok"
COLLAPSE = "collapse"  # it works, but far too slowly
HANG = "hang"  # no thread makes progress
FAILED = "failed"  # no figure was produced
OUTCOMES = (OK, COLLAPSE, HANG, FAILED)  # from best to worst


@dataclass(frozen=True)
class Sample:
    """The result of one measurement; missing figures are None."""

    value: float | None
    fairness: float | None = None
    starvation_ms: float | None = None
    outcome: str = OK
    reason: str = ""


class Runner:
    """Measures each lock in the environment that `hasp run` would give it. `mutexes`:
    how many the cases about memory create."""

    def __init__(self, locks: Sequence[str], mutexes: int, kind: Kind = MUTEX) -> None:
        self.program = str(native.program(program_for(kind)))
        self.options = [f"--grace={GRACE_SECONDS}", f"--mutexes={mutexes}"]
        if kind is not MUTEX:
            self.options = []
        base = interpose.original_environment()
        native_environment = interpose.environment(NATIVE, base, [self.program])
        self.environments: dict[str, Mapping[str, str]] = dict.fromkeys(
            (GLIBC, FLOOR, BATON), native_environment
        )
        for lock in locks:
            self.environments[lock] = interpose.environment(
                algorithms([native.lock(lock, kind)]), base, [self.program]
            )

    def measure(self, case: Case, subject: str) -> Sample:
        """Run a case once; a misbehaving lock never raises an exception."""
        command = [self.program, case.name]
        command += [f"--threads={case.threads}", f"--seconds={case.seconds}"]
        command += self.options
        if case.think_ns is not None:
            command += [f"--think={case.think_ns}"]
            command += ["--pinned"] if case.pinned else []
        command += ["--floor"] if subject == FLOOR else []
        limit = case.seconds + GRACE_SECONDS + KILL_MARGIN_SECONDS
        return run_once(command, self.environments[subject], limit)


def run_once(
    command: Sequence[str], environment: Mapping[str, str], limit: float
) -> Sample:
    """Run the native program once; return its figures or its failure."""
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # so that the whole group can be killed
    )
    try:
        output, complaints = _communicate(process, limit)
    except subprocess.TimeoutExpired:
        return Sample(None, outcome=HANG, reason=f"killed after {limit:.1f} s")
    finally:
        _end(process)
    return _sample_of(process.returncode, output, complaints)


def _communicate(process: subprocess.Popen[bytes], limit: float) -> tuple[bytes, bytes]:
    """Return the output of the process within the limit.

    A suspended machine uses up the limit without running anything, so the process gets
    another second, in which it ends unless it is stuck.
    """
    try:
        return process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        return process.communicate(timeout=1.0)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill everything that the measurement started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    for stream in (process.stdout, process.stderr):
        if stream:
            stream.close()
    process.wait()


def _sample_of(return_code: int, output: bytes, complaints: bytes) -> Sample:
    if return_code < 0:
        name = signal.strsignal(-return_code) or f"signal {-return_code}"
        return Sample(None, outcome=FAILED, reason=f"died: {name.lower()}")
    try:
        record: dict[str, Any] = json.loads(output)
    except ValueError:
        said = complaints.decode(errors="replace").strip().splitlines()
        words = f": {said[-1]}" if said else ""
        return Sample(
            None, outcome=FAILED, reason=f"exit status {return_code}{words}"[:160]
        )
    return Sample(
        value=record["value"],
        fairness=record["fairness"],
        starvation_ms=record["starvation_ms"],
        outcome=record["outcome"],
        reason=record["reason"],
    )
