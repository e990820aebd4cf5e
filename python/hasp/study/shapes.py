# SPDX-License-Identifier: MIT
"""A program's `workload`, here: `hasp-shapes`, which takes pthread's mutexes.

It is compiled from the same sources as the simulator's workloads, so that one line of a
plan is a program on this machine and, with `--on simulated:NAME`, on one that nobody
here has.
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
SECONDS = 1.0  # that a run is measured, where the plan does not say
WARM_UP_SHARE = 0.1  # of that, before
NUMBER = r"(\d+\.?\d*)"


def _latency(name: str) -> Metric:
    """Of no run in which nobody got the lock, or nobody had to wait for it."""
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
    """The program."""
    return str(native_program(ENGINE))


@cache
def listed() -> tuple[Workload, ...]:
    """All workloads; those without a lock are for the simulator."""
    return described_by(path())


def check(text: str, knobs: dict[str, Any], threads: list[int]) -> None:
    """Refuse what the workload does not have."""
    workload = workload_of(text, listed())
    for name, value in knobs.items():
        knob = workload.knobs.get(name)
        if knob is None:
            raise HaspError(
                f"{workload.name} has no knob {name!r}",
                f"it has {', '.join(workload.knobs)}",
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
    workload.refuse_threads(threads, "give it `threads` of its own")


def here(program: StudyProgram) -> Settings:
    """What runs on this machine for a program of a plan."""
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
    """Why a workload cannot run on this machine, or ""."""
    if program.workload is None:
        return ""
    name = program.workload.partition(":")[0]
    if any(workload.takes_lock for workload in listed() if workload.name == name):
        return ""
    return f"{name} takes no lock: it is for --on simulated:NAME"
