# SPDX-License-Identifier: MIT
"""Carries out `hasp study diff`: two stores' differences, as text or JSON lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hasp.base import output
from hasp.base.errors import EXIT_FINDING, EXIT_FINE
from hasp.study.differences import BETTER, CANNOT_TELL, SAME, WORSE, StoreDifferences
from hasp.study.records import write_records
from hasp.study.report.table import show
from hasp.study.sides import comparisons
from hasp.study.tables import Table

COLUMNS = ["program", "lock", "size", "before", "after", "gain", "p", "verdict"]


@dataclass(frozen=True)
class Options:
    """The options of `hasp study diff`."""

    before: Path
    after: Path
    machine: str | None = None  # machines, separated by commas; None: all
    metric: str | None = None  # None: all
    top: int = 20  # rows
    fail_if_worse: bool = False
    json: str | None = None


def show_differences(options: Options) -> int:
    """Show the differences; return 1 if one counts as a failure, else 0."""
    found = comparisons(options.before, options.after, options.machine, options.metric)
    if options.json:
        write_records(
            (record for one in found for record in records(one)), options.json
        )
    if options.json != output.STDOUT:
        for one in found:
            for sentence in sentences(one):
                output.console().print(sentence)
            changed = table(one, options.top)
            if changed.rows:
                show(changed, None)
    worse = any(one.of(WORSE) for one in found)
    return EXIT_FINDING if worse and options.fail_if_worse else EXIT_FINE


def sentences(one: StoreDifferences) -> Iterator[str]:
    """Yield the results of the comparison, most important first."""
    count = len(one.differences)
    if not count:
        yield (
            f"{one.machine}, {one.metric}: no configuration is in both stores "
            f"({one.only_before} only before, {one.only_after} only after)."
        )
        return
    numbers = {
        verdict: len(one.of(verdict)) for verdict in (BETTER, WORSE, SAME, CANNOT_TELL)
    }
    yield (
        f"{one.machine}, {one.metric}: of {count} configurations {numbers[BETTER]} are "
        f"better, {numbers[WORSE]} worse and {numbers[SAME]} within 5 %; the runs "
        f"cannot tell {numbers[CANNOT_TELL]}."
    )
    if one.only_before or one.only_after:
        yield (
            f"{one.only_before} configurations are only in the first store and "
            f"{one.only_after} only in the second; they are ignored."
        )
    for program, size, old, new in one.changed_best:
        yield f"{program} at {size}: the best lock was {old} and is now {new}."


def table(one: StoreDifferences, most: int | None) -> Table:
    """At most `most` rows with the largest changes, certain or not."""
    rows: list[list[str | int | float | None]] = [
        [
            *(each.program, each.lock, each.size),
            *(f"{each.before:.4g}", f"{each.after:.4g}"),
            *(f"{each.gain:.3f}x", f"{each.p:.2g}", each.verdict),
        ]
        for each in one.differences
        if each.verdict != SAME
    ]
    return Table(COLUMNS, rows[:most])


def records(one: StoreDifferences) -> Iterator[dict[str, Any]]:
    """Yield one record for each configuration."""
    for each in one.differences:
        yield {"machine": one.machine, "metric": one.metric, **asdict(each)}
