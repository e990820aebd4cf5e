# SPDX-License-Identifier: MIT
"""Progress of a benchmark, as one line on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable

from hasp.base import output
from hasp.base.durations import format_duration
from hasp.base.progress import bar_of
from hasp.lab.bench.schedule import Step


class Progress:
    """Prints the remaining time on stderr: a bar on a terminal, else text per round."""

    def __init__(self) -> None:
        self.live = sys.stderr.isatty()
        self.shown_round = 0
        self.width = 0
        self.began = time.monotonic()
        self.shown_at = 0.0

    def show(self, steps: Iterable[Step]) -> None:
        """Consume the steps and show the current one."""
        for step in steps:
            words = (
                f"round {step.round_number} of {step.rounds}, "
                f"{format_duration(round(step.seconds_left))} left"
            )
            now = time.monotonic()
            if self.live and now - self.shown_at > 0.1:
                bar = bar_of(now - self.began, step.seconds_left)
                self._rewrite(f"{bar} {words}: {step.case.name} {step.subject}")
            elif not self.live and step.round_number != self.shown_round:
                self.shown_round = step.round_number
                output.note(words)

    def _rewrite(self, text: str) -> None:
        self.shown_at = time.monotonic()
        line = text[: output.COLUMNS - 1]
        print(f"\r{line:<{self.width}}", end="", file=sys.stderr, flush=True)
        self.width = len(line)

    def clear(self) -> None:
        """Erase the line."""
        if self.live and self.width:
            print(f"\r{'':{self.width}}\r", end="", file=sys.stderr, flush=True)
