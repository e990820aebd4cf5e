# SPDX-License-Identifier: MIT
"""`hasp predict --validate --study A64.csv`: few threads recorded, up to 192 predicted.

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
from hasp.base.errors import HaspError
from hasp.base.signals import interrupt_on_signals
from hasp.lab.simulate.machines import machine
from hasp.lab.simulate.machines.speed import Speed
from hasp.locks import native
from hasp.predict.validation.programs import Program, program_of
from hasp.predict.validation.report import report_study
from hasp.predict.validation.run import Assumed, Trial, carry_out
from hasp.predict.validation.score import tau_of
from hasp.statistics.ceiling import ceiling_of

PLAN = Path(__file__).with_name("a-64.toml")
MACHINE = "a-64"
COLUMNS = ("bench", "node", "strategy", "throughput")

# throughputs of all runs, by application and number of nodes, and then by lock
Measurements = Mapping[tuple[str, int], Mapping[str, list[float]]]


@dataclass(frozen=True)
class Subject:
    """A program recorded here, and the study's application that it is compared with."""

    program: Program
    application: str
    nodes: int
    threads: int
    recorded: int  # threads
    assumed: Assumed


def subjects() -> list[Subject]:
    """Return the programs of the plan."""
    tables: Any = Document.read(PLAN).get(("program",))
    return [
        Subject(
            program_of(one),
            one["application"],
            one["nodes"],
            one["threads"],
            one["recorded"],
            Assumed(one.get("mutexes", False), one.get("busy", False)),
        )
        for one in tables
    ]


def measured_by(path: Path) -> Measurements:
    """Return the throughput of all runs by application and nodes, and then by lock.

    Raises HaspError if the file is not the study's.
    """
    found: dict[tuple[str, int], dict[str, list[float]]] = defaultdict(dict)
    if not path.is_file():
        raise HaspError(
            f"there is no file {path}", "`hasp study fetch` downloads the lock study's"
        )
    with path.open(newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file)
        try:
            if not set(COLUMNS) <= set(rows.fieldnames or ()):
                raise _other_file(path, f"it lacks a column of {', '.join(COLUMNS)}")
            for row in rows:
                lock = _simulated(row["strategy"])
                own = found[row["bench"], int(row["node"])].setdefault(lock, [])
                own.append(float(row["throughput"]))
        except (ValueError, TypeError, csv.Error) as problem:
            line = max(rows.line_num, 1)  # the first one may have been unreadable
            raise _other_file(path, f"line {line}: {problem}") from None
    return found


def _other_file(path: Path, why: str) -> HaspError:
    return HaspError(f"{path} is not the lock study's: {why}", "give its file A64.csv")


def _simulated(name: str) -> str:
    """Return Hasp's name of the study's lock; glibc's is simulated by its algorithm."""
    found = native.lock(name)
    return "futex" if found.is_reference else found.name


def validate_study(
    folder: Path,
    study: Path,
    json: str | None,
    jobs: int | None = None,
    recorded_on: Speed | None = None,
) -> int:
    """Record what `folder` lacks, predict, and print the scores.

    Returns the exit status: 1 if the level is missed.
    """
    if json:
        output.check_writable(json)
    runs = measured_by(study)
    interrupt_on_signals()
    trials = [_trial(subject, runs, study) for subject in subjects()]
    return carry_out(
        trials,
        folder,
        machine.load(MACHINE),
        jobs,
        lambda scores: report_study(scores, json),
        recorded_on,
    )


def _trial(subject: Subject, runs: Measurements, study: Path) -> Trial:
    own = runs.get((subject.application, subject.nodes))
    if not own:
        where = f"{subject.application} with {subject.nodes} nodes"
        raise _other_file(study, f"it lacks {where}")
    means = {lock: fmean(values) for lock, values in own.items()}
    again = {lock: values for lock, values in own.items() if len(values) > 1}
    halves = [{lock: fmean(v[i::2]) for lock, v in again.items()} for i in (0, 1)]
    return Trial(
        subject.program,
        subject.recorded,
        subject.threads,
        means,
        tau_of(*halves),
        subject.assumed,
        published=True,
        ceiling=ceiling_of(list(own.values())),
        runs=own,
    )
