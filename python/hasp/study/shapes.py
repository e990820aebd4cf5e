# SPDX-License-Identifier: MIT
"""Workloads on this host: the program `hasp-shapes`, which uses pthread mutexes.

It is compiled from the same sources as the simulator's workloads, so that the same line
of a campaign runs on this host and, with `--on simulated:NAME`, on a simulated machine.
"""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import TYPE_CHECKING, Any

from hasp.base.errors import HaspError
from hasp.compare.settings import THREADS_MARK, Metric, Settings
from hasp.lab.simulate.job import Workload, described_by
from hasp.lab.simulate.simulation import workload_of
from hasp.locks.native import program as native_program

if TYPE_CHECKING:
    from hasp.study.program import StudyProgram

ENGINE = "hasp-shapes"
SECONDS = 1.0  # default length of a measured run
WARM_UP_SHARE = 0.1  # additional warm-up, as a share of the measured run
NUMBER = r"(\d+\.?\d*)"


def _latency(name: str) -> Metric:
    """A metric that is missing if no thread acquired the lock or had to wait for it."""
    return Metric(name, f'"{name}":{NUMBER}', "ns", True, required=False)


METRICS = (
    Metric("throughput", f'"throughput_mops":{NUMBER}', "million/s"),
    _latency("acquire_p50_ns"),
    _latency("acquire_p99_ns"),
    _latency("acquire_max_ns"),
    _latency("handover_ns"),
    Metric("jain_fairness", f'"jain_fairness":{NUMBER}', required=False),
)


def path() -> str:
    """The path of the program."""
    return str(native_program(ENGINE))


@cache
def listed() -> tuple[Workload, ...]:
    """All workloads; those without a lock run in the simulator only."""
    return described_by(path())


def check(text: str, knobs: dict[str, Any], threads: list[int]) -> None:
    """Refuse unknown workloads and knobs, and values out of range."""
    workload = workload_of(text, listed())
    for name, value in knobs.items():
        knob = workload.knobs.get(name)
        if knob is None:
            raise HaspError(
                f"{workload.name} has no knob {name!r}",
                f"its knobs are {', '.join(workload.knobs)}",
            )
        words = knob.get("words")
        if words and value not in words:
            raise HaspError(f"{name} cannot be {value!r}", f"it is {', '.join(words)}")
        if not words and not (
            isinstance(value, int) and knob["least"] <= value <= knob["most"]
        ):
            raise HaspError(
                f"{name} cannot be {value!r}",
                f"it is a number from {knob['least']} to {knob['most']}",
            )
    workload.refuse_threads(threads, "give the program its own `threads`")


def here(program: StudyProgram) -> Settings:
    """The settings with the command that runs on this host."""
    if program.workload is None:
        return program.settings
    command = (
        path(),
        program.workload,
        *("--threads", THREADS_MARK, "--seconds", f"{program.seconds:g}"),
        *("--warm-up-ns", str(round(program.seconds * WARM_UP_SHARE * 1e9))),
        *(f"{name}={value}" for name, value in program.knobs.items()),
    )
    return dataclasses.replace(program.settings, command=command)


def only_simulated(program: StudyProgram) -> str:
    """Return the reason why a workload cannot run on this machine, or ""."""
    if program.workload is None:
        return ""
    name = program.workload.partition(":")[0]
    if any(workload.takes_lock for workload in listed() if workload.name == name):
        return ""
    return f"{name} takes no lock, so it runs only with --on simulated:NAME"
