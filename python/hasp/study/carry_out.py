# SPDX-License-Identifier: MIT
"""Carrying out the plan of a study: random blocks, resumable, noisy runs again.

First the measured runs of all configurations. Then, where the plan asks for statistics
of locks, runs of their own under the recorder.
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

TRACE_LIMIT = 64 << 20  # bytes of one process's trace; only its sums are read
NODES = "nodes"
LATELY = 20  # runs: when most of the last ones were noisy, noise is not waited out
NOISE_PAUSE = 1.0  # seconds to wait for better times after a noisy run


@dataclasses.dataclass(frozen=True)
class Configuration:
    """One program under one lock at one size."""

    program: StudyProgram
    cell: Cell
    recorded: bool = False  # for the statistics of its locks, not to be measured

    @property
    def key(self) -> Key:
        """Its name in a journal."""
        return (
            *(self.program.name, self.cell.lock),
            *(self.cell.threads or 1, self.recorded),
        )

    def fits(self, nodes: int) -> bool:
        """Whether a machine has as many nodes; threads may be more than CPUs."""
        return self.cell.unit != NODES or (self.cell.threads or 1) <= nodes


Key = tuple[str, str, int, bool]


class Tally:
    """What a journal says of each configuration."""

    def __init__(self, entries: Iterable[JournalEntry] = ()) -> None:
        self._values: dict[Key, list[float]] = {}
        self._widths: dict[Key, float] = {}  # of the intervals of their means
        self._failed: Counter[Key] = Counter()
        self._noisy: Counter[Key] = Counter()
        self._lately: deque[bool] = deque(maxlen=LATELY)  # whether runs were noisy
        self.last_failure: dict[Key, JournalEntry] = {}
        for entry in entries:
            self.add(entry)

    def add(self, entry: JournalEntry) -> None:
        """A run has ended."""
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
        """How many count."""
        return len(self._values.get(one.key, []))

    def given_up(self, one: Configuration) -> bool:
        """Whether it has failed too often to be tried again."""
        return self._failed[one.key] >= FAILURES_UNTIL_GIVEN_UP

    def tolerates_noise(self, one: Configuration) -> bool:
        """Whether noise has been waited out long enough, or is how the machine is."""
        usual = len(self._lately) == LATELY and 2 * sum(self._lately) > LATELY
        return usual or self._noisy[one.key] >= one.program.noisy_runs

    def wants_more(self, one: Configuration) -> bool:
        """Whether another run is needed."""
        return max(self.runs_left(one)) > 0

    def runs_left(self, one: Configuration) -> tuple[int, int]:
        """How many more are needed at least, and at most."""
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
    """All of a plan, in its order."""
    return [
        Configuration(program, cell)
        for program in campaign.programs
        for cell in program.settings.cells
    ]


def to_record(campaign: Campaign) -> list[Configuration]:
    """Those whose locks are looked at besides, in the plan's order."""
    return [
        dataclasses.replace(one, recorded=True)
        for one in configurations(campaign)
        if one.program.recorded_runs
    ]


def missing(program: StudyProgram, environment: Mapping[str, str] | None = None) -> str:
    """The program that a plan needs and this machine lacks, or ""."""
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
    """All that can run here: first what is measured, then what is recorded."""
    return [
        one
        for one in (*configurations(campaign), *to_record(campaign))
        if one.program.name not in left_out and one.fits(len(node_cpus()))
    ]


def longest_time(
    campaign: Campaign, progress: Tally, left_out: Collection[str] = ()
) -> tuple[int, float, float]:
    """Runs that are left at least, and the seconds for these and for the most."""
    runs, least, most = 0, 0.0, 0.0
    for one in to_run(campaign, left_out):
        fewest, longest = progress.runs_left(one)
        seconds = one.program.seconds + one.program.cooling_s
        runs += fewest
        least += seconds * fewest
        most += seconds * longest
    return runs, least, most


class Carrying:
    """Runs what is left of a plan; a context manager for the programs' helpers."""

    def __init__(self, campaign: Campaign, journal: Journal) -> None:
        self.campaign = campaign
        self.journal = journal
        self.progress = Tally(journal.entries)
        self.left_out: dict[str, str] = {}  # programs that cannot run here, and why
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
        """Its runners; or why Hasp cannot interpose it (static, 32-bit, not there)."""
        if lack := shapes.only_simulated(program):
            self.left_out[program.name] = lack
            return
        try:
            for recorded in {False, program.recorded_runs > 0}:
                self._runners[program.name, recorded] = ComparisonRunner(
                    with_nodes(shapes.here(program)),
                    candidates=program.candidates,
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
        """What to run next, block by block, each in a random order of its own.

        The order depends on the plan and the block alone; a study that goes on after an
        interruption begins with the first block that is not full. `also` are more
        programs to leave out.
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
        """Run a configuration once, and write down what came of it."""
        block = self.progress.runs_so_far(one) + 1
        runner = self._runner(one)
        self._cool_down(one.program)
        cpus = cpus_for(one.program.pinning, one.cell)
        try:
            run = runner.run(block, one.cell, cpus)
        except HaspError as problem:  # the rest of the study goes on
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
        """Wait until the machine has rested as long as the plan says."""
        pause = program.cooling_s
        if self._waits_for_quiet:
            pause = max(pause, NOISE_PAUSE)
        time.sleep(max(0.0, self._last_end + pause - time.monotonic()))

    def _runner(self, one: Configuration) -> ComparisonRunner:
        """The program's runner, whose helpers begin with its first run."""
        key = (one.program.name, one.recorded)
        if key not in self._entered:
            self._stack.enter_context(self._runners[key])
            self._entered.add(key)
        return self._runners[key]


def with_nodes(settings: Settings) -> Settings:
    """The plan, knowing how many CPUs each node of this machine has."""
    return dataclasses.replace(settings, node_cpus=tuple(map(len, node_cpus())))


def cpus_for(pinning: str, cell: Cell) -> set[int]:
    """`core`: as many CPUs as threads; `node`: all of as few nodes as have so many."""
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
