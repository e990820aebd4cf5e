# SPDX-License-Identifier: MIT
"""A comparison of locks on a program: starting it and running it to its end."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from hasp import version
from hasp.base import host
from hasp.compare.progress import ComparisonDisplay
from hasp.compare.run import ComparisonRunner
from hasp.compare.settings import Settings
from hasp.compare.store import Comparison, Writer, lock_facts, plan_facts
from hasp.locks import native


def _facts(candidate: str) -> dict[str, Any]:
    if not candidate.startswith(native.PLAN):
        return lock_facts(native.lock(candidate))
    from hasp.locks.site_plan import apply

    used = apply.locks_of(apply.load(candidate))
    return plan_facts(candidate, [native.lock(name) for name in used])


def new_comparison(settings: Settings) -> Comparison:
    """A new comparison, without runs yet."""
    return Comparison(
        settings=settings,
        host=host.facts().as_json(),
        locks=[_facts(candidate) for candidate in settings.locks],
        version=version(),
        started=datetime.now(timezone.utc).isoformat(timespec="seconds"),
    )


def carry_out(
    runner: ComparisonRunner, comparison: Comparison, writer: Writer | None
) -> None:
    """Make every run, add it to the comparison and the file, and show the progress."""
    with runner, ComparisonDisplay(comparison.settings) as progress:
        comparison.peak_floor_bytes = runner.floor_bytes
        if writer:
            writer.header(comparison)
        for run in runner.runs(progress.starting):
            comparison.runs.append(run)
            progress.finished(run, runner.given_up(run.cell))
            if writer:
                writer.run(run)
