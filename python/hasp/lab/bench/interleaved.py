# SPDX-License-Identifier: MIT
"""Measures subjects in interleaved rounds, and compares Hasp's with each other one.

A subject is a name and a lock, "" if it takes none. A record is what the benchmark's
program prints for one subject in one case, with the case's name and the round.
"""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from hasp.base import output
from hasp.base.errors import EXIT_FINE, HaspError, Interrupted
from hasp.base.figures import check_figure
from hasp.base.progress import Display
from hasp.base.signals import interrupt_on_signals
from hasp.statistics.ratio import (
    Ratio,
    interval_of_median,
    median_of_ratios,
)

OWN = "hasp"

Record = dict[str, Any]
Subject = tuple[str, str]


class Named(Protocol):
    """A case of a benchmark."""

    @property
    def name(self) -> str: ...


C = TypeVar("C", bound=Named)


@dataclass(frozen=True)
class Benchmark:
    """What its records are called: their schema, their figure, and their topic.

    `counterparts`: which of Hasp's subjects others are compared with, if not OWN."""

    topic: str
    schema: str
    figure: str  # the field with millions of operations a second
    cases: Sequence[Named]
    counterparts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Summary:
    """A subject in a case: the median of its figure with its 95 % interval, and how
    many times as fast Hasp's was in the same rounds, in the median (None for Hasp's
    own)."""

    case: str
    label: str
    median: float
    interval: tuple[float, float] | None
    hasp_is: Ratio | None


@dataclass(frozen=True)
class Results:
    """What becomes of records: tables, and the files of --json and --plot, if any."""

    print_tables: Callable[[Sequence[Record]], None]
    json: str | None = None
    plot: str | None = None
    draw: Callable[[Sequence[Record], Path], None] | None = None

    def check(self) -> None:
        """Raise HaspError if a file cannot be written."""
        if self.json:
            output.check_writable(self.json)
        check_figure(self.plot)

    def write(self, records: Sequence[Record]) -> None:
        """Write the files, and print the tables unless --json has standard output."""
        if self.json:
            output.write_json(records, self.json)
        if self.json != output.STDOUT:
            self.print_tables(records)
        if self.plot and self.draw:
            self.draw(records, Path(self.plot))


def carry_out(
    topic: str,
    schema: str,
    source: str | None,
    measured: Iterable[Record],
    results: Results,
) -> int:
    """Measure, or read what was measured; write the files, and print the tables.

    Ctrl-C ends the measurement with the records so far. Returns the exit status.
    """
    records = load(topic, schema, Path(source)) if source else measured
    return collect(records, results)


def collect(measured: Iterable[Record], results: Results) -> int:
    """Measure, write the files, and print the tables.

    Ctrl-C ends the measurement with the records so far. Returns the exit status.
    """
    results.check()
    status, records = EXIT_FINE, list[Record]()
    interrupt_on_signals()
    try:
        records.extend(measured)
    except Interrupted as interruption:
        if not records:
            raise
        status = interruption.exit_status
        output.note("interrupted; the results so far follow")
    results.write(records)
    return status


def select(cases: Sequence[C], names: str | None, topic: str) -> list[C]:
    """Return the cases of these names, separated by commas. Raises HaspError."""
    if names is None:
        return list(cases)
    known = {case.name: case for case in cases}
    wanted = [name.strip() for name in names.split(",")]
    for name in wanted:
        if name not in known:
            raise HaspError(
                f"there is no case {name} of {topic}",
                f"the cases are {', '.join(known)}",
            )
    return [known[name] for name in wanted]


def built_subjects(program: str) -> list[str]:
    """Return the names of the subjects that the program was built with."""
    listed = subprocess.run([program, "--list"], capture_output=True, text=True)
    return listed.stdout.split()


def measure(
    cases: Sequence[C],
    subjects: Sequence[Subject],
    rounds: int,
    command: Callable[[C, Subject], Iterable[str]],
) -> Iterator[Record]:
    """Yield a record for each round, case and subject.

    Each round runs all cases and subjects in an order of its own. Raises HaspError if a
    program fails.
    """
    plan = [
        (number, case, subject)
        for number in range(rounds)
        for case in random.Random(number).sample(cases, len(cases))
        for subject in random.Random(number).sample(subjects, len(subjects))
    ]
    with Display() as display:
        for done, (number, case, subject) in enumerate(plan):
            display.show(f"{case.name}, {subject[0]}", done, len(plan), None)
            record = _run([*command(case, subject)], subject, case.name)
            yield {**record, "case": case.name, "run": number}


def threads_beside_servers(cpus: int, subject: Subject) -> int:
    """Return the number of threads that leave each server a CPU of its own, at least 1.

    The second part of a subject with servers is WAY=SERVERS.
    """
    _, _, servers = subject[1].partition("=")
    return max(1, cpus - int(servers or 0))


def _run(command: list[str], subject: Subject, case: str) -> Record:
    name, lock = subject
    if lock:
        command += ["--lock", lock]
    done = subprocess.run([*command, "--subject", name], capture_output=True, text=True)
    if done.returncode:
        said = done.stderr.strip() or "its data are wrong"
        raise HaspError(f"{name} failed in {case}: {said}", "report this as a bug")
    record: Record = json.loads(done.stdout)
    return record


def output_of(command: Sequence[str]) -> str:
    """Run a program; return its standard output. Raises HaspError if it fails."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise HaspError(
            f"{Path(command[0]).name} failed: {done.stderr.strip()}",
            "report this with the output of `hasp doctor`",
        )
    return done.stdout


def load(topic: str, schema: str, path: Path) -> list[Record]:
    """Return the records that --json wrote to this file. Raises HaspError."""
    remedy = "name a file that --json wrote"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        records = [json.loads(line) for line in lines]
    except (OSError, ValueError) as problem:
        raise HaspError(f"cannot read {path}: {problem}", remedy) from None
    if not records or any(row.get("schema") != schema for row in records):
        raise HaspError(f"{path} has no results of {topic}", remedy)
    return records


def summarise(benchmark: Benchmark, records: Sequence[Record]) -> list[Summary]:
    """Return a summary of each case and subject, the fastest of a case first."""
    figures: dict[Subject, dict[int, float]] = {}
    for record in records:
        key = record["case"], _label(record)
        figures.setdefault(key, {})[record["run"]] = record[benchmark.figure]
    rows = []
    for (case, label), runs in figures.items():
        own = figures.get((case, benchmark.counterparts.get(label, OWN)), {})
        # On a busy machine, a server may not have run at all.
        both = [n for n in sorted(runs) if own.get(n, 0) > 0 and runs[n] > 0]
        ratio = None
        if label != OWN and both:
            ratio = median_of_ratios(
                [own[number] for number in both], [runs[number] for number in both]
            )
        middle = sorted(runs.values())[len(runs) // 2]
        interval = interval_of_median([*runs.values()])
        rows.append(Summary(case, label, middle, interval, ratio))
    order = [case.name for case in benchmark.cases]
    return sorted(rows, key=lambda row: (order.index(row.case), -row.median))


def _label(record: Record) -> str:
    name: str = record["subject"]
    return f"{name} ({record['lock']})" if record["lock"] else name


def print_summaries(
    rows: Iterable[Summary], subject: str, figure: str, decimals: int, note: str = ""
) -> None:
    """Print a table; `subject` and `figure` are headings of its columns."""
    table = output.table(
        caption=f"HASP IS: times as fast as this row, with the 95 % interval{note}"
    )
    for heading in ("CASE", subject):
        table.add_column(heading)
    for heading in (figure, "HASP IS"):
        table.add_column(heading, justify="right")
    last = ""
    for row in rows:
        case = row.case if row.case != last else ""
        median = f"{row.median:.{decimals}f}"
        table.add_row(case, row.label, median, ratio_text(row.hasp_is))
        last = row.case
    output.console().print(table)


def ratio_text(ratio: Ratio | None) -> str:
    """Return the ratio with its interval, if there is one; "" for None."""
    if ratio is None:
        return ""
    if ratio.low is None or ratio.high is None:
        return f"{ratio.value:.2f}"
    return f"{ratio.value:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"


def factor_text(sample: Sequence[float], reference: Sequence[float]) -> str:
    """Return the median of the ratios, with the 95 % interval if there is one.

    Values at the same index are of the same round; the longer series has one more.
    """
    pairs = min(len(sample), len(reference))
    if not pairs:
        return ""
    ratio = median_of_ratios(sample[:pairs], reference[:pairs])
    text = f"{ratio.value:.2f}x"
    if ratio.low is None or ratio.high is None:
        return text
    return f"{text} [{ratio.low:.2f}, {ratio.high:.2f}]"
