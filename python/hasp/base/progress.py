# SPDX-License-Identifier: MIT
"""Progress on stderr with the time left: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

from hasp.base.durations import format_duration
from hasp.base.output import console, note

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

BAR = 20  # characters
LINE_INTERVAL = 10.0  # seconds between lines when stderr is not a terminal


class Display:
    """Shows the current step, the share completed, and occasional lines of text."""

    def __init__(self) -> None:
        self._last_line = time.monotonic()
        self._bar: Bar | None = None

    def __enter__(self) -> Display:
        if sys.stderr.isatty():
            from rich.progress import BarColumn, TextColumn
            from rich.progress import Progress as Bar

            # Drawn only between runs: a redrawing thread would disturb the measurement.
            self._bar = Bar(
                TextColumn("{task.description}"),
                BarColumn(bar_width=20),
                TextColumn("{task.completed}/{task.total}"),
                TextColumn("{task.fields[left]}"),
                console=console(sys.stderr),
                auto_refresh=False,
                transient=True,
            )
            self._bar.start()
            self._bar.add_task("starting", total=None, left="")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    @property
    def is_due(self) -> bool:
        """Return true if progress shown now would be visible."""
        return self._bar is not None or (
            time.monotonic() - self._last_line >= LINE_INTERVAL
        )

    def show(self, words: str, done: int, total: int, seconds: float | None) -> None:
        """Show the step that begins; `seconds` remain in total, None if unknown."""
        if not self.is_due:
            return
        left = ""
        if seconds is not None:
            left = f"about {format_duration(max(1.0, seconds))} left"
        if self._bar is not None:
            self._bar.update(
                self._bar.task_ids[0],
                description=words,
                completed=done,
                total=total,
                left=left,
            )
            self._bar.refresh()
        else:
            self._last_line = time.monotonic()
            note(f"{words} ({done} of {total} done{left and f', {left}'})")

    def say(self, words: str) -> None:
        """Print a permanent line."""
        if self._bar is not None:
            self._bar.console.print(f"hasp: {words}")
        else:
            note(words)


def bar_of(elapsed: float, left: float) -> str:
    """Return the elapsed share of the time as a bar."""
    share = elapsed / (elapsed + left) if elapsed + left > 0 else 1.0
    full = round(BAR * min(1.0, share))
    return f"[{'#' * full}{'.' * (BAR - full)}]"
