# SPDX-License-Identifier: MIT
"""The sections of an executor's page with measured and simulated throughputs."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import Any

from lock_data import DELEGATION, Data, Record
from page_markdown import markdown, paragraph, sentence, table

REFERENCE = "glibc"
CASES = (
    *("uncontended", "back to back", "low contention"),
    *("high, 1 line", "high, 5 lines"),
    "4 threads a CPU",
)
CONTENDED = 4000  # cycles between a thread's sections


def index(executors: list[dict[str, Any]], data: Data) -> Iterator[str]:
    """Yield the table of all executors."""
    headings = ("name", "what it is", "family", "waiting", "bytes")
    rows = [
        (
            f"[`{one['name']}`](executors/{one['name']}.md)"
            + (" (default)" if one["default"] else ""),
            markdown(_words(one)),
            one["category"],
            one["waiting"],
            f"{one['bytes']} + {one['waiter_bytes']}",
            _simulated(one, data),
            _ratios(one, data),
        )
        for one in executors
    ]
    yield from table((*headings, "simulated", "measured"), rows)


def _words(executor: dict[str, Any]) -> str:
    name, _, rest = executor["summary"].partition(" ")
    own = name.startswith("cc-")  # the name of an executor is not capitalised
    text = f"{name} {rest}." if own else sentence(executor["summary"])
    caution = executor["caution"]
    return f"{text} Caution: {sentence(caution)}" if caution else text


def _simulated(executor: dict[str, Any], data: Data) -> str:
    records = data.simulated.get(f"executor:{executor['name']}", [])
    ratios = [
        f"{record['mops'] / record['best_lock_mops']:.2f}"
        for record in records
        if record["think_cycles"] == CONTENDED
    ]
    return ", ".join(ratios) or "-"


def _ratios(executor: dict[str, Any], data: Data) -> str:
    own = _medians(data.delegation.get(executor["name"], []))
    glibc = _medians(data.delegation.get(REFERENCE, []))
    ratios = [
        f"{own[case] / glibc[case]:.2f}"
        for case in own
        if case[0].startswith("high") and case in glibc
    ]
    return ", ".join(ratios) or "-"


def measured(executor: dict[str, Any], data: Data) -> Iterator[str]:
    """Yield the throughputs of `hasp bench delegation`."""
    records = data.delegation.get(executor["name"], [])
    if not records:
        yield paragraph(f"Not measured yet: `{DELEGATION}` has no data on it.")
        return
    own, glibc = _medians(records), _medians(data.delegation.get(REFERENCE, []))
    rows = [
        (
            case,
            str(threads),
            f"{value / 1e6:.2f} M/s",
            f"{value / glibc[case, threads]:.2f}" if (case, threads) in glibc else "-",
        )
        for (case, threads), value in own.items()
    ]
    yield from table(("case", "threads", "sections", "x glibc's mutex"), rows)
    yield ""
    yield paragraph(
        "Medians of `hasp bench delegation --runs 21`; see [the cases, the machine and "
        "the other executors](../hasp-bench-delegation.md#results)."
    )


def _medians(records: list[Record]) -> dict[tuple[str, int], float]:
    samples: dict[tuple[str, int], list[float]] = {}
    for record in sorted(records, key=lambda one: CASES.index(one["case"])):
        case = record["case"], record["threads"]
        samples.setdefault(case, []).append(record["sections_per_second"])
    return {case: median(values) for case, values in samples.items()}


def executed(records: list[Record]) -> Iterator[str]:
    """Yield the table of throughputs on simulated machines."""
    rows = [
        (
            record["machine"],
            str(record["threads"]),
            f"{record['think_cycles']:,}",
            str(record["lines"]),
            f"{record['mops']:.3g} M/s",
            f"{record['mops'] / record['best_lock_mops']:.2f}",
            f"{record['sections_per_hold']:.1f}" if record["sections_per_hold"] else "",
        )
        for record in records
    ]
    headings = ("machine", "threads", "pause in cycles", "lines", "sections")
    yield from table((*headings, "x the best lock's", "in a hold"), rows)
    yield ""
    yield paragraph(
        "Deterministic: `tools/measure_executors.py`; see [the other "
        "executors](../delegation.md#on-48-cores)."
    )
