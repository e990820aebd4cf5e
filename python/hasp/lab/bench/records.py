# SPDX-License-Identifier: MIT
"""Reads the rows that `hasp bench locks --json` wrote."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hasp.lab.bench import json_rows
from hasp.lab.bench.cases import Case
from hasp.lab.bench.rows import SCHEMA, Row
from hasp.locks.kinds import MUTEX
from hasp.statistics import Ratio


@dataclass(frozen=True)
class Results:
    """The rows of a file and the conditions they were measured under."""

    rows: list[Row]
    others_cpu_share: float | None
    biased: bool
    command: str
    host: dict[str, Any]


def load(path: Path) -> Results:
    """Return the results in a file; raise HaspError if it has other contents."""
    found = json_rows.read(path, "locks", row_of)
    first = found[0][1]
    return Results(
        rows=[row for row, _ in found],
        others_cpu_share=first.get("others_cpu_share"),
        biased=first.get("biased", True),
        command=first.get("command", ""),
        host=first.get("host", {}),
    )


def row_of(record: dict[str, Any]) -> Row:
    """Return the row that a JSON object was written from."""
    if record["schema"] != SCHEMA:
        raise ValueError(f"schema {record['schema']}")
    case = Case(
        name=record["case"],
        threads=record["threads"],
        unit=record["unit"],
        lower_is_better=record["better"] == "lower",
        seconds=0.0,
        has_floor=False,
        uses_lock=True,
        summary=record.get("summary", ""),
        think_ns=record.get("think_ns"),
        pinned=record.get("pinned", False),
        kind=record.get("kind", MUTEX.name),
    )
    return Row(
        case=case,
        lock=record["lock"],
        value=record["value"],
        ratio=_ratio(record, "ratio", "ratio_to_glibc"),
        extra=_ratio(record, "extra", "extra_to_glibc"),
        fairness=record.get("fairness"),
        fairness_ratio=_ratio(record, "fairness_ratio"),
        starvation_ms=record.get("starvation_ms"),
        starvation_ratio=_ratio(record, "starvation_ratio"),
        baton_ratio=_ratio(record, "ratio_to_baton"),
        runs=record["runs"],
        outcome=record["outcome"],
        reason=record["reason"],
        samples=tuple(record["samples"]),
    )


def _ratio(record: dict[str, Any], name: str, value_name: str = "") -> Ratio | None:
    value = record.get(value_name or name)
    if value is None:
        return None
    low, high = record.get(f"{name}_low"), record.get(f"{name}_high")
    return Ratio(value, low, high, record["runs"])
