# SPDX-License-Identifier: MIT
"""What a command left behind when it ended: its output, and the figures in it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from hasp.base.errors import HaspError
from hasp.compare import run_record as record
from hasp.compare.run_record import Run
from hasp.compare.settings import Metric, last_number
from hasp.launch.children import Usage

LONGEST_OUTPUT = 64 << 20  # bytes of output that are searched for figures
LONGEST_QUOTE = 160  # characters of the program's last words in a detail


@dataclasses.dataclass(frozen=True)
class Finished:
    """What one command left behind."""

    usage: Usage
    in_time: bool
    stdout: Path
    stderr: Path
    energy_j: float | None = None  # of the whole machine, while it ran

    def text(self) -> str:
        """Its output and then its error output, as text; the end if it is very long."""
        return "\n".join(tail(path) for path in (self.stdout, self.stderr))

    def last_words(self) -> str:
        """The last line it wrote, on stderr if it wrote there."""
        for path in (self.stderr, self.stdout):
            lines = [line.strip() for line in tail(path).splitlines() if line.strip()]
            if lines:
                return lines[-1][:LONGEST_QUOTE]
        return ""


def tail(path: Path) -> str:
    """The end of a file, all of it unless it is very long."""
    with path.open("rb") as file:
        size = path.stat().st_size
        file.seek(max(0, size - LONGEST_OUTPUT))
        return file.read().decode(errors="replace")


def with_figures(run: Run, finished: Finished, metrics: Sequence[Metric]) -> Run:
    """The run with the program's own figures, or failed for the lack of one."""
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
            detail = f"nothing that matches {metric.pattern!r} in its output"
            detail += f", which ends with: {last}" if last else ", which is empty"
            return dataclasses.replace(run, outcome=record.NO_FIGURE, detail=detail)
        figures[metric.name] = value
        if metric.split:
            _refuse_ambiguous(metric.name, metric.pattern, value, text)
    return dataclasses.replace(run, figures=figures)


def _refuse_ambiguous(name: str, pattern: str, value: float, text: str) -> None:
    """`time=([0-9]+)` may be a name and a pattern, or a pattern with a `=`."""
    whole = last_number(f"{name}={pattern}", text)
    if whole is not None and whole != value:
        raise HaspError(
            f"--metric '{name}={pattern}' can be read in two ways: as the metric "
            f"{name!r} it is {value:g}, as a pattern with a = in it {whole:g}",
            f"give a pattern that has a = in it a name: '{name}={name}={pattern}'",
        )
