# SPDX-License-Identifier: MIT
"""A measurement as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hasp.base.errors import Interrupted
from hasp.base.output import console
from hasp.compare.doubts import doubts
from hasp.compare.report import quantity
from hasp.compare.settings import Cell
from hasp.compare.summary import SAME, CellSummary
from hasp.elide.configurations import FINE, Configuration
from hasp.elide.document import SCHEMA
from hasp.elide.measurement import Measurement
from hasp.elide.statistics import Counts
from hasp.locks.native import REFERENCE
from hasp.predict.report import number
from hasp.profile.model.elision import CAUSES
from hasp.profile.report.elision import causes
from hasp.profile.report.layout import print_table
from hasp.profile.report.text import say
from hasp.profile.report.words import count, listed, plural, share
from hasp.statistics import Ratio

if TYPE_CHECKING:
    from rich.console import Console

LOCKS_MOST = 12  # in the table; JSON has all
CAUSES_SHOWN = 3


def verdict(measurement: Measurement) -> str:
    """Return one sentence of at most 160 characters."""
    threads = measurement.comparison.settings.threads[-1]
    ratios = measurement.to_fine(threads)
    elided = {
        one.name: ratios[one.name]
        for one in measurement.configurations
        if one.elided and one.name in ratios
    }
    if not elided:
        return "Nothing was measured under elided locks."
    name = max(elided, key=lambda one: elided[one].value)
    ratio, where = elided[name], f" with {threads} threads" if threads else ""
    counts = measurement.counts.get(name, Counts())
    part = share(counts.share_elided, " ")
    if measurement.transactions.emulated:
        return (
            f"Emulated, so times mean nothing: {name} elided {part} of the sections"
            f"{_main_cause(counts)}{where}."
        )
    said = f"{name} is {number(ratio.value)} times as fast as fine{_interval(ratio)}"
    return f"{_judged(ratio)}: {said}{where}; it elided {part} of the sections."


def _main_cause(counts: Counts) -> str:
    cause = max(counts.aborts, key=counts.aborts.__getitem__, default="")
    return f", aborts mostly by {cause}" if counts.aborts[cause] else ""


def _judged(ratio: Ratio) -> str:
    if ratio.low is None or ratio.high is None:
        return "Too few runs to tell"
    if ratio.low > 1 + SAME:
        return "Elision gains"
    if ratio.high < 1 - SAME:
        return "Elision loses"
    if ratio.low > 1 - SAME and ratio.high < 1 + SAME:
        return "Elision changes nothing"
    return "Cannot tell"


def _interval(ratio: Ratio) -> str:
    if ratio.low is None or ratio.high is None:
        return ""
    return f" ({number(ratio.low)} to {number(ratio.high)})"


def show(measurement: Measurement) -> None:
    """Print the verdict, a table for each number of threads, and doubts."""
    out = console()
    say(out, verdict(measurement), style="bold")
    for threads in measurement.comparison.settings.threads:
        _table(out, measurement, threads)
    _locks(out, measurement)
    print()
    for sentence in remarks(measurement):
        say(out, sentence)
    for sentence in measurement.failures():
        say(out, sentence, "failed: ")
    if not measurement.transactions.emulated:
        for doubt in doubts(measurement.comparison, measurement.summaries()):
            say(out, doubt.words, "doubt: ")


def _table(out: Console, measurement: Measurement, threads: int | None) -> None:
    measure, ratios = measurement.measure, measurement.to_fine(threads)
    rows = {row.cell: row for row in measurement.summaries()}
    print()
    label = "emulated" if measurement.transactions.emulated else "measured"
    where = f", {threads} threads" if threads else ""
    say(
        out,
        f"{label.capitalize()}: {measure.name}{where}, the speed as a multiple of "
        "fine's, and, over all runs, the share of the sections that were elided, of "
        "the transactions that committed, and why the others aborted:",
    )
    body = [
        [name, *_cells(measurement, name, rows.get(Cell(name, threads)), ratios)]
        for name in (REFERENCE, *(one.name for one in measurement.configurations))
    ]
    headings = ["", measure.name, "to fine", "elided", "commit", "aborts"]
    print_table(out, headings, body)


def _locks(out: Console, measurement: Measurement) -> None:
    if not measurement.locks:
        return
    print()
    label = "emulated" if measurement.transactions.emulated else "measured"
    say(
        out,
        f"Each lock in a recorded run of elide ({label}); transactions are those that "
        "began with it:",
    )
    rows = [
        [
            one.name,
            count(one.sections),
            share(one.elision.elided / max(one.sections, 1)),
            count(one.elision.begins),
            share(one.elision.commit_share),
            causes(one.elision, CAUSES_SHOWN),
        ]
        for one in measurement.locks[:LOCKS_MOST]
    ]
    headings = ["lock", "sections", "elided", "begun", "commit", "aborts"]
    print_table(out, headings, rows)
    left = len(measurement.locks) - LOCKS_MOST
    if left > 0:
        say(out, f"{plural(left, 'further lock')} with fewer sections: see --json.")


def _cells(
    measurement: Measurement,
    name: str,
    row: CellSummary | None,
    ratios: dict[str, Ratio],
) -> list[str]:
    entry = row.entry(measurement.measure) if row else None
    median = entry.median if entry else None
    counts = measurement.counts.get(name)
    ratio = ratios.get(name)
    speed = "1" if name == FINE.name else "-"
    if measurement.transactions.emulated:
        speed = "-"
    elif ratio:
        speed = f"{number(ratio.value)}{_interval(ratio)}"
    return [
        quantity(median, measurement.measure.unit),
        speed,
        share(counts.share_elided) if counts else "",
        share(counts.committed) if counts else "",
        counts.causes() if counts else "",
    ]


def remarks(measurement: Measurement) -> Iterator[str]:
    """Yield sentences about what the figures mean, and about missing runs."""
    if measurement.transactions.emulated:
        yield (
            f"The transactions are {measurement.transactions.words}: sections run one "
            "after the other, so nothing can be gained, and only commits and aborts "
            "show how Hasp reacts."
        )
    ended = [name for name, counts in measurement.counts.items() if counts.ended]
    if ended:
        yield (
            f"Under {listed(ended)}, the watchdog ended the use of one lock for all: "
            "sections wait for each other, so these figures are not those of one lock."
        )
    if measurement.comparison.interrupted:
        yield "Interrupted: these are the runs so far."


def document(measurement: Measurement) -> dict[str, Any]:
    """Return the last record of the file, of the schema hasp.elide/1."""
    comparison = measurement.comparison
    return {
        "schema": SCHEMA,
        "kind": measurement.transactions.measures,
        "verdict": verdict(measurement),
        "transactions": measurement.transactions.words,
        "measure": measurement.measure.name,
        "interrupted": comparison.interrupted
        or isinstance(measurement.ending, Interrupted),
        "configurations": [
            _configuration(measurement, one, threads, ratios)
            for threads in comparison.settings.threads
            for ratios in [measurement.to_fine(threads)]
            for one in measurement.configurations
        ],
        "locks": [
            {
                "site": one.name,
                "sections": one.sections,
                "elided": one.elision.elided,
                "begins": one.elision.begins,
                "commits": one.elision.commits,
                "aborts": dict(zip(CAUSES, one.elision.aborts, strict=True)),
                "nested_aborts": one.elision.nested_aborts,
                "abort_ns": one.elision.abort_ns,
                "commit_ns": one.elision.commit_ns,
            }
            for one in measurement.locks
        ],
        "watchdog": [name for name, one in measurement.counts.items() if one.ended],
        "failures": list(measurement.failures()),
    }


def _configuration(
    measurement: Measurement,
    one: Configuration,
    threads: int | None,
    ratios: dict[str, Ratio],
) -> dict[str, Any]:
    ratio = ratios.get(one.name)
    counts = measurement.counts.get(one.name)
    return {
        "configuration": one.name,
        "thesis": one.thesis,
        "threads": threads,
        "to_fine": ratio
        and {"value": ratio.value, "low": ratio.low, "high": ratio.high},
        "transactions": counts.as_json() if counts else None,
    }
