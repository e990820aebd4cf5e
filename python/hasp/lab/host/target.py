# SPDX-License-Identifier: MIT
"""What is measured: this machine, or a simulated one; and how `hasp-machine` is run."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from hasp.base.errors import HaspError
from hasp.lab.host.topology import Topology, of_this_machine
from hasp.locks import native

TIMEOUT = 60.0  # seconds for a burst
PAUSE = 0.02  # seconds between bursts: others want the CPUs, too
REAL_TIME_PRIORITY = 1

Row = dict[str, Any]


class Target(Protocol):
    """A machine to measure."""

    topology: Topology
    simulated: bool

    def bursts(self, *words: object, real_time: bool = True) -> list[Row]:
        """Run `hasp-machine` with these words."""

    def workload(self, *words: object) -> Row:
        """Run `hasp-workloads` with these words."""


def _rows(argv: Sequence[str], *, real_time: bool = False) -> list[Row]:
    def prepare() -> None:
        if real_time:
            with contextlib.suppress(OSError):
                parameter = os.sched_param(REAL_TIME_PRIORITY)
                os.sched_setscheduler(0, os.SCHED_RR, parameter)

    name = Path(argv[0]).name
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, timeout=TIMEOUT, preexec_fn=prepare
        )
    except subprocess.TimeoutExpired:
        raise HaspError(
            f"{name} {argv[1]} did not end within {TIMEOUT:.0f} s",
            "are the CPUs taken by real-time programs? `hasp doctor` looks at the host",
        ) from None
    if done.returncode != 0:
        words = done.stderr.strip().removeprefix(f"{name}: ") or "it failed silently"
        raise HaspError(
            f"{words} ({' '.join([name, *argv[1:]])})",
            "`hasp machine --cpus LIST` measures on CPUs of your choice",
        )
    return [json.loads(line) for line in done.stdout.splitlines()]


class ThisMachine:
    """The one that this process runs on."""

    simulated = False

    def __init__(self, cpus: Sequence[int] | None = None) -> None:
        self.topology = of_this_machine(cpus)
        self.real_time = may_run_in_real_time()

    def bursts(self, *words: object, real_time: bool = True) -> list[Row]:
        """In real time where that is allowed, so that nothing comes in between: bursts
        are short, and others run in the pauses."""
        time.sleep(PAUSE)
        argv = [str(native.program("hasp-machine")), *map(str, words)]
        return _rows(argv, real_time=real_time and self.real_time)

    def workload(self, *words: object) -> Row:
        """One line of `hasp-workloads`."""
        time.sleep(PAUSE)
        argv = [str(native.program("hasp-workloads")), *map(str, words)]
        return _rows(argv, real_time=self.real_time)[-1]


class SimulatedMachine:
    """One that a file describes; see docs/machines.md."""

    simulated = True

    def __init__(self, flat: Path, topology: Topology) -> None:
        self.flat = flat
        self.topology = topology

    def bursts(self, *words: object, real_time: bool = True) -> list[Row]:
        """A simulated clock is as fine as one likes, and samples are all alike."""
        del real_time
        argv = [str(native.program("hasp-machine-simulated")), *map(str, words)]
        argv += ["--machine", str(self.flat), "--samples", "16"]
        if words[0] == "coherence":
            argv += ["--batch", "1", "--lines", "4"]
        return _rows(argv)

    def workload(self, *words: object) -> Row:
        """One line of `hasp-simulate`."""
        argv = [str(native.program("hasp-simulate")), *map(str, words)]
        return _rows([*argv, "--machine", str(self.flat)])[-1]


@contextlib.contextmanager
def simulated(word: str) -> Iterator[SimulatedMachine]:
    """The machine of that name or file."""
    from hasp.lab.host.described import topology_of
    from hasp.lab.simulate.machines import machine
    from hasp.lab.simulate.machines.flat import flatten

    described = machine.load(word)
    with tempfile.NamedTemporaryFile("w", suffix=".flat") as file:
        file.write(flatten(described))
        file.flush()
        yield SimulatedMachine(Path(file.name), topology_of(described))


def may_run_in_real_time() -> bool:
    """Whether a child of ours may."""
    before = os.sched_getscheduler(0)
    parameter = os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(REAL_TIME_PRIORITY))
    except OSError:
        return False
    os.sched_setscheduler(0, before, parameter)
    return True
