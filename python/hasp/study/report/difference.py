# SPDX-License-Identifier: MIT
"""The differences between two stores, as sentences and as a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from hasp.study.differences import BETTER, CANNOT_TELL, SAME, WORSE, StoreDifferences
from hasp.study.tables import Table

COLUMNS = ["program", "lock", "size", "before", "after", "gain", "p", "verdict"]


def sentences(one: StoreDifferences) -> Iterator[str]:
    """The results of the comparison, most important first."""
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
    """One record for each configuration."""
    for each in one.differences:
        yield {"machine": one.machine, "metric": one.metric, **asdict(each)}
