# SPDX-License-Identifier: MIT
"""`hasp bench delegation`: sections under each executor, beside calls under locks."""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from hasp.base import output
from hasp.base.errors import HaspError, Interrupted
from hasp.locks import native
from hasp.locks.executors import executors
from hasp.statistics.ratio import median_ratio, ratio_of_medians

WORKLOAD = "delegation"
REFERENCE = "glibc"
LOCKS = ("futex", "mcs", "mcs-park")
ROUNDS, QUICK_ROUNDS = 21, 5
WINDOW_NS = 40_000_000

Run = dict[str, Any]


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


def cases(cpus: int) -> tuple[Case, ...]:
    """Return the cases of a host with this number of CPUs."""
    return (
        Case("uncontended", 1, 0, 1),
        Case("low contention", cpus, 20000, 1),
        Case("high, 1 line", cpus, 400, 1),
        Case("high, 5 lines", cpus, 400, 5),
        Case("4 threads a CPU", 4 * cpus, 400, 5),
    )


def measure_delegation(options: Options) -> int:
    """Measure all subjects in rounds of random order, and print the medians."""
    if options.json:
        output.check_writable(options.json)
    wanted = cases(len(os.sched_getaffinity(0)))
    rounds = options.runs or (QUICK_ROUNDS if options.quick else ROUNDS)
    subjects = _subjects()
    runs: list[Run] = []
    try:
        for number in range(rounds):
            tasks = [(name, case) for name in subjects for case in wanted]
            for name, case in random.sample(tasks, len(tasks)):
                runs.append({**_measure(subjects[name], name, case), "round": number})
    except (Interrupted, KeyboardInterrupt):
        output.note("interrupted; these are the results so far")
    if options.json:
        output.write_json(runs, options.json)
    if options.json != output.STDOUT:
        _print(runs, wanted)
    return 0


def _subjects() -> dict[str, list[str]]:
    """Return the command of each subject: an executor, or calls under a lock."""
    program = str(native.program("hasp-workloads"))
    found = {REFERENCE: [str(native.program("hasp-shapes")), WORKLOAD]}
    for lock in LOCKS:
        found[f"lock:{lock}"] = [program, WORKLOAD, "--lock", lock]
    for name in executors():
        found[name] = [program, WORKLOAD, f"executor={name}"]
    return found


def _measure(command: Sequence[str], name: str, case: Case) -> Run:
    knobs = [f"think_cycles={case.think_cycles}", f"cs_lines={case.lines}", "drain=0"]
    limits = ["--threads", str(case.threads), "--duration-ns", str(WINDOW_NS)]
    row = json.loads(_output([*command, *knobs, *limits, "--cpus", "any"]))
    return {
        "schema": "hasp.delegation/1",
        "subject": name,
        "case": case.name,
        "threads": case.threads,
        "think_cycles": case.think_cycles,
        "lines": case.lines,
        "sections_per_second": round(row["operations"] * 1e9 / WINDOW_NS),
        **_counts(row),
    }


def _counts(row: Run) -> Run:
    """Return how many sections the executor, or its server, executed in a hold."""
    holds = row.get("executor_holds")
    return {"sections_per_hold": row["executor_sections"] / holds} if holds else {}


def _output(command: Sequence[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise HaspError(
            f"{Path(command[0]).name} failed: {done.stderr.strip()}",
            "report this with the output of `hasp doctor`",
        )
    return done.stdout


def _samples(runs: Sequence[Run], subject: str, case: Case) -> list[float]:
    return [
        float(run["sections_per_second"])
        for run in runs
        if (run["subject"], run["case"]) == (subject, case.name)
    ]


def _rows(runs: Sequence[Run], wanted: Sequence[Case]) -> Iterator[tuple[str, ...]]:
    for case in wanted:
        reference = _samples(runs, REFERENCE, case)
        for subject in dict.fromkeys(sorted(run["subject"] for run in runs)):
            sample = _samples(runs, subject, case)
            if sample:
                ratio = "" if subject == REFERENCE else _ratio(sample, reference)
                millions = f"{median(sample) / 1e6:.2f}"
                yield (
                    case.name,
                    subject,
                    millions,
                    _per_hold(runs, subject, case),
                    ratio,
                )


def _per_hold(runs: Sequence[Run], subject: str, case: Case) -> str:
    found = [
        run["sections_per_hold"]
        for run in runs
        if (run["subject"], run["case"]) == (subject, case.name)
        and "sections_per_hold" in run
    ]
    return f"{median(found):.1f}" if found else ""


def _ratio(sample: Sequence[float], reference: Sequence[float]) -> str:
    pairs = min(len(sample), len(reference))
    if not pairs:
        return ""
    ratio = ratio_of_medians(sample[:pairs], reference[:pairs])
    text = f"{median_ratio(sample, reference):.2f}x"
    if ratio.low is None or ratio.high is None:
        return text
    return f"{text} [{ratio.low:.2f}, {ratio.high:.2f}]"


def _print(runs: Sequence[Run], wanted: Sequence[Case]) -> None:
    table = output.table()
    numbers = ("M/S", "A HOLD")
    for heading in ("CASE", "SECTIONS BY", *numbers, "TO GLIBC'S"):
        table.add_column(heading, justify="right" if heading in numbers else "left")
    for row in _rows(runs, wanted):
        table.add_row(*row)
    output.console().print(table)
