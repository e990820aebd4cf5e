# SPDX-License-Identifier: MIT
"""Carries out `hasp bench transactions`: Hasp's beside one lock and GCC's libitm."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hasp.base import host, output
from hasp.base.errors import EXIT_FINE, HaspError
from hasp.base.progress import Display
from hasp.locks import native
from hasp.statistics.ratio import Ratio, ratio_of_medians

PROGRAM = "hasp-bench-transactions"
OWN = "hasp"
LOCK = "lock"
LIBITM = "libitm"
DEFAULT_LOCK = "futex"
SCHEMA = "hasp.transaction/1"
MILLISECONDS = 100
ROUNDS = 25
QUICK_ROUNDS = 7
# The causes of aborts, as the program names them, and as the table does.
CAUSES = {
    "load_locked": "load locked",
    "load_changed": "load changed",
    "commit_locked": "commit locked",
    "commit_changed": "commit changed",
    "closed": "closed",
}

Record = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A program, its size, and the percentage of its read-alls or updates."""

    name: str
    program: str
    elements: int
    percent: int


CASES = (
    Case("bank", "bank", 1024, 0),
    Case("bank-few", "bank", 32, 0),
    Case("bank-read-all", "bank", 1024, 10),
    Case("list", "list", 128, 20),
    Case("table", "table", 1024, 20),
    Case("table-updates", "table", 1024, 100),
)


@dataclass(frozen=True)
class Options:
    """The options of `hasp bench transactions`. `locks`: those that are measured, each
    as the one lock of the program."""

    cases: str | None
    locks: tuple[str, ...]
    quick: bool
    runs: int | None
    json: str | None
    source: str | None = None


def bench_transactions(options: Options) -> int:
    """Measure, or read what was measured; print the tables. Returns the exit status."""
    if options.json:
        output.check_writable(options.json)
    source = options.source
    records = _load(Path(source)) if source else _measure(options)
    if options.json:
        output.write_json(records, options.json)
    if options.json != output.STDOUT:
        print_tables(records)
    return EXIT_FINE


def select_cases(names: str | None) -> list[Case]:
    """Return the cases of these names, separated by commas. Raises HaspError."""
    if names is None:
        return list(CASES)
    known = {case.name: case for case in CASES}
    wanted = [name.strip() for name in names.split(",")]
    for name in wanted:
        if name not in known:
            raise HaspError(
                f"there is no case {name} of transactions",
                f"the cases are {', '.join(known)}",
            )
    return [known[name] for name in wanted]


def _subjects(program: str, locks: Sequence[str]) -> list[tuple[str, str]]:
    done = subprocess.run([program, "--list"], capture_output=True, text=True)
    subjects = [(OWN, ""), *((LOCK, lock) for lock in locks or (DEFAULT_LOCK,))]
    if LIBITM in done.stdout.split():
        subjects.append((LIBITM, ""))
    else:
        output.note("libitm is not measured: it needs GCC (libitm1) and a new build")
    return subjects


def _measure(options: Options) -> list[Record]:
    program = str(native.program(PROGRAM))
    cases = select_cases(options.cases)
    runs = options.runs or (QUICK_ROUNDS if options.quick else ROUNDS)
    threads = min(int(host.facts().cpus), 32)
    subjects = _subjects(program, options.locks)
    plan = [
        (run, case, *subject)
        for run in range(runs)
        for case in random.Random(run).sample(cases, len(cases))
        for subject in random.Random(run).sample(subjects, len(subjects))
    ]
    records = []
    with Display() as display:
        try:
            for number, (run, case, name, lock) in enumerate(plan):
                display.show(f"{case.name}, {name}", number, len(plan), None)
                record = _run(program, case, name, lock, threads)
                records.append({**record, "case": case.name, "run": run})
        except KeyboardInterrupt:
            if not records:
                raise
            output.note("interrupted: the tables show what has been measured")
    return records


def _run(program: str, case: Case, name: str, lock: str, threads: int) -> Record:
    words = [program, "--subject", name, "--program", case.program]
    words += ["--threads", str(threads), "--elements", str(case.elements)]
    words += ["--percent", str(case.percent), "--milliseconds", str(MILLISECONDS)]
    done = subprocess.run(
        [*words, *(("--lock", lock) if lock else ())], capture_output=True, text=True
    )
    if done.returncode:
        said = done.stderr.strip() or "its data are wrong"
        raise HaspError(f"{name} failed in {case.name}: {said}", "report this as a bug")
    record: Record = json.loads(done.stdout)
    return record


def _load(path: Path) -> list[Record]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        records = [json.loads(line) for line in lines]
    except (OSError, ValueError) as problem:
        raise HaspError(
            f"cannot read {path}: {problem}", "name a file of --json"
        ) from None
    if not records or any(row.get("schema") != SCHEMA for row in records):
        raise HaspError(
            f"{path} has no results of transactions", "name a file of --json"
        )
    return records


def _label(record: Record) -> str:
    name: str = record["subject"]
    return f"{name} ({record['lock']})" if record["lock"] else name


def summarise(records: Sequence[Record]) -> list[tuple[str, str, float, Ratio | None]]:
    """Return (case, subject, median of millions a second, ratio of Hasp's transactions
    to it in the same rounds)."""
    figures: dict[tuple[str, str], dict[int, float]] = {}
    for record in records:
        key = record["case"], _label(record)
        figures.setdefault(key, {})[record["run"]] = record["mtps"]
    rows = []
    for (case, label), runs in figures.items():
        values = [runs[run] for run in sorted(runs)]
        own = figures.get((case, OWN), {})
        both = [run for run in sorted(runs) if run in own]
        ratio = None
        if label != OWN and both:
            ratio = ratio_of_medians(
                [own[run] for run in both], [runs[run] for run in both]
            )
        rows.append((case, label, sorted(values)[len(values) // 2], ratio))
    order = [case.name for case in CASES]
    return sorted(rows, key=lambda row: (order.index(row[0]), -row[2]))


def summarise_aborts(records: Sequence[Record]) -> list[tuple[str, list[float], int]]:
    """Return (case, aborts of each cause and transactions that ran alone, for each
    thousand transactions of Hasp's, most retries of one) for each case."""
    rows = []
    for case in CASES:
        own = [r for r in records if r["subject"] == OWN and r["case"] == case.name]
        if not own:
            continue
        thousands = sum(record["transactions"] for record in own) / 1000 or 1.0
        counts = [sum(record["aborts"][cause] for record in own) for cause in CAUSES]
        counts.append(sum(record["alone"] for record in own))
        most = max(record["most_retries"] for record in own)
        rows.append((case.name, [count / thousands for count in counts], most))
    return rows


def print_tables(records: Sequence[Record]) -> None:
    """Print the speeds, the fastest first, and the aborts of Hasp's transactions."""
    table = output.table(
        caption="HASP IS: times as fast as this row, with the 95 % interval"
    )
    for heading in ("CASE", "ATOMIC BY"):
        table.add_column(heading)
    for heading in ("M TRANSACTIONS/S", "HASP IS"):
        table.add_column(heading, justify="right")
    last = ""
    for case, label, mtps, ratio in summarise(records):
        said = ""
        if ratio is not None:
            said = f"{ratio.value:.2f}"
            if ratio.low is not None and ratio.high is not None:
                said += f" ({ratio.low:.2f} to {ratio.high:.2f})"
        table.add_row(case if case != last else "", label, f"{mtps:.2f}", said)
        last = case
    output.console().print(table)
    aborts = output.table(caption="for each thousand of Hasp's transactions")
    aborts.add_column("ABORTS", no_wrap=True)
    for heading in (*CAUSES.values(), "ran alone", "most retries"):
        aborts.add_column(heading, justify="right")
    for case, counts, most in summarise_aborts(records):
        aborts.add_row(case, *(f"{count:.2f}" for count in counts), str(most))
    output.console().print(aborts)
