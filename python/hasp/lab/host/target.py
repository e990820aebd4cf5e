# SPDX-License-Identifier: MIT
"""The machine to measure, this host or a simulated one, and calls of `hasp-machine`."""

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
from hasp.lab.host.described import topology_of
from hasp.lab.host.topology import Topology, of_this_machine
from hasp.lab.simulate.machines import machine
from hasp.lab.simulate.machines.flat import flatten
from hasp.locks import native

TIMEOUT = 60.0  # seconds for a burst
PAUSE = 0.02  # seconds between bursts, so that other programs can run
REAL_TIME_PRIORITY = 1

Row = dict[str, Any]


class Target(Protocol):
    """A machine that can be measured."""

    topology: Topology
    simulated: bool

    def bursts(self, *words: object, real_time: bool = True) -> list[Row]:
        """Run `hasp-machine` with these arguments and return its rows."""

    def workload(self, *words: object) -> Row:
        """Run `hasp-workloads` with these arguments and return its last row."""


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
            "real-time programs may occupy the CPUs; `hasp doctor` examines the host",
        ) from None
    if done.returncode != 0:
        words = done.stderr.strip().removeprefix(f"{name}: ") or "no message"
        raise HaspError(
            f"{words} ({' '.join([name, *argv[1:]])})",
            "choose other CPUs with `hasp machine --cpus LIST`",
        )
    return [json.loads(line) for line in done.stdout.splitlines()]


class ThisMachine:
    """The host that this process runs on."""

    simulated = False

    def __init__(self, cpus: Sequence[int] | None = None) -> None:
        self.topology = of_this_machine(cpus)
        self.real_time = may_run_in_real_time()

    def bursts(self, *words: object, real_time: bool = True) -> list[Row]:
        """Run a burst, with real-time priority if permitted.

        Bursts are short, and other programs run in the pauses between them.
        """
        time.sleep(PAUSE)
        argv = [str(native.program("hasp-machine")), *map(str, words)]
        return _rows(argv, real_time=real_time and self.real_time)

    def workload(self, *words: object) -> Row:
        """Run `hasp-workloads` and return its last row."""
        time.sleep(PAUSE)
        argv = [str(native.program("hasp-workloads")), *map(str, words)]
        return _rows(argv, real_time=self.real_time)[-1]


class SimulatedMachine:
    """A machine described by a file; see docs/machines.md."""

    simulated = True

    def __init__(self, flat: Path, topology: Topology) -> None:
        self.flat = flat
        self.topology = topology

    def bursts(self, *words: object, real_time: bool = True) -> list[Row]:
        """Run one short burst: a simulated clock is exact, and samples do not vary."""
        del real_time
        argv = [str(native.program("hasp-machine-simulated")), *map(str, words)]
        argv += ["--machine", str(self.flat), "--samples", "16"]
        if words[0] == "coherence":
            argv += ["--batch", "1", "--lines", "4"]
        return _rows(argv)

    def workload(self, *words: object) -> Row:
        """Run `hasp-simulate` and return its last row."""
        argv = [str(native.program("hasp-simulate")), *map(str, words)]
        return _rows([*argv, "--machine", str(self.flat)])[-1]


@contextlib.contextmanager
def simulated(word: str) -> Iterator[SimulatedMachine]:
    """Yield the simulated machine of that name or file."""
    described = machine.load(word)
    with tempfile.NamedTemporaryFile("w", suffix=".flat") as file:
        file.write(flatten(described))
        file.flush()
        yield SimulatedMachine(Path(file.name), topology_of(described))


def may_run_in_real_time() -> bool:
    """Return whether child processes may use real-time priority."""
    before = os.sched_getscheduler(0)
    parameter = os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(REAL_TIME_PRIORITY))
    except OSError:
        return False
    os.sched_setscheduler(0, before, parameter)
    return True
