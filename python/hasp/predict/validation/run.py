# SPDX-License-Identifier: MIT
"""`hasp predict --validate`: one thread recorded, two predicted, beside a study.

The study is docs/studies/two-cpus: twelve programs under every lock with two threads.
Six of them were measured again on the machine of the recordings.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from hasp.base import output
from hasp.base.errors import EXIT_FINDING, HaspError, Interrupted
from hasp.base.signals import interrupt_on_signals
from hasp.lab.simulate.machines.machine import Machine
from hasp.lab.simulate.simulation import flattened
from hasp.locks import native
from hasp.locks.kinds import RWLOCK
from hasp.predict.calibration import calibrated
from hasp.predict.load import Load
from hasp.predict.predict import STANDS_IN
from hasp.predict.rebuild import rebuild
from hasp.predict.runs import Case, Runs, variants
from hasp.predict.validation.measured import (
    STORE,
    STORE_HERE,
    STUDY,
    THREADS,
    Measured,
)
from hasp.predict.validation.programs import Program, programs_of, record
from hasp.predict.validation.published import forms_for
from hasp.predict.validation.score import (
    MATTERS_MUST,
    TAU_64_GOAL,
    TAU_64_MUST,
    TAU_GOAL,
    TAU_MUST,
    Figures,
    Score,
    mean_ceiling,
    mean_elsewhere,
    mean_repeated,
    mean_tau,
    mean_tau_of_all,
    right,
    score,
    tau_of,
)
from hasp.profile.report.source import open_profile

if TYPE_CHECKING:
    from rich.table import Table

SCHEMA = "hasp.predict.validate/1"
MACHINE = STUDY / "machine.toml"
RECORDED = 1  # thread


def validate(
    folder: Path, machine: Machine, json: str | None, jobs: int | None = None
) -> int:
    """Record what `folder` lacks, predict, and print the scores.

    Returns the exit status: 1 if a level is missed.
    """
    if not STUDY.is_dir():
        raise HaspError(
            f"there is no {STUDY} here, which --validate reads",
            "run it in a checkout of Hasp",
        )
    if json:
        output.check_writable(json)
    study, here = Measured(STORE), Measured(STORE_HERE)
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
            again=here.figures.get(program.name),
            again_repeated=here.repeated(program.name),
            ceiling=study.ceiling(program.name),
            again_ceiling=here.ceiling(program.name),
            elsewhere=tau_of(
                study.figures[program.name], here.figures.get(program.name, {})
            ),
        )
        for program in programs
    ]
    return carry_out(
        trials,
        folder,
        machine,
        jobs,
        lambda scores, again: report(scores, json, again),
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
    published: bool = False  # also simulate locks in their published form
    # measured on the machine of the recordings, and the tau of those runs
    again: Figures | None = None
    again_repeated: float | None = None
    # the tau that a perfect prediction would have with either measurements
    ceiling: float | None = None
    again_ceiling: float | None = None
    # the tau of the two measurements
    elsewhere: float | None = None


def carry_out(
    trials: Sequence[Trial],
    folder: Path,
    machine: Machine,
    jobs: int | None,
    report: Callable[[list[Score], list[Score]], int],
) -> int:
    """Record what `folder` lacks, predict, and report. Returns the exit status.

    Reports the scores so far if it is interrupted.
    """
    folder.mkdir(parents=True, exist_ok=True)
    scores: list[Score] = []
    again: list[Score] = []
    try:
        for trial in trials:
            name = trial.program.name
            predicted, forms, remark = predicted_of(trial, folder, machine, jobs)
            own = score(name, trial.measured, predicted, remark, trial.repeated, forms)
            scores.append(
                replace(own, ceiling=trial.ceiling, elsewhere=trial.elsewhere)
            )
            if trial.again:
                repeated = trial.again_repeated
                own = score(name, trial.again, predicted, remark, repeated)
                again.append(replace(own, ceiling=trial.again_ceiling))
    except Interrupted:
        output.note(f"interrupted after {len(scores)} of {len(trials)} programs")
        report(scores, again)
        raise
    return report(scores, again)


def predicted_of(
    trial: Trial, folder: Path, machine: Machine, jobs: int | None
) -> tuple[Figures, Figures, str]:
    """Return the predicted throughput by lock, and what limits it.

    The second figures are those of the published forms. There are none if no mutex was
    recorded that could limit the program.
    """
    name = trial.program.name
    trace = folder / f"{name.replace(' ', '-')}.trace"
    if not trace.exists():
        output.note(f"recording {name}")
        record(trial.program, trace, trial.recorded)
    if not trace.exists():
        return {}, {}, "nothing was recorded: no lock"
    try:
        load = rebuild(open_profile(trace), trial.threads, trial.assumed.busy)
    except HaspError as problem:
        return {}, {}, problem.message.partition(": ")[2]
    if trial.assumed.mutexes:
        load = with_mutexes(load)
    if load.kind is RWLOCK:  # the study replaces mutexes only
        return {}, {}, "reader-writer locks only"
    output.note(f"simulating {name}, {trial.threads} threads")
    own, forms = predictions(
        load, machine, list(trial.measured), jobs, trial.threads, trial.published
    )
    return own, forms, ", ".join(site.name for site in load.sites[:2])


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
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the median throughput with that many threads, in sections per ns.

    The second figures are those of the published forms, if `published`.
    """
    known = {lock.name for lock in native.locks() if not lock.is_reference}
    names = [lock for lock in locks if lock in known]
    cpus = machine.topology.cpus
    forms = forms_for(load, threads, cpus) if published else {}
    with flattened(machine) as path:
        runs = Runs(load, machine, path)
        runs = runs.of(calibrated(runs, STANDS_IN[load.kind], jobs))
        own = _medians(runs, {name: name for name in names}, threads, jobs)
        others = {name: forms[name] for name in names if name in forms}
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


def report(scores: list[Score], json: str | None, again: Sequence[Score] = ()) -> int:
    """Print or write the scores, and those by the measurements made here.

    Returns the exit status, which depends on the study alone.
    """
    tau, agreeing = mean_tau(scores), right(scores)
    if json:
        output.write_json([*_rows(scores, STORE), *_rows(again, STORE_HERE)], json)
    if json != output.STDOUT:
        _print(scores, tau, agreeing)
        if again:
            _print_again(again)
    fine = tau >= TAU_MUST and agreeing >= min(MATTERS_MUST, len(scores))
    return 0 if fine else EXIT_FINDING


def report_study(scores: list[Score], json: str | None) -> int:
    """Print or write the scores of A-64. Returns the exit status."""
    tau = mean_tau_of_all(scores)
    if json:
        output.write_json(_rows(scores, "A-64"), json)
    if json != output.STDOUT:
        output.console().print(_table(scores))
        output.console().print(
            f"order of locks, mean tau of all programs: {tau:.2f} (must "
            f"{TAU_64_MUST}, goal {TAU_64_GOAL}: "
            f"{_reached(tau, TAU_64_MUST, TAU_64_GOAL)})"
        )
        _print_forms(scores)
    return 0 if tau >= TAU_64_MUST else EXIT_FINDING


def _print_forms(scores: Sequence[Score]) -> None:
    out = output.console()
    table = output.table()
    # HASP'S, PUBLISHED: tau over the locks of which there is a published form.
    for heading in ("", "LOCKS", "HASP'S", "PUBLISHED"):
        table.add_column(heading, justify="right" if heading else "left")
    for one in scores:
        own, forms = _tau(one.tau_of_forms), _tau(one.tau_published)
        table.add_row(one.program, str(one.forms), own, forms)
    out.print("\nLocks of which the simulator has the published form:")
    out.print(table)
    mean = sum(one.tau_published or 0.0 for one in scores) / len(scores)
    out.print(f"order of these locks in their published form, mean tau: {mean:.2f}")


def _rows(scores: Sequence[Score], measured_by: str) -> list[dict[str, Any]]:
    return [
        {
            "schema": SCHEMA,
            "measurements": measured_by,
            **asdict(one),
            "matters": one.matters,
            "agrees": one.agrees,
        }
        for one in scores
    ]


def _reached(value: float, must: float, goal: float) -> str:
    return "goal" if value >= goal else "reached" if value >= must else "missed"


def _tau(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _table(scores: Sequence[Score]) -> Table:
    table = output.table()
    # TAU: of the order of locks; REPEATED: of the study's own runs among themselves;
    # CEILING: of a perfect prediction with all runs;
    # HERE: of measurements on the machine of the recordings, beside the study's;
    # MEASURED, PREDICTED: standard deviation over the locks by their mean.
    known = any(one.elsewhere is not None for one in scores)
    here = ["HERE"] if known else []
    headings = ["TAU", "REPEATED", "CEILING", *here, "MEASURED", "PREDICTED", "RIGHT"]
    for heading in ("", *headings, "LOCKS"):
        table.add_column(heading, justify="right" if heading in headings else "left")
    for one in scores:
        table.add_row(
            one.program,
            _tau(one.tau),
            _tau(one.repeated),
            _tau(one.ceiling),
            *([_tau(one.elsewhere)] if known else []),
            f"{one.measured:.0%}",
            f"{one.predicted:.0%}",
            "yes" if one.agrees else "no",
            one.remark,
        )
    return table


def _print_again(scores: Sequence[Score]) -> None:
    out = output.console()
    out.print("\nThe same predictions beside measurements on the recordings' machine:")
    out.print(_table(scores))
    out.print(
        f"mean tau of the programs to which the lock matters: {mean_tau(scores):.2f}; "
        f"of these runs among themselves: {mean_repeated(scores):.2f}; of a perfect "
        f"prediction: {mean_ceiling(scores):.2f}; does the lock "
        f"matter? right for {right(scores)} of {len(scores)}"
    )


def _print(scores: list[Score], tau: float, agreeing: int) -> None:
    out = output.console()
    out.print(_table(scores))
    out.print(
        f"order of locks, mean tau of the programs to which the lock matters: "
        f"{tau:.2f} (must {TAU_MUST}, goal {TAU_GOAL}: "
        f"{_reached(tau, TAU_MUST, TAU_GOAL)})"
    )
    out.print(
        "the study's own runs, those of even number beside the others: mean tau "
        f"{mean_repeated(scores):.2f}; a perfect prediction, beside all runs: "
        f"{mean_ceiling(scores):.2f}"
    )
    elsewhere, known = mean_elsewhere(scores)
    if known:
        out.print(
            f"measurements of {known} of these programs on the machine of the "
            f"recordings, beside the study's: mean tau {elsewhere:.2f}"
        )
    reached = "reached" if agreeing >= MATTERS_MUST else "missed"
    out.print(
        f"does the lock matter? right for {agreeing} of {len(scores)} (must "
        f"{MATTERS_MUST}: {reached})"
    )
