# SPDX-License-Identifier: MIT
"""Progress on stderr with the time left: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

from hasp.base.durations import format_duration
from hasp.base.output import console, is_terminal, note

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from typing_extensions import Self

LINE_INTERVAL = 10.0  # seconds between lines when stderr is not a terminal


class Display:
    """Shows the current step, the share completed, and occasional lines of text."""

    def __init__(self, line_interval: float = LINE_INTERVAL) -> None:
        """`line_interval` is in seconds; it matters if stderr is not a terminal."""
        self._line_interval = line_interval
        self._last_line = time.monotonic()
        self._bar: Bar | None = None

    def __enter__(self) -> Self:
        if is_terminal(sys.stderr):
            # Imported here because rich takes longer to load than many commands run.
            from rich.progress import BarColumn, TextColumn
            from rich.progress import Progress as Bar

            # Drawn only between runs: a redrawing thread would disturb the measurement.
            self._bar = Bar(
                BarColumn(bar_width=20),
                TextColumn("{task.fields[facts]}"),
                TextColumn("{task.description}", markup=False),
                console=console(sys.stderr),
                auto_refresh=False,
                transient=True,
            )
            self._bar.start()
            self._bar.add_task("starting", total=None, facts="")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    @property
    def is_due(self) -> bool:
        """Return true if progress shown now would be visible."""
        return self._bar is not None or (
            time.monotonic() - self._last_line >= self._line_interval
        )

    def show(
        self, words: str, done: int, total: int, seconds_left: float | None
    ) -> None:
        """Show the step that begins, and how many of all steps are done."""
        facts = [f"{done} of {total} done", *_time_left(seconds_left)]
        self._draw(words, done, total, facts)

    def show_time(self, words: str, elapsed: float, seconds_left: float) -> None:
        """Show the step that begins; the bar shows the share of the time."""
        facts = _time_left(seconds_left)
        self._draw(words, elapsed, elapsed + max(0.0, seconds_left), facts)

    def show_words(self, words: str) -> None:
        """Show the current activity if its duration is unknown."""
        self._draw(words, 0, None, [])

    def _draw(
        self, words: str, done: float, total: float | None, facts: list[str]
    ) -> None:
        if not self.is_due:
            return
        self._last_line = time.monotonic()
        if self._bar is None:
            note(f"{words} ({', '.join(facts)})" if facts else words)
            return
        self._bar.update(
            self._bar.task_ids[0],
            description=words,
            completed=done,
            total=total,
            facts=", ".join(facts),
        )
        self._bar.refresh()

    def say(self, words: str) -> None:
        """Print a permanent line."""
        if self._bar is not None:
            self._bar.console.print(f"hasp: {words}")
        else:
            note(words)


def _time_left(seconds: float | None) -> list[str]:
    if seconds is None:
        return []
    whole = max(1, round(seconds))
    return [f"about {format_duration(whole) if whole > 119 else f'{whole} s'} left"]
