# SPDX-License-Identifier: MIT
"""The output of a command that has ended, and the figures in it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from hasp.base.errors import HaspError
from hasp.base.output import quoted
from hasp.compare import run_record as record
from hasp.compare.run_record import Run
from hasp.compare.settings import Metric, last_number
from hasp.launch.children import Usage

LONGEST_OUTPUT = 64 << 20  # bytes of output searched for figures
LONGEST_QUOTE = 160  # characters of the program's output quoted in a detail


@dataclasses.dataclass(frozen=True)
class Finished:
    """How a command ended, its resources and its output."""

    usage: Usage
    in_time: bool
    stdout: Path
    stderr: Path
    energy_j: float | None = None  # of the whole host during the run

    def text(self) -> str:
        """Return its stdout, then its stderr, as text; only the end of long output."""
        return "\n".join(tail(path) for path in (self.stdout, self.stderr))

    def last_words(self) -> str:
        """Return the last line of stderr or, if that is empty, of stdout."""
        for path in (self.stderr, self.stdout):
            lines = [line.strip() for line in tail(path).splitlines() if line.strip()]
            if lines:
                return lines[-1][:LONGEST_QUOTE]
        return ""


def tail(path: Path) -> str:
    """Return the text of a file, or only its end if it is long."""
    with path.open("rb") as file:
        size = path.stat().st_size
        file.seek(max(0, size - LONGEST_OUTPUT))
        return file.read().decode(errors="replace")


def with_figures(run: Run, finished: Finished, metrics: Sequence[Metric]) -> Run:
    """The run with the program's figures; failed if a required one is missing."""
    if not metrics:
        return run
    text = finished.text()
    figures = {}
    for metric in metrics:
        value = metric.last_match(text)
        if value is None and not metric.required:
            continue
        if value is None:
            last = finished.last_words()
            detail = f"its output contains no match of {metric.pattern}"
            detail += f", which ends with: {last}" if last else ", which is empty"
            return dataclasses.replace(run, outcome=record.NO_FIGURE, detail=detail)
        figures[metric.name] = value
        if metric.split:
            _refuse_ambiguous(metric.name, metric.pattern, value, text)
    return dataclasses.replace(run, figures=figures)


def _refuse_ambiguous(name: str, pattern: str, value: float, text: str) -> None:
    """Refuse a --metric whose `=` may separate a name or belong to the pattern."""
    whole = last_number(f"{name}={pattern}", text)
    if whole is not None and whole != value:
        raise HaspError(
            f"--metric '{name}={pattern}' can be read in two ways: as the metric "
            f"{quoted(name)} it is {value:g}, as a pattern that contains = it is "
            f"{whole:g}",
            f"name a pattern that contains =: '{name}={name}={pattern}'",
        )
