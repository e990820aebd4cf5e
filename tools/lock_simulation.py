# SPDX-License-Identifier: MIT
"""The section of a lock's page with figures of simulated machines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from executor_figures import executed
from lock_data import Data, Record
from page_kinds import EXECUTOR, kind_of, label
from page_markdown import paragraph, table

REFERENCE = "glibc"


def simulated(lock: dict[str, Any], data: Data) -> Iterator[str]:
    """Yield the section, for the kinds and locks that were simulated."""
    kind = kind_of(lock)
    records = data.simulated.get(label(lock, lock["name"]), [])
    glibc = data.simulated.get(label(lock, REFERENCE), [])
    if not records or kind.kind not in ("rwlock", "barrier", "executor"):
        return
    yield "## Simulated\n"
    if kind is EXECUTOR:
        yield from executed(records)
        return
    if kind.kind == "rwlock":
        yield from _rwlock(records, glibc)
    else:
        yield from _barrier(records, glibc)


def _rwlock(records: list[Record], glibc: list[Record]) -> Iterator[str]:
    """Throughputs on all cores, as in docs/rwlock-scaling.md."""
    base = {_load(record): record["mops"] for record in glibc}
    rows = [
        (
            record["machine"],
            str(record["threads"]),
            f"{record['reads']} %",
            f"{record['mops']:.3g} Mops",
            _times(record["mops"], base.get(_load(record))),
        )
        for record in records
        if not record["knobs"]
    ]
    yield from table(("machine", "threads", "reads", "throughput", "x glibc's"), rows)
    yield ""
    yield paragraph(
        "Deterministic: `tools/measure_rwlocks.py`; see [the load and the other "
        "locks](../rwlock-scaling.md)."
    )


def _barrier(records: list[Record], glibc: list[Record]) -> Iterator[str]:
    base = {(record["machine"], record["threads"]): record for record in glibc}
    rows = [
        (
            record["machine"],
            str(record["threads"]),
            f"{record['phase_ns'] / 1000:.3g} us",
            _times(
                record["phase_ns"],
                base[record["machine"], record["threads"]]["phase_ns"],
            ),
        )
        for record in records
    ]
    yield from table(("machine", "threads", "phase", "x glibc's"), rows)
    yield ""
    yield paragraph(
        "The threads do nothing else; deterministic: `tools/measure_barriers.py`."
    )


def _load(record: Record) -> tuple[object, ...]:
    return record["machine"], record["threads"], record["reads"], *record["knobs"]


def _times(value: float, base: float | None) -> str:
    return f"{value / base:.3g}" if base else "-"
