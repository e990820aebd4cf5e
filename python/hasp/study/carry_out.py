# SPDX-License-Identifier: MIT
"""Execution of a campaign in random rounds: resumable, with noisy runs repeated.

The measured runs of all configurations come first. Runs under the recorder follow, if
the campaign asks for lock statistics.
"""

from __future__ import annotations

import dataclasses
import math
import random
import tempfile
import time
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

from hasp.base.errors import HaspError
from hasp.base.host import node_cpus
from hasp.compare import run_record as record
from hasp.compare.noise import noise_of
from hasp.compare.recorder import Recorder
from hasp.compare.run import FAILURES_UNTIL_GIVEN_UP, ComparisonRunner
from hasp.compare.run_record import Run
from hasp.compare.settings import Cell, Settings, shell_words
from hasp.launch.executable import find
from hasp.launch.interpose import original_environment
from hasp.statistics.narrow import half_width
from hasp.study import shapes
from hasp.study.campaign import THROUGHPUT, Campaign
from hasp.study.journal import Journal, JournalEntry
from hasp.study.metrics import metrics_of
from hasp.study.program import StudyProgram

TRACE_LIMIT = 64 << 20  # bytes of one process's trace; only its totals are read
NODES = "nodes"
LATELY = 20  # number of recent runs; if most were noisy, noise is tolerated
NOISE_PAUSE = 1.0  # seconds to pause after a noisy run


@dataclasses.dataclass(frozen=True)
class Configuration:
    """One program under one lock at one size."""

    program: StudyProgram
    cell: Cell
    recorded: bool = False  # for lock statistics instead of measurements

    @property
    def key(self) -> Key:
        """Its key in a journal."""
        return (
            *(self.program.name, self.cell.lock),
            *(self.cell.threads or 1, self.recorded),
        )

    def fits(self, nodes: int) -> bool:
        """True if a host has enough nodes; there may be more threads than CPUs."""
        return self.cell.unit != NODES or (self.cell.threads or 1) <= nodes


Key = tuple[str, str, int, bool]


class Tally:
    """Counts of the runs, failures and noise of each configuration."""

    def __init__(self, entries: Iterable[JournalEntry] = ()) -> None:
        self._values: dict[Key, list[float]] = {}
        self._widths: dict[Key, float] = {}  # widths of the intervals of their means
        self._failed: Counter[Key] = Counter()
        self._noisy: Counter[Key] = Counter()
        self._lately: deque[bool] = deque(
            maxlen=LATELY
        )  # whether the last runs were noisy
        self.last_failure: dict[Key, JournalEntry] = {}
        for entry in entries:
            self.add(entry)

    def add(self, entry: JournalEntry) -> None:
        """Count a run that has ended."""
        self._lately.append(bool(entry.noise or entry.doubt))
        key = (entry.program, entry.lock, entry.threads, entry.recorded)
        if entry.good:
            value = entry.values.get(THROUGHPUT, 1 / max(entry.wall_s, 1e-9))
            self._values.setdefault(key, []).append(value)
            self._widths.pop(key, None)
        elif entry.outcome != record.OK:
            self._failed[key] += 1
            self.last_failure[key] = entry
        else:
            self._noisy[key] += 1

    def runs_so_far(self, one: Configuration) -> int:
        """Return the number of valid runs so far."""
        return len(self._values.get(one.key, []))

    def given_up(self, one: Configuration) -> bool:
        """Return true if a configuration has failed too often to be tried again."""
        return self._failed[one.key] >= FAILURES_UNTIL_GIVEN_UP

    def tolerates_noise(self, one: Configuration) -> bool:
        """Return true if a noisy run counts: after repetitions, or on a noisy host."""
        usual = len(self._lately) == LATELY and 2 * sum(self._lately) > LATELY
        return usual or self._noisy[one.key] >= one.program.noisy_runs

    def wants_more(self, one: Configuration) -> bool:
        """Return true if another run is needed."""
        return max(self.runs_left(one)) > 0

    def runs_left(self, one: Configuration) -> tuple[int, int]:
        """Return the smallest and the largest number of runs still needed."""
        measured = dataclasses.replace(one, recorded=False)
        if self.given_up(one) or self.given_up(measured):
            return 0, 0
        repetition, so_far = one.program.repetition, self.runs_so_far(one)
        if one.recorded:
            left = max(0, one.program.recorded_runs - so_far)
            return left, left
        least = max(0, repetition.least - so_far)
        most = max(0, repetition.most - so_far)
        return least, 0 if not least and self._is_narrow(one) else most

    def _is_narrow(self, one: Configuration) -> bool:
        if one.key not in self._widths:
            self._widths[one.key] = half_width(self._values.get(one.key, []))
        return self._widths[one.key] <= one.program.repetition.until


def configurations(campaign: Campaign) -> list[Configuration]:
    """Return all configurations of a campaign, in its order."""
    return [
        Configuration(program, cell)
        for program in campaign.programs
        for cell in program.settings.cells
    ]


def to_record(campaign: Campaign) -> list[Configuration]:
    """Return the configurations that need lock statistics, in the campaign's order."""
    return [
        dataclasses.replace(one, recorded=True)
        for one in configurations(campaign)
        if one.program.recorded_runs
    ]


def missing(program: StudyProgram, environment: Mapping[str, str] | None = None) -> str:
    """Return the reason why a program cannot run on this host, or ""."""
    settings = shapes.here(program)
    if lack := shapes.only_simulated(program):
        return lack
    words = [settings.command[0]]
    if settings.server:
        words.append(shell_words(settings.server)[0])
    for word in words:
        try:
            find(word, {**original_environment(), **(environment or {})})
        except HaspError as problem:
            return problem.message
    return ""


def to_run(campaign: Campaign, left_out: Collection[str]) -> list[Configuration]:
    """Return all that can run here: measured configurations, then recorded ones."""
    return [
        one
        for one in (*configurations(campaign), *to_record(campaign))
        if one.program.name not in left_out and one.fits(len(node_cpus()))
    ]


def longest_time(
    campaign: Campaign, progress: Tally, left_out: Collection[str] = ()
) -> tuple[int, float, float]:
    """The fewest remaining runs, and the seconds for the fewest and the most runs."""
    runs, least, most = 0, 0.0, 0.0
    for one in to_run(campaign, left_out):
        fewest, longest = progress.runs_left(one)
        seconds = one.program.seconds + one.program.cooling_s
        runs += fewest
        least += seconds * fewest
        most += seconds * longest
    return runs, least, most


class Carrying:
    """Makes the remaining runs; a context manager for the launching processes."""

    def __init__(self, campaign: Campaign, journal: Journal) -> None:
        self.campaign = campaign
        self.journal = journal
        self.progress = Tally(journal.entries)
        self.left_out: dict[str, str] = {}  # program that cannot run here -> reason
        self._stack = ExitStack()
        self._runners: dict[tuple[str, bool], ComparisonRunner] = {}
        self._entered: set[tuple[str, bool]] = set()
        self._recorder = Recorder(self._folder() / "trace", limit=TRACE_LIMIT)
        self._last_end = -math.inf  # of a run
        self._waits_for_quiet = False
        for program in campaign.programs:
            self._prepare(program)

    def _folder(self) -> Path:
        folder = tempfile.TemporaryDirectory(prefix="hasp-study-")
        return Path(self._stack.enter_context(folder))

    def _prepare(self, program: StudyProgram) -> None:
        """Create the program's runners, or note why Hasp cannot interpose it."""
        if lack := shapes.only_simulated(program):
            self.left_out[program.name] = lack
            return
        try:
            for recorded in {False, program.recorded_runs > 0}:
                self._runners[program.name, recorded] = ComparisonRunner(
                    with_nodes(shapes.here(program)),
                    plans=program.plans,
                    environment=self.campaign.environment,
                    recorder=self._recorder if recorded else None,
                )
        except HaspError as problem:
            self.left_out[program.name] = problem.message

    def __enter__(self) -> Carrying:
        return self

    def __exit__(self, *arguments: object) -> None:
        self._stack.close()

    def steps(self, also: Collection[str] = ()) -> Iterator[Configuration]:
        """The configurations to run next, round by round, each in a new random order.

        The order depends only on the campaign and the round; a resumed campaign begins
        with the first incomplete round. The programs in `also` are skipped, too.
        """
        everything = to_run(self.campaign, {*self.left_out, *also})
        for recorded in (False, True):
            yield from self._blocks([o for o in everything if o.recorded == recorded])

    def _blocks(self, everything: list[Configuration]) -> Iterator[Configuration]:
        block = 0
        while True:
            wanting = [one for one in everything if self.progress.wants_more(one)]
            if not wanting:
                return
            fewest = min(self.progress.runs_so_far(one) for one in wanting)
            now = [one for one in wanting if self.progress.runs_so_far(one) == fewest]
            block += 1
            random.Random(f"{self.campaign.digest}/{fewest}/{block}").shuffle(now)
            yield from now

    def run(self, one: Configuration) -> JournalEntry:
        """Run a configuration once, and write the result to the journal."""
        block = self.progress.runs_so_far(one) + 1
        runner = self._runner(one)
        self._cool_down(one.program)
        cpus = cpus_for(one.program.pinning, one.cell)
        try:
            run = runner.run(block, one.cell, cpus)
        except HaspError as problem:  # the other configurations continue
            run = Run(
                *(block, one.cell.lock, one.cell.threads),
                outcome=record.FAILED,
                detail=problem.message,
            )
        finally:
            self._last_end = time.monotonic()
        found = noise_of(run)
        tolerated = found is not None and self.progress.tolerates_noise(one)
        self._waits_for_quiet = found is not None and not tolerated
        values = {}
        if run.outcome == record.OK:
            values = self._recorder.figures() if one.recorded else metrics_of(run)
        entry = JournalEntry(
            *one.key[:3],
            block=block,
            outcome=run.outcome,
            detail=run.detail,
            values=values,
            wall_s=run.wall_s or 0.0,
            noise=found.words if found and not tolerated else "",
            recorded=one.recorded,
            doubt=found.kind if found and tolerated else "",
        )
        self.journal.add(entry)
        self.progress.add(entry)
        return entry

    def _cool_down(self, program: StudyProgram) -> None:
        """Sleep until the campaign's pause since the last run is over."""
        pause = program.cooling_s
        if self._waits_for_quiet:
            pause = max(pause, NOISE_PAUSE)
        time.sleep(max(0.0, self._last_end + pause - time.monotonic()))

    def _runner(self, one: Configuration) -> ComparisonRunner:
        """Return the program's runner, which starts its processes at the first run."""
        key = (one.program.name, one.recorded)
        if key not in self._entered:
            self._stack.enter_context(self._runners[key])
            self._entered.add(key)
        return self._runners[key]


def with_nodes(settings: Settings) -> Settings:
    """Return the settings with the number of CPUs of each node of this host."""
    return dataclasses.replace(settings, node_cpus=tuple(map(len, node_cpus())))


def cpus_for(pinning: str, cell: Cell) -> set[int]:
    """Return the CPUs to bind a run to.

    With `core`, one CPU per thread; with `node`, all CPUs of the fewest nodes that have
    that many; otherwise all.
    """
    nodes, size = node_cpus(), cell.threads or 1
    every = [cpu for node in nodes for cpu in node]
    if cell.unit == NODES:
        return {cpu for node in nodes[:size] for cpu in node}
    if pinning == "core":
        return {*every[:size]}
    if pinning == "node":
        chosen: set[int] = set()
        for node in nodes:
            chosen |= {*node}
            if len(chosen) >= size:
                return chosen
    return {*every}
