# SPDX-License-Identifier: MIT
"""Runs a case with or without the recorder, and reads the overhead it reports."""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from hasp.lab.bench.cases import GLIBC, MUTEX_PROGRAM, Case
from hasp.lab.bench.overhead import memcached
from hasp.lab.bench.overhead.cases import CPU_CASE, MODES, SERVER_SECONDS, Overhead
from hasp.lab.bench.runner import (
    FAILED,
    GRACE_SECONDS,
    KILL_MARGIN_SECONDS,
    OK,
    Sample,
    run_once,
)
from hasp.lab.bench.schedule import Samples
from hasp.launch import interpose
from hasp.locks import native
from hasp.locks.given import NATIVE

if TYPE_CHECKING:
    from hasp.profile.model.profile import Profile


class Runner:
    """Measures cases, with temporary traces in `folder`.

    A server yields two figures: the second, CPU time, is stored in `samples` as a
    separate case.
    """

    def __init__(
        self, overheads: Sequence[Overhead], folder: Path, samples: Samples
    ) -> None:
        self.program = str(native.program(MUTEX_PROGRAM))
        self.arguments = {o.case: o.arguments for o in overheads}
        self.trace = folder / "hasp.trace"
        self.samples = samples
        self.told: dict[tuple[Case, str], list[float]] = defaultdict(list)

    def measure(self, case: Case, subject: str) -> Sample:
        """Run a case once; a misbehaving program never raises an exception."""
        self._remove_traces()
        if self.arguments[case]:
            sample = self._loop(case, subject)
        else:
            sample = self._server(case, subject)
        if subject in MODES and sample.outcome == OK:
            sample = self._with_trace(case, subject, sample)
        self._remove_traces()
        return sample

    def environment(self, subject: str, command: Sequence[str]) -> Mapping[str, str]:
        """Return the environment of `hasp profile`, or one without Hasp."""
        base = interpose.original_environment()
        if subject not in MODES:
            return interpose.environment(NATIVE, base, command)
        settings = {
            "HASP_TRACE": str(self.trace),
            "HASP_TRACE_SESSION": secrets.token_hex(8),
            "HASP_TRACE_MODE": subject,
            "HASP_TRACE_LOCK": GLIBC,
        }
        return interpose.environment(NATIVE, base, command, trace_settings=settings)

    def _loop(self, case: Case, subject: str) -> Sample:
        command = [self.program, *self.arguments[case], f"--seconds={case.seconds}"]
        command.append(f"--grace={GRACE_SECONDS}")
        limit = case.seconds + GRACE_SECONDS + KILL_MARGIN_SECONDS
        return run_once(command, self.environment(subject, command), limit)

    def _server(self, case: Case, subject: str) -> Sample:
        environment = self.environment(subject, memcached.command(0))
        try:
            load = memcached.measure(environment, SERVER_SECONDS)
        except memcached.ServerFailed as problem:
            return Sample(None, outcome=FAILED, reason=str(problem))
        of_cpu = self.samples.of[CPU_CASE, subject]
        of_cpu[len(self.samples.of[case, subject])] = Sample(load.cpu_us)
        return Sample(load.requests_per_second)

    def _with_trace(self, case: Case, subject: str, sample: Sample) -> Sample:
        """Return the sample if there is a trace; without one nothing was recorded."""
        if not self.trace.exists():
            return Sample(None, outcome=FAILED, reason="it left no trace")
        profile: Profile = import_module("hasp.profile.model.build").load(self.trace)
        self.told[case, subject].append(profile.overhead.share)
        return sample

    def _remove_traces(self) -> None:
        for path in self.trace.parent.glob(f"{self.trace.name}*"):
            path.unlink()
