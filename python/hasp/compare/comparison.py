# SPDX-License-Identifier: MIT
"""A comparison of locks on a program: starting it and running it to its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timezone

from hasp import version
from hasp.base import host
from hasp.base.errors import Interrupted
from hasp.base.output import note
from hasp.compare.progress import ComparisonDisplay
from hasp.compare.run import ComparisonRunner
from hasp.compare.settings import Cell, Settings
from hasp.compare.store import Comparison, Writer, lock_facts
from hasp.locks.given import given_lock, of_plan
from hasp.locks.site_plan.model import SitePlan


def new_comparison(
    settings: Settings, plans: Mapping[str, SitePlan] | None = None
) -> Comparison:
    """Return a comparison without runs; `plans` are those of its locks, by name."""
    known = {name: of_plan(plan) for name, plan in (plans or {}).items()}
    return Comparison(
        settings=settings,
        host=host.facts().as_json(),
        locks=[
            lock_facts(known.get(name) or given_lock(name)) for name in settings.locks
        ],
        version=version(),
        started=datetime.now(timezone.utc).isoformat(timespec="seconds"),
    )


def carry_out(
    runner: ComparisonRunner,
    comparison: Comparison,
    writer: Writer | None,
    before: Callable[[int], None] | None = None,
) -> None:
    """Make every run, add it to the comparison and the file, and show the progress.

    `before` is called with the number of the round before each run; what it raises ends
    the comparison. If Ctrl-C does before anything was measured, says so.
    """
    try:
        _carry_out(runner, comparison, writer, before)
    except Interrupted:
        if not any(run.measured for run in comparison.runs):
            note("interrupted before anything was measured")
        raise


def _carry_out(
    runner: ComparisonRunner,
    comparison: Comparison,
    writer: Writer | None,
    before: Callable[[int], None] | None,
) -> None:
    with runner, ComparisonDisplay(comparison.settings) as progress:
        comparison.peak_floor_bytes = runner.floor_bytes
        if writer:
            writer.header(comparison)

        def starting(number: int, cell: Cell) -> None:
            if before:
                before(number)
            progress.starting(number, cell)

        for run in runner.runs(starting):
            comparison.runs.append(run)
            progress.finished(run, runner.given_up(run.cell))
            if writer:
                writer.run(run)
