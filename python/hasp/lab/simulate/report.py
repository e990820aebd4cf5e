# SPDX-License-Identifier: MIT
"""Tables of `hasp simulate`: throughput by thread count, or details of one count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

from hasp.base import output
from hasp.base.durations import format_duration, three_digits
from hasp.lab.simulate.job import OK, Record
from hasp.lab.simulate.options import Options

COUNTS_IN_A_ROW = 7  # as many as fit in 80 columns
SPREAD = 0.05  # results that differ more between seeds are printed as a range


def print_results(options: Options, records: list[Record]) -> None:
    """Print the tables, then failures and warnings."""
    console = output.console()
    machine = options.machine
    console.print(f"{machine.name}, simulated: {machine.title}", style="bold")
    if words := machine.latency_words:
        where = " The machine file explains them." if machine.estimated else ""
        console.print(f"{words}{where}")
    counts = sorted({record["threads"] for record in records})
    if len(counts) > 1:
        for start in range(0, len(counts), COUNTS_IN_A_ROW):
            _by_threads(options, records, counts[start : start + COUNTS_IN_A_ROW])
    else:
        _details(options, records)
    failures = [record for record in records if record["outcome"] != OK]
    for record in failures:
        console.print(f"\n{_name(record)} failed:", style="bold")
        console.print(record["detail"])
    for record in records:
        if record.get("warning"):
            output.note(f"{_name(record)}: {record['warning']}")


def _name(record: Record) -> str:
    lock = f"{record['lock']}, " if record["lock"] else ""
    return f"{lock}{record['threads']} threads, seed {record['seed']}"


def _rows(records: list[Record]) -> dict[str, list[Record]]:
    rows: dict[str, list[Record]] = {}
    for record in records:
        rows.setdefault(record["lock"] or record["workload"], []).append(record)
    return rows


def _heading(options: Options) -> str:
    knobs = "".join(f", {name} {value}" for name, value in options.knobs.items())
    return f"{options.workload}{knobs}"


def _by_threads(options: Options, records: list[Record], counts: Sequence[int]) -> None:
    console = output.console()
    console.print(f"\nMillion operations a second, {_heading(options)}; threads:")
    table = output.table()
    table.add_column("", no_wrap=True)
    for count in counts:
        table.add_column(str(count), justify="right", no_wrap=True)
    for name, own in _rows(records).items():
        cells = [
            cell([record for record in own if record["threads"] == count])
            for count in counts
        ]
        table.add_row(name, *cells)
    console.print(table)


def cell(records: Sequence[Record], key: str = "throughput_mops") -> str:
    """Format one figure over all seeds: a range if they differ, else the median."""
    if any(record["outcome"] != OK for record in records):
        return "failed"
    values = [record[key] for record in records if record.get(key) is not None]
    if not values:
        return "-"
    middle = median(values)
    if max(values) - min(values) > SPREAD * middle:
        return f"{three_digits(min(values))}-{three_digits(max(values))}"
    return three_digits(middle)


def _nanoseconds(key: str) -> Callable[[Sequence[Record]], str]:
    def show(records: Sequence[Record]) -> str:
        values = [record[key] for record in records if record.get(key) is not None]
        return format_duration(median(values) * 1e-9) if values else "-"

    return show


def _per_operation(key: str) -> Callable[[Sequence[Record]], str]:
    def show(records: Sequence[Record]) -> str:
        values = [
            record[key] / record["operations"]
            for record in records
            if record.get(key) is not None and record["operations"]
        ]
        return three_digits(median(values)) if values else "-"

    return show


def _figure(key: str) -> Callable[[Sequence[Record]], str]:
    return lambda records: cell(records, key)


COLUMNS: tuple[tuple[str, Callable[[Sequence[Record]], str]], ...] = (
    ("Mops/s", _figure("throughput_mops")),
    ("fair", _figure("jain_fairness")),
    ("p50", _nanoseconds("acquire_p50_ns")),
    ("p99", _nanoseconds("acquire_p99_ns")),
    ("handover", _nanoseconds("handover_ns")),
    ("local", _per_operation("transfers_local")),
    ("remote", _per_operation("transfers_remote")),
    ("nJ", _figure("energy_nj_per_op")),
)


def _details(options: Options, records: list[Record]) -> None:
    console = output.console()
    threads = records[0]["threads"] if records else 0
    words = "1 thread" if threads == 1 else f"{threads} threads"
    console.print(f"\n{_heading(options)}, {words}:")
    table = output.table(
        caption="fair: Jain's index. p50, p99: time to acquire. local, remote: lines "
        "moved per operation, within and between places. nJ: per operation."
    )
    table.add_column("", no_wrap=True)
    for heading, _ in COLUMNS:
        table.add_column(heading, justify="right", no_wrap=True)
    for name, own in _rows(records).items():
        done = [record for record in own if record["outcome"] == OK]
        if len(done) < len(own):
            table.add_row(name, "failed")
        else:
            table.add_row(name, *(show(own) for _, show in COLUMNS))
    console.print(table)
