# SPDX-License-Identifier: MIT
"""Carries out `hasp bench hash-table`: Hasp's hash table beside others."""

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

PROGRAM = "hasp-bench-tables"
OWN = "hasp"
INSERTING = "hasp-insert"  # does not replace values, like clht
SCHEMA = "hasp.table/1"
MILLISECONDS = 100
ROUNDS = 15
QUICK_ROUNDS = 7
# What each peer needs when the program is built.
PEERS = {
    "clht": "",
    "tbb": "libtbb-dev",
    "libcuckoo": "libcuckoo-dev",
    "rculfhash": "liburcu-dev",
    "boost": "libboost-dev 1.83 or newer",
}

Record = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A load: entries, the share of updates in percent, and the skew of the keys."""

    name: str
    elements: int
    updates: int
    zipf: float = 0.0


# The first three are CLHT's, the next four those of SSYNC: 512 or 12 buckets with 12 or
# 48 entries each, 80 % get, 10 % put, 10 % remove.
CASES = (
    Case("read", 1024, 0),
    Case("some-updates", 1024, 20),
    Case("updates", 1024, 100),
    Case("ssync-512x12", 512 * 12, 20),
    Case("ssync-512x48", 512 * 48, 20),
    Case("ssync-12x12", 12 * 12, 20),
    Case("ssync-12x48", 12 * 48, 20),
    Case("zipf", 1024 * 1024, 20, 0.99),
)


@dataclass(frozen=True)
class Options:
    """The options of `hasp bench hash-table`. `locks`: those that the table's writers
    are measured under, besides the bits of its buckets."""

    cases: str | None
    locks: tuple[str, ...]
    quick: bool
    runs: int | None
    json: str | None
    source: str | None = None
    threads: int | None = None


def bench_tables(options: Options) -> int:
    """Measure, or read what was measured; print the table. Returns the exit status."""
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
                f"there is no case {name} of hash tables",
                f"the cases are {', '.join(known)}",
            )
    return [known[name] for name in wanted]


def _subjects(program: str) -> list[str]:
    done = subprocess.run([program, "--list"], capture_output=True, text=True)
    built = done.stdout.split()
    for name, package in PEERS.items():
        if name not in built:
            output.note(f"{name} is not measured: it needs {package} and a new build")
    return [OWN, INSERTING, *(name for name in PEERS if name in built)]


def _measure(options: Options) -> list[Record]:
    program = str(native.program(PROGRAM))
    cases = select_cases(options.cases)
    runs = options.runs or (QUICK_ROUNDS if options.quick else ROUNDS)
    threads = options.threads or min(int(host.facts().cpus), 32)
    subjects = [(name, "") for name in _subjects(program)]
    subjects += [(OWN, lock) for lock in options.locks]
    plan = [
        (run, case, *subject)
        for run in range(runs)
        for case in random.Random(run).sample(cases, len(cases))
        for subject in random.Random(run).sample(subjects, len(subjects))
    ]
    records = []
    with Display() as display:
        for number, (run, case, name, lock) in enumerate(plan):
            display.show(f"{case.name}, {name}", number, len(plan), None)
            record = _run(program, case, name, lock, threads)
            records.append({**record, "case": case.name, "run": run})
    return records


def _run(program: str, case: Case, name: str, lock: str, threads: int) -> Record:
    words = [program, "--subject", name, "--threads", str(threads)]
    words += ["--elements", str(case.elements), "--updates", str(case.updates)]
    words += ["--zipf", str(case.zipf), "--milliseconds", str(MILLISECONDS)]
    done = subprocess.run(
        [*words, *(("--lock", lock) if lock else ())], capture_output=True, text=True
    )
    if done.returncode:
        raise HaspError(f"{name} failed: {done.stderr.strip()}", "report this as a bug")
    record: Record = json.loads(done.stdout)
    return record


def _load(path: Path) -> list[Record]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        records = [json.loads(line) for line in lines]
    except (OSError, ValueError) as problem:
        raise HaspError(
            f"cannot read {path}: {problem}", "name a file that --json wrote"
        ) from None
    if not records or any(row.get("schema") != SCHEMA for row in records):
        raise HaspError(
            f"{path} has no results of hash tables", "name a file that --json wrote"
        )
    return records


def _label(record: Record) -> str:
    name: str = record["subject"]
    return f"{name} ({record['lock']})" if record["lock"] else name


def summarise(records: Sequence[Record]) -> list[tuple[str, str, float, Ratio | None]]:
    """Return (case, table, median of Mops, ratio of Hasp's table to it) for each."""
    figures: dict[tuple[str, str], dict[int, float]] = {}
    for record in records:
        key = record["case"], _label(record)
        figures.setdefault(key, {})[record["run"]] = record["mops"]
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


def print_tables(records: Sequence[Record]) -> None:
    """Print a row for each case and table, the fastest first."""
    table = output.table(
        caption="HASP IS: times as fast as this table, with the 95 % interval"
    )
    for heading in ("CASE", "TABLE"):
        table.add_column(heading)
    for heading in ("M OPERATIONS/S", "HASP IS"):
        table.add_column(heading, justify="right")
    last = ""
    for case, label, mops, ratio in summarise(records):
        said = ""
        if ratio is not None:
            said = f"{ratio.value:.2f}"
            if ratio.low is not None and ratio.high is not None:
                said += f" ({ratio.low:.2f} to {ratio.high:.2f})"
        table.add_row(case if case != last else "", label, f"{mops:.1f}", said)
        last = case
    output.console().print(table)
