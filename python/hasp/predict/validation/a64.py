# SPDX-License-Identifier: MIT
"""`hasp predict --validate --study A64.csv`: two threads recorded, up to 192 predicted.

A64.csv has the lock study's own measurements on its machine A-64.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from hasp.base import output
from hasp.base.document import Document
from hasp.base.errors import HaspError, Interrupted
from hasp.base.signals import interrupt_on_signals
from hasp.lab.simulate.machines import machine
from hasp.locks import native
from hasp.locks.kinds import RWLOCK
from hasp.predict.rebuild import rebuild
from hasp.predict.validation.programs import Program, record
from hasp.predict.validation.run import predictions, report_study
from hasp.predict.validation.score import Score, score, tau_of
from hasp.profile.report.source import open_profile

PLAN = Path(__file__).with_name("a-64.toml")
MACHINE = "a-64"
RECORDED = 2  # threads
COLUMNS = ("bench", "node", "strategy", "throughput")


@dataclass(frozen=True)
class Subject:
    """A program recorded here, and the study's application that it is compared with."""

    program: Program
    application: str
    nodes: int
    threads: int


def subjects() -> list[Subject]:
    """Return the programs of the plan."""
    tables: Any = Document.read(PLAN).get(("program",))
    return [
        Subject(
            Program(one["name"], one["command"], one.get("server"), one.get("ready")),
            one["application"],
            one["nodes"],
            one["threads"],
        )
        for one in tables
    ]


Runs = Mapping[tuple[str, int], Mapping[str, list[float]]]


def measured_by(path: Path) -> Runs:
    """Return the throughput of all runs by application and nodes, and then by lock.

    Raises HaspError if the file does not have the study's columns.
    """
    found: dict[tuple[str, int], dict[str, list[float]]] = defaultdict(dict)
    if not path.is_file():
        raise HaspError(
            f"there is no file {path}", "`hasp study fetch` downloads the lock study's"
        )
    with path.open(newline="") as file:
        rows = csv.DictReader(file)
        if not set(COLUMNS) <= set(rows.fieldnames or ()):
            raise HaspError(
                f"{path} is not the lock study's: it lacks a column of "
                f"{', '.join(COLUMNS)}",
                "give its file A64.csv",
            )
        for row in rows:
            lock = _simulated(row["strategy"])
            own = found[row["bench"], int(row["node"])].setdefault(lock, [])
            own.append(float(row["throughput"]))
    return found


def _simulated(name: str) -> str:
    """Return Hasp's name of the study's lock; glibc's is simulated by its algorithm."""
    found = native.lock(name)
    return "futex" if found.is_reference else found.name


def validate_study(
    folder: Path, study: Path, json: str | None, jobs: int | None = None
) -> int:
    """Record what `folder` lacks, predict, and print the scores.

    Returns the exit status: 1 if the level is missed.
    """
    if json:
        output.check_writable(json)
    runs = measured_by(study)
    interrupt_on_signals()
    folder.mkdir(parents=True, exist_ok=True)
    scores: list[Score] = []
    try:
        for subject in subjects():
            scores.append(_validated(subject, folder, runs, jobs))
    except Interrupted:
        output.note(f"interrupted after {len(scores)} programs")
        report_study(scores, json)
        raise
    return report_study(scores, json)


def _validated(subject: Subject, folder: Path, runs: Runs, jobs: int | None) -> Score:
    name = subject.program.name
    trace = folder / f"{name}.trace"
    if not trace.exists():
        output.note(f"recording {name}")
        record(subject.program, trace, RECORDED)
    own = runs[subject.application, subject.nodes]
    means = {lock: fmean(values) for lock, values in own.items()}
    halves = [{lock: fmean(v[i::2]) for lock, v in own.items()} for i in (0, 1)]
    repeated = tau_of(*halves)
    try:
        load = rebuild(open_profile(trace), subject.threads)
    except HaspError as problem:
        words = problem.message.partition(": ")[2]
        return score(name, means, {}, words, repeated)
    output.note(f"simulating {name}, {subject.threads} threads")
    if load.kind is RWLOCK:  # the study replaces mutexes only
        return score(name, means, {}, "reader-writer locks only", repeated)
    made = machine.load(MACHINE)
    predicted = predictions(load, made, list(means), jobs, subject.threads)
    remark = ", ".join(site.name for site in load.sites[:2])
    return score(name, means, predicted, remark, repeated)
