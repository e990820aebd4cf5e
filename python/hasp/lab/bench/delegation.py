# SPDX-License-Identifier: MIT
"""`hasp bench delegation`: sections under each executor, beside calls under locks."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from hasp.base import output
from hasp.lab.bench import interleaved
from hasp.lab.bench.interleaved import Record, factor_text, output_of
from hasp.locks import native
from hasp.locks.executors import executors

WORKLOAD = "delegation"
REFERENCE = "glibc"
LOCKS = ("futex", "mcs", "mcs-park")
ROUNDS, QUICK_ROUNDS = 21, 5
PUBLISHED = ("cc-synch", "flat-combining")  # also measured in their papers' form
COMPARED = (
    ("cc-synch", "cc-synch"),
    ("cc-synch-spin", "cc-synch"),
    ("flat-combining", "flat-combining"),
)
PLAIN = (REFERENCE, "lock:futex")  # what a program has without delegation
CHOSEN = "adaptive"
WINDOW_NS = 40_000_000


@dataclass(frozen=True)
class Options:
    """What `hasp bench delegation` measures."""

    quick: bool = False
    runs: int | None = None
    json: str | None = None


@dataclass(frozen=True)
class Case:
    """A number of threads, the pause between sections, and the lines of a section."""

    name: str
    threads: int
    think_cycles: int
    lines: int
    times: int = 1  # sections between two looks at the clock


def cases(cpus: int) -> tuple[Case, ...]:
    """Return the cases of a host with this number of CPUs."""
    return (
        Case("uncontended", 1, 0, 1),
        Case("back to back", 1, 0, 1, times=100),
        Case("low contention", cpus, 20000, 1),
        Case("high, 1 line", cpus, 400, 1),
        Case("high, 5 lines", cpus, 400, 5),
        Case("4 threads a CPU", 4 * cpus, 400, 5),
    )


def measure_delegation(options: Options) -> int:
    """Measure all subjects in rounds of random order, and print the medians.

    Ratios are of the same round, in which all subjects of a case run one after the
    other: a host may change its speed from one case to the next. Returns the exit
    status.
    """
    wanted = cases(len(os.sched_getaffinity(0)))
    rounds = options.runs or (QUICK_ROUNDS if options.quick else ROUNDS)
    results = interleaved.Results(lambda runs: _print(runs, wanted), options.json)
    return interleaved.collect(_rounds(wanted, rounds), results)


def _rounds(wanted: Sequence[Case], rounds: int) -> Iterator[Record]:
    subjects = _subjects()
    for number in range(rounds):
        for case in random.sample(wanted, len(wanted)):
            for name in random.sample(list(subjects), len(subjects)):
                yield {**_measure(subjects[name], name, case), "round": number}


def _subjects() -> dict[str, list[str]]:
    """Return the command of each subject: an executor, or calls under a lock."""
    program = str(native.program("hasp-workloads"))
    found = {REFERENCE: [str(native.program("hasp-shapes")), WORKLOAD]}
    for lock in LOCKS:
        found[f"lock:{lock}"] = [program, WORKLOAD, "--lock", lock]
    for name in executors():
        found[name] = [program, WORKLOAD, f"executor={name}"]
    for name in PUBLISHED:
        peers = str(native.program("hasp-workloads-published"))
        found[_published(name)] = [peers, WORKLOAD, f"executor={name}"]
    return found


def _published(name: str) -> str:
    return f"{name}, published"


def _measure(command: Sequence[str], name: str, case: Case) -> Record:
    knobs = [f"think_cycles={case.think_cycles}", f"cs_lines={case.lines}", "drain=0"]
    knobs.append(f"times={case.times}")
    limits = ["--threads", str(case.threads), "--duration-ns", str(WINDOW_NS)]
    row = json.loads(output_of([*command, *knobs, *limits, "--cpus", "any"]))
    return {
        "schema": "hasp.delegation/1",
        "subject": name,
        "case": case.name,
        "threads": case.threads,
        "think_cycles": case.think_cycles,
        "lines": case.lines,
        "times": case.times,
        "sections_per_second": round(row["operations"] * case.times * 1e9 / WINDOW_NS),
        **_counts(row),
    }


def _counts(row: Record) -> Record:
    """Return how many sections the executor, or its server, executed in a hold."""
    holds = row.get("executor_holds")
    return {"sections_per_hold": row["executor_sections"] / holds} if holds else {}


def _samples(
    runs: Sequence[Record],
    subject: str,
    case: Case,
    figure: str = "sections_per_second",
) -> list[float]:
    return [
        float(run[figure])
        for run in runs
        if (run["subject"], run["case"]) == (subject, case.name) and figure in run
    ]


def _rows(runs: Sequence[Record], wanted: Sequence[Case]) -> Iterator[tuple[str, ...]]:
    subjects = sorted({run["subject"] for run in runs})
    for case in wanted:
        reference = _samples(runs, REFERENCE, case)
        for subject in subjects:
            sample = _samples(runs, subject, case)
            if not sample:
                continue
            millions = f"{median(sample) / 1e6:.2f}"
            holds = _samples(runs, subject, case, "sections_per_hold")
            per_hold = f"{median(holds):.1f}" if holds else ""
            ratio = "" if subject == REFERENCE else factor_text(sample, reference)
            yield case.name, subject, millions, per_hold, ratio


def _chosen(runs: Sequence[Record], wanted: Sequence[Case]) -> Iterator[str]:
    """Yield, for each case, how the default executor compares with the faster lock."""
    for case in wanted:
        chosen = _samples(runs, CHOSEN, case)
        plain = {name: _samples(runs, name, case) for name in PLAIN}
        if chosen and all(plain.values()):
            best = max(plain, key=lambda name: median(plain[name]))
            ratio = factor_text(chosen, plain[best])
            yield f"{CHOSEN} to {best}, {case.name}: {ratio}"


def _beside_published(runs: Sequence[Record], wanted: Sequence[Case]) -> Iterator[str]:
    """Yield, for each case, how executors compare with their papers' form."""
    for name, form in COMPARED:
        for case in wanted:
            own = _samples(runs, name, case)
            published = _samples(runs, _published(form), case)
            if own and published:
                ratio = factor_text(own, published)
                yield f"{name} to {_published(form)}, {case.name}: {ratio}"


def _print(runs: Sequence[Record], wanted: Sequence[Case]) -> None:
    table = output.table()
    numbers = ("M/S", "A HOLD")
    for heading in ("CASE", "SECTIONS BY", *numbers, "TO GLIBC'S"):
        table.add_column(heading, justify="right" if heading in numbers else "left")
    for row in _rows(runs, wanted):
        table.add_row(*row)
    output.console().print(table)
    for line in (*_chosen(runs, wanted), *_beside_published(runs, wanted)):
        output.console().print(line, highlight=False, markup=False)
