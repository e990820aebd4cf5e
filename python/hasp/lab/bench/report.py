# SPDX-License-Identifier: MIT
"""Prints rows and verdicts in 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import NamedTuple

from rich.console import Console, JustifyMethod
from rich.table import Table

from hasp.base import output
from hasp.base.durations import three_digits
from hasp.lab.bench.cases import BATON_RING, FLOOR, GLIBC, STARTUP, Case
from hasp.lab.bench.judge import Verdict
from hasp.lab.bench.rows import Row
from hasp.lab.bench.runner import FAILED, HANG, OK
from hasp.statistics import Ratio

# Above this ratio the lock does not hand over in order, so a comparison is pointless.
BATON_WORTH_SAYING = 5
# With more locks than this, a final table shows all ratios side by side.
LOCKS_READ_AT_ONCE = 3
SUMMARY_COLUMNS = (
    # heading, case, threads
    ("alone", "uncontended", 1),
    ("pair", "uncontended", 2),
    ("contended", "contended", None),
    ("think", "think_time", None),
    ("oversub.", "oversubscribed", None),
    ("trylock", "trylock", None),
    ("hammer", "trylock_hammer", None),
    ("condvar", "condvar_ping_pong", None),
    ("queue", "broadcast_queue", None),
    ("bytes", "bytes_per_mutex", None),
    ("create", "create_destroy", None),
    ("startup", "startup", None),
    ("alone", "read_pair", 1),
    ("read pair", "read_pair", 2),
    ("alone", "write_pair", 1),
    ("write pair", "write_pair", 2),
    ("100 %", "reads_100", None),
    ("99 %", "reads_99", None),
    ("90 %", "reads_90", None),
    ("50 %", "reads_50", None),
    ("alone", "spin_pair", 1),
    ("pair", "spin_pair", 2),
    ("contended", "spin", None),
    ("phase", "barrier", None),
)


def print_rows(console: Console, rows: Sequence[Row]) -> None:
    """Print a table for each case, followed by its failures."""
    for case, of_case in groupby(rows, key=lambda row: row.case):
        group = list(of_case)
        better = "lower" if case.lower_is_better else "higher"
        console.print(f"{case.name}, {case.load}, {better} is better", style="bold")
        console.print(case.summary)
        if case.name == BATON_RING:
            console.print(f"  {_value(group[0])}")
        else:
            console.print(_table_of(group))
        for row in group:
            if row.outcome != OK:
                console.print(f"{row.lock}: {row.outcome}: {row.reason}", style="red")
        console.print()


def _table_of(group: Sequence[Row]) -> Table:
    table = output.table()
    columns = [column for column in COLUMNS if any(map(column.cell, group))]
    for column in columns:
        justify: JustifyMethod = "left" if column is COLUMNS[0] else "right"
        table.add_column(column.heading, justify=justify, no_wrap=True, min_width=4)
    for row in group:
        table.add_row(*(column.cell(row) for column in columns))
    return table


def print_summary(console: Console, rows: Sequence[Row]) -> None:
    """Print all ratios to glibc, one line per lock."""
    locks = list(dict.fromkeys(row.lock for row in rows if row.lock != GLIBC))
    shown = summary_columns(rows)
    if len(locks) <= LOCKS_READ_AT_ONCE or len(shown) < 2:
        return
    rates = [heading for heading, case in shown if not case.lower_is_better]
    better = f"; higher is better for {', '.join(rates)}" if rates else ""
    console.print(f"times glibc's{better}", style="bold")
    for start in range(0, len(shown), 5):
        part = shown[start : start + 5]
        table = output.table()
        table.add_column("lock", no_wrap=True, min_width=15)
        for heading, _ in part:
            table.add_column(heading, justify="right", no_wrap=True, min_width=10)
        for lock in locks:
            cells = [_cell(rows, lock, case) for _, case in part]
            if any(cells):
                table.add_row(lock, *cells)
        console.print(table)
        console.print()


def summary_columns(rows: Sequence[Row]) -> list[tuple[str, Case]]:
    """Return the heading and case of every column that has rows."""
    columns = []
    for heading, name, threads in SUMMARY_COLUMNS:
        cases = dict.fromkeys(
            row.case
            for row in rows
            if row.case.name == name
            and threads in (None, row.case.threads)
            and row.case.is_brief
        )
        for case in cases:
            several = f"{heading} {case.threads}" if len(cases) > 1 else heading
            columns.append((several, case))
    return columns


def print_verdicts(console: Console, verdicts: Sequence[Verdict]) -> None:
    """Print how many targets are met, and describe the missed ones."""
    missed = [verdict for verdict in verdicts if not verdict.met]
    console.print(f"targets: {len(verdicts) - len(missed)} of {len(verdicts)} met")
    for verdict in missed:
        row = verdict.row
        load = f" ({row.case.load})" if row.case.threads != 1 else ""
        console.print(f"missed: {row.lock}, {row.case.name}{load}", style="bold")
        doubt = "" if verdict.clear else ", which the interval includes"
        for line in textwrap.wrap(f"{verdict.words}{doubt}", output.COLUMNS - 4):
            console.print(f"  {line}")


def _cell(rows: Sequence[Row], lock: str, case: Case) -> str:
    for row in rows:
        if (row.lock, row.case) == (lock, case):
            if row.ratio is None or row.outcome in (HANG, FAILED):
                return row.outcome
            return _factor(row.ratio.value)
    return "-" if lock == FLOOR else ""


def _value(row: Row) -> str:
    if row.value is None:
        return "-"
    unit = row.case.unit
    value = row.value
    if unit.endswith("/s"):
        for size, prefix in ((1e6, "M"), (1e3, "k"), (1.0, "")):
            if value >= size:
                return f"{three_digits(value / size)} {prefix}/s"
        return "0 /s"
    return f"{three_digits(value)} {unit}"


def _factor(value: float) -> str:
    return f"{value:.3f}" if value < 0.1 else three_digits(value)


def _interval(ratio: Ratio | None) -> str:
    if ratio is None or ratio.low is None or ratio.high is None:
        return ""
    if ratio.high > 1e6:
        return f"from {_factor(ratio.low)}"
    return f"{_factor(ratio.low)} - {_factor(ratio.high)}"


def _milliseconds(value: float | None) -> str:
    return "" if value is None else f"{three_digits(value)} ms"


def _ratio(row: Row) -> str:
    return "" if row.lock == GLIBC or not row.ratio else _factor(row.ratio.value)


def _baton_ratio(row: Row) -> str:
    ratio = row.baton_ratio
    if ratio is None or ratio.value > BATON_WORTH_SAYING:
        return ""
    return _factor(ratio.value)


def _startup_extra(row: Row) -> str:
    if row.case.name != STARTUP or row.lock == GLIBC or not row.extra:
        return ""
    return f"{row.extra.value:+.2f} ms"


class Column(NamedTuple):
    """A column of the tables; omitted if all its cells are empty."""

    heading: str
    cell: Callable[[Row], str]


COLUMNS = (
    Column("lock", lambda row: row.lock),
    Column("value", _value),
    Column("x glibc", _ratio),
    Column("95 %", lambda row: "" if row.lock == GLIBC else _interval(row.ratio)),
    Column("x baton", _baton_ratio),
    Column("more", _startup_extra),
    Column("fair", lambda row: "" if row.fairness is None else f"{row.fairness:.2f}"),
    Column("starved", lambda row: _milliseconds(row.starvation_ms)),
)
