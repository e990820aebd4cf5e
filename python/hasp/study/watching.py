# SPDX-License-Identifier: MIT
"""Progress of a study while it runs, with its failures and noise."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Collection

from hasp.base.output import note
from hasp.base.progress import Display
from hasp.compare import run_record as record
from hasp.compare.settings import Cell
from hasp.study.campaign import Campaign
from hasp.study.carry_out import Configuration, Tally, to_run
from hasp.study.journal import JournalEntry


class StudyDisplay(Display):
    """Shows the current run and the time that the rest takes."""

    def __init__(
        self, campaign: Campaign, progress: Tally, left_out: Collection[str]
    ) -> None:
        super().__init__()
        self._campaign = campaign
        self._progress = progress
        self._everything = to_run(campaign, left_out)
        self._done = 0
        self._begun = time.monotonic()
        self._times: dict[tuple[str, bool], list[float]] = defaultdict(list)

    def starting(self, one: Configuration) -> None:
        """Show the run that is about to begin."""
        if self.is_due:
            runs, seconds = self._left()
            words = f"{one.program.name}, {one.cell.words}"
            if one.recorded:
                words += ", recorded"
            self.show(words, self._done, self._done + runs, seconds)
        self._begun = time.monotonic()

    def finished(self, one: Configuration, entry: JournalEntry) -> None:
        """Print a run that has ended, if it failed or was noisy."""
        self._done += 1
        took = time.monotonic() - self._begun
        self._times[one.program.name, one.recorded].append(took)
        words = trouble(self._campaign, entry)
        if words:
            self.say(words)

    def _left(self) -> tuple[int, float]:
        """Return the smallest number of runs left, and the seconds that they take."""
        runs, seconds = 0, 0.0
        for one in self._everything:
            fewest, _ = self._progress.runs_left(one)
            times = self._times.get((one.program.name, one.recorded))
            usual = one.program.seconds + one.program.cooling_s
            runs += fewest
            seconds += fewest * (sum(times) / len(times) if times else usual)
        return runs, seconds


def trouble(campaign: Campaign, entry: JournalEntry) -> str:
    """Describe a run's failure or noise and name its configuration; "" if neither."""
    cell = Cell(entry.lock, entry.threads, campaign.size_unit)
    words = f"{entry.program}, {cell.words}"
    if entry.recorded:
        words += ", recorded"
    if entry.outcome != record.OK:
        where = campaign.where(entry.program)
        return f"{where}: {words}: {entry.outcome}: {entry.detail}"
    return f"{words}: {entry.noise}; run again" if entry.noise else ""


def say_doubts(entries: Collection[JournalEntry]) -> None:
    """Print how many noisy runs count."""
    kinds = Counter(entry.doubt for entry in entries if entry.doubt)
    if kinds:
        listed = ", ".join(
            f"{count} with {kind}" for kind, count in kinds.most_common()
        )
        note(
            f"{sum(kinds.values())} of {len(entries)} runs count although they were "
            f"noisy ({listed}), because the noise persisted; use a quieter host"
        )
