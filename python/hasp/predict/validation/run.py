# SPDX-License-Identifier: MIT
"""`hasp predict --validate`: one thread recorded, two predicted, beside a study.

The study is docs/studies/two-cpus: twelve programs under every lock with two threads.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

from hasp.base import output
from hasp.base.errors import HaspError, Interrupted
from hasp.base.signals import interrupt_on_signals
from hasp.lab.simulate.machines.machine import Machine
from hasp.lab.simulate.machines.speed import Speed
from hasp.lab.simulate.simulation import flattened
from hasp.locks import native
from hasp.locks.kinds import RWLOCK
from hasp.predict.calibration import calibrated
from hasp.predict.kernel_time import kernel_share
from hasp.predict.load import Load
from hasp.predict.pace import pace_of, scaled
from hasp.predict.predict import STANDS_IN
from hasp.predict.rebuild import rebuild
from hasp.predict.runs import Case, Runs, duration_ns, variants
from hasp.predict.validation.measured import STUDY, THREADS, Measured
from hasp.predict.validation.programs import Program, programs_of, record
from hasp.predict.validation.published import FORMS
from hasp.predict.validation.report import report
from hasp.predict.validation.score import (
    Figures,
    RunsByLock,
    Score,
    score,
    with_runs,
)
from hasp.profile.report.source import open_profile

MACHINE = STUDY / "machine.toml"
RECORDED = 1  # thread

# The shortest simulation of locks as published. It takes milliseconds until threads
# sleep as often as they are woken, and some waiters pause for 4 ms.
STEADY_NS = 8_000_000


def validate(
    folder: Path,
    machine: Machine,
    json: str | None,
    jobs: int | None = None,
    recorded_on: Speed | None = None,
) -> int:
    """Record what `folder` lacks, predict, and print the scores.

    The recordings name the processor that they were made on, unless `recorded_on` is
    its speed. Returns the exit status: 1 if a level is missed.
    """
    if not STUDY.is_dir():
        raise HaspError(
            f"there is no {STUDY} here, which --validate reads",
            "run it in a checkout of Hasp",
        )
    if json:
        output.check_writable(json)
    study = Measured()
    programs, prepare = programs_of(STUDY / "plan.toml")
    interrupt_on_signals()
    subprocess.run(["sh", "-c", prepare], check=True)
    trials = [
        Trial(
            program,
            RECORDED,
            THREADS,
            study.figures[program.name],
            study.repeated(program.name),
            ceiling=study.ceiling(program.name),
            runs=study.runs[program.name],
        )
        for program in programs
    ]
    return carry_out(
        trials,
        folder,
        machine,
        jobs,
        lambda scores: report(scores, json),
        recorded_on,
    )


@dataclass(frozen=True)
class Assumed:
    """How the program that was measured differs from the recorded one."""

    mutexes: bool = False  # instead of reader-writer locks
    busy: bool = False  # its threads never waited for work


AS_RECORDED = Assumed()


@dataclass(frozen=True)
class Trial:
    """A program to record and to predict, and what it is compared with."""

    program: Program
    recorded: int  # threads
    threads: int  # of the prediction
    measured: Figures
    repeated: float | None  # tau of the study's own runs among themselves
    assumed: Assumed = AS_RECORDED
    published: bool = False  # what was measured are locks in their published form
    ceiling: float | None = None  # the tau that a perfect prediction would have
    runs: RunsByLock = field(default_factory=dict)


def carry_out(
    trials: Sequence[Trial],
    folder: Path,
    machine: Machine,
    jobs: int | None,
    report: Callable[[list[Score]], int],
    recorded_on: Speed | None = None,
) -> int:
    """Record what `folder` lacks, predict, and report. Returns the exit status.

    Reports the scores so far if it is interrupted.
    """
    folder.mkdir(parents=True, exist_ok=True)
    scores: list[Score] = []
    try:
        for trial in trials:
            name = trial.program.name
            predicted, shipped, remark = predicted_of(
                trial, folder, machine, jobs, recorded_on
            )
            own = score(
                name, trial.measured, predicted, remark, trial.repeated, shipped
            )
            own = with_runs(own, trial.runs, predicted)
            scores.append(replace(own, ceiling=trial.ceiling))
    except Interrupted:
        output.note(f"interrupted after {len(scores)} of {len(trials)} programs")
        report(scores)
        raise
    return report(scores)


def predicted_of(
    trial: Trial,
    folder: Path,
    machine: Machine,
    jobs: int | None,
    recorded_on: Speed | None = None,
) -> tuple[Figures, Figures, str]:
    """Return the predicted throughput by lock, and what limits it.

    If locks were measured in their published form, that is predicted, and the second
    figures are those of Hasp's code. There are no figures if no mutex was recorded that
    could limit the program.
    """
    name = trial.program.name
    trace = folder / f"{name.replace(' ', '-')}.trace"
    if not trace.exists():
        output.note(f"recording {name}")
        record(trial.program, trace, trial.recorded)
    if not trace.exists():
        return {}, {}, "nothing was recorded: no lock"
    profile = open_profile(trace)
    pace = pace_of(profile, machine, recorded_on)
    try:
        load = rebuild(profile, trial.threads, trial.assumed.busy)
    except HaspError as problem:
        return {}, {}, problem.message.partition(": ")[2]
    if trial.assumed.mutexes:
        load = with_mutexes(load)
    if load.kind is RWLOCK:  # the study replaces mutexes only
        return {}, {}, "reader-writer locks only"
    output.note(f"simulating {name}, {trial.threads} threads")
    shipped, forms = predictions(
        load,
        machine,
        list(trial.measured),
        jobs,
        trial.threads,
        trial.published,
        lambda one: scaled(one, pace, profile),
    )
    remark = ", ".join(site.name for site in load.sites[:2])
    if pace.known:
        remark += f"; computing takes {pace.slower:.3g} times as long as recorded"
        share = kernel_share(load)
        if share is not None and pace.slower != 1:
            remark += f", but for the {share:.0%} in the kernel"
    return (forms, shipped, remark) if trial.published else (shipped, {}, remark)


def with_mutexes(load: Load) -> Load:
    """Return the load of a program that has mutexes instead of reader-writer locks."""
    sites = tuple(replace(site, rwlock=False) for site in load.sites)
    return replace(load, sites=sites)


def predictions(
    load: Load,
    machine: Machine,
    locks: list[str],
    jobs: int | None,
    threads: int,
    published: bool = False,
    paced: Callable[[Load], Load] = lambda load: load,
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the median throughput with that many threads, in sections per ns.

    `paced` returns the load with its computing times as on the machine. The second
    figures are those of the published forms, if `published`.
    """
    known = {lock.name for lock in native.locks() if not lock.is_reference}
    names = [lock for lock in locks if lock in known]
    with flattened(machine) as path:
        runs = Runs(load, machine, path)
        runs = runs.of(paced(calibrated(runs, STANDS_IN[load.kind], jobs)))
        if published:
            runs.longer = -(-STEADY_NS // duration_ns(runs.load, threads))
        own = _medians(runs, {name: name for name in names}, threads, jobs)
        if not published:
            return own, {}
        others = {name: FORMS[name] for name in names if name in FORMS}
        return own, _medians(runs.of_published(), others, threads, jobs)


def _medians(
    runs: Runs, locks: Mapping[str, str], threads: int, jobs: int | None
) -> dict[str, float]:
    """Return the throughput under each lock; `locks` has its name in the simulator."""
    done = runs.run(
        (Case(lock, threads, one) for lock in locks.values() for one in variants(1)),
        jobs,
    )
    return {
        name: median(done[Case(lock, threads, one)].throughput for one in variants(1))
        for name, lock in locks.items()
    }
