# SPDX-License-Identifier: MIT
"""Prints the explored states of each lock and the findings."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from hasp.base import output

Record = dict[str, Any]

# Up to this many locks, each client has its own row.
LOCKS_IN_DETAIL = 3


def explored(record: Record) -> str:
    """Return the extent of the search as text."""
    if record["verdict"] != "ok":
        return "-"
    if record["complete"]:
        return "all"
    if record["preemptions"] is None:
        return "in part"
    number = record["preemptions"]
    return f"{number} preemption{'s' * (number != 1)}"


def print_clients(records: list[Record]) -> None:
    """Print the clients with a description of each."""
    table = output.table()
    for heading in ("KIND", "CLIENT", "THREADS", "WHAT IT DOES"):
        table.add_column(heading)
    for record in records:
        table.add_row(
            record["kind"],
            record["client"],
            str(record["threads"]),
            record["summary"],
        )
    output.console().print(table)


def print_results(records: list[Record]) -> None:
    """Print the table, then every counterexample."""
    by_lock = [list(rows) for _, rows in groupby(records, key=_subject)]
    if len(by_lock) <= LOCKS_IN_DETAIL:
        _print_each(records)
    else:
        _print_by_lock(by_lock)
    for record in records:
        if record["verdict"] != "ok":
            print_finding(record)


def _subject(record: Record) -> tuple[str, str]:
    return record["kind"], record["lock"]


def _print_each(records: list[Record]) -> None:
    table = output.table()
    for heading in ("LOCK", "CLIENT"):
        table.add_column(heading)
    for heading in ("EXPLORED", "STATES", "SECONDS"):
        table.add_column(heading, justify="right")
    table.add_column("VERDICT")
    for record in records:
        table.add_row(
            record["lock"],
            record["client"],
            explored(record),
            f"{record['states']:,}",
            f"{record['seconds']:.1f}",
            record["verdict"],
        )
    output.console().print(table)


def _print_by_lock(by_lock: list[list[Record]]) -> None:
    table = output.table(
        caption="COMPLETE: clients with all schedules explored; "
        "AT LEAST: bound reached for the others"
    )
    table.add_column("LOCK")
    for heading in ("CLIENTS", "COMPLETE", "AT LEAST", "STATES", "SECONDS"):
        table.add_column(heading, justify="right")
    table.add_column("VERDICT")
    for rows in by_lock:
        partial = [
            row for row in rows if not row["complete"] and row["verdict"] == "ok"
        ]
        least = min(partial, key=_bound_of, default=None)
        wrong = [row["verdict"] for row in rows if row["verdict"] != "ok"]
        table.add_row(
            rows[0]["lock"],
            str(len(rows)),
            str(sum(row["complete"] for row in rows)),
            explored(least) if least else "",
            f"{sum(row['states'] for row in rows):,}",
            f"{sum(row['seconds'] for row in rows):.1f}",
            ", ".join(dict.fromkeys(wrong)) or "ok",
        )
    output.console().print(table)


def _bound_of(record: Record) -> int:
    return -1 if record["preemptions"] is None else int(record["preemptions"])


def print_finding(record: Record) -> None:
    """Print the counterexample of a record."""
    print(f"\n{record['lock']}, client {record['client']}:")
    for step in record["counterexample"]:
        cells = (
            f"{step['thread']}",
            f"{step['function']:20}",
            f"{step['operation']:25}",
            f"{step['cell']:18}",
            step["outcome"],
        )
        print("  " + " ".join(cells).rstrip())
    print(f"{record['verdict']}: {record['detail']}")
