# SPDX-License-Identifier: MIT
"""Carries out `hasp compare`: runs, or reads earlier ones, and shows the results."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hasp.base.errors import EXIT_FINDING, EXIT_FINE, HaspError, Interrupted
from hasp.base.figures import check_figure
from hasp.base.files import write_file
from hasp.base.output import STDOUT, check_writable
from hasp.base.signals import interrupt_on_signals
from hasp.compare import report
from hasp.compare.comparison import carry_out, new_comparison
from hasp.compare.doubts import doubts
from hasp.compare.run import ComparisonRunner
from hasp.compare.settings import Settings
from hasp.compare.store import Comparison, Writer, load
from hasp.compare.summary import as_json, power, summarise
from hasp.locks.site_plan.model import SitePlan


@dataclass(frozen=True)
class Outputs:
    """The files that results are written to; `-` is stdout."""

    json: str | None = None
    csv: str | None = None
    markdown: str | None = None
    plot: str | None = None

    def check(self) -> None:
        """Raise HaspError if a file cannot be written, before anything runs."""
        for name in (self.json, self.csv, self.markdown):
            if name:
                check_writable(name)
        check_figure(self.plot)


def compare(settings: Settings, plans: Mapping[str, SitePlan], outputs: Outputs) -> int:
    """Run the comparison and show it; return 1 if a lock failed, else 0.

    `plans` are those among the locks of the settings, by name. After an interruption,
    raises it once the results so far are shown.
    """
    runner = ComparisonRunner(settings, plans=plans)
    comparison = new_comparison(settings, plans)
    interrupt_on_signals()
    ending: HaspError | Interrupted | None = None
    writer = Writer(outputs.json) if outputs.json else None
    try:
        carry_out(runner, comparison, writer)
    except (HaspError, Interrupted) as problem:
        ending = problem
        comparison.interrupted = True
        if not any(run.measured for run in comparison.runs):
            raise
    finally:
        if writer:
            if ending or sys.exc_info()[0] is None:
                _finish_json(comparison, writer)
            writer.close()
    status = _show(comparison, outputs)
    if ending is not None:
        raise ending
    return status


def show_again(source: Path, outputs: Outputs) -> int:
    """Show the results in a file from --json; return 1 if a lock failed, else 0."""
    comparison = load(source)
    if not any(run.measured for run in comparison.runs):
        raise HaspError(f"{source} contains no measured run", "repeat the comparison")
    return _show(comparison, outputs)


def _finish_json(comparison: Comparison, writer: Writer) -> None:
    rows = summarise(comparison)
    warnings = [
        {"warning": doubt.kind, "words": doubt.words}
        for doubt in doubts(comparison, rows)
    ]
    writer.records("summary", as_json(rows))
    writer.records("power", (one.as_json() for one in power(comparison, rows)))
    writer.records("warning", warnings)


def _show(comparison: Comparison, outputs: Outputs) -> int:
    rows = summarise(comparison)
    found = doubts(comparison, rows)
    # Write files first, so that they are complete even if stdout is closed early.
    if outputs.csv:
        _write(outputs.csv, report.csv_text(comparison))
    if outputs.markdown:
        _write(outputs.markdown, report.markdown(comparison, rows, found))
    if outputs.plot:
        # Imported here because figures need an extra.
        from hasp.compare.figure import draw

        draw(comparison, rows, Path(outputs.plot))
    if outputs.json != STDOUT:
        report.print_comparison(comparison, rows, found)
    return EXIT_FINDING if any(row.failures for row in rows) else EXIT_FINE


def _write(destination: str, text: str) -> None:
    if destination == STDOUT:
        sys.stdout.write(text)
    else:
        write_file(destination, text)
