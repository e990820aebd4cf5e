# SPDX-License-Identifier: MIT
"""Carrying out the plan of a study: random blocks, resumable, noisy runs again."""

from __future__ import annotations

import dataclasses
import math
import os
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

from hasp.errors import HaspError
from hasp.executable import find
from hasp.interpose import original_environment
from hasp.statistics.narrow import half_width
from hasp.study import record
from hasp.study.campaign import THROUGHPUT, Campaign, Program
from hasp.study.journal import Entry, Journal
from hasp.study.plan import Cell, shell_words
from hasp.study.record import Run
from hasp.study.run import FAILURES_UNTIL_GIVEN_UP, Runner

# A run is repeated when the hypervisor took so much of the time, or a CPU quota struck;
# but not for ever: a host that is always noisy is measured as it is, which is said.
STEAL_SHARE = 0.05
NOISY_AT_MOST = 3
ONLY_SIMULATED = "a workload of the simulator: --on simulated:NAME"


@dataclasses.dataclass(frozen=True)
class Configuration:
    """One program under one lock at one size."""

    program: Program
    cell: Cell

    @property
    def key(self) -> tuple[str, str, int]:
        """Its name in a journal."""
        return (self.program.name, self.cell.lock, self.cell.threads or 1)


class Progress:
    """What a journal says of each configuration."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._values: dict[tuple[str, str, int], list[float]] = {}
        self._failed: Counter[tuple[str, str, int]] = Counter()
        self._noisy: Counter[tuple[str, str, int]] = Counter()
        for entry in entries:
            self.add(entry)

    def add(self, entry: Entry) -> None:
        """A run has ended."""
        key = (entry.program, entry.lock, entry.threads)
        if entry.counts:
            value = entry.values.get(THROUGHPUT, 1 / max(entry.wall_s, 1e-9))
            self._values.setdefault(key, []).append(value)
        elif entry.outcome != record.OK:
            self._failed[key] += 1
        else:
            self._noisy[key] += 1

    def runs_so_far(self, one: Configuration) -> int:
        """How many count."""
        return len(self._values.get(one.key, []))

    def given_up(self, one: Configuration) -> bool:
        """Whether it has failed too often to be tried again."""
        return self._failed[one.key] >= FAILURES_UNTIL_GIVEN_UP

    def tolerates_noise(self, one: Configuration) -> bool:
        """Whether noise has been waited out long enough."""
        return self._noisy[one.key] >= NOISY_AT_MOST

    def wants_more(self, one: Configuration) -> bool:
        """Whether another run is needed."""
        repetition = one.program.repetition
        values = self._values.get(one.key, [])
        if self.given_up(one) or len(values) >= repetition.most:
            return False
        if len(values) < repetition.least:
            return True
        return half_width(values) > repetition.until


def configurations(campaign: Campaign) -> list[Configuration]:
    """All of a plan, in its order."""
    return [
        Configuration(program, cell)
        for program in campaign.programs
        for cell in program.plan.cells
    ]


def missing(program: Program) -> str:
    """The program that a plan needs and this machine lacks, or ""."""
    plan = program.plan
    if program.workload:
        return ONLY_SIMULATED
    words = [plan.command[0]]
    if plan.server:
        words.append(shell_words(plan.server)[0])
    for word in words:
        try:
            find(word, original_environment())
        except HaspError as problem:
            return problem.message
    return ""


def refusal(program: Program) -> str:
    """Why Hasp cannot interpose a program (static, privileged, 32-bit ...), or ""."""
    if program.workload:
        return ONLY_SIMULATED
    try:
        Runner(program.plan)
    except HaspError as problem:
        return problem.message
    return ""


def longest_time(campaign: Campaign, progress: Progress) -> tuple[int, float, float]:
    """Runs that are left at least, and the seconds for these and for the most."""
    runs, least, most = 0, 0.0, 0.0
    for one in configurations(campaign):
        so_far, repetition = progress.runs_so_far(one), one.program.repetition
        if not progress.given_up(one):
            runs += max(0, repetition.least - so_far)
            least += one.program.seconds * max(0, repetition.least - so_far)
            if progress.wants_more(one):
                most += one.program.seconds * max(0, repetition.most - so_far)
    return runs, least, most


class Carrying:
    """Runs what is left of a plan; a context manager for the programs' helpers."""

    def __init__(self, campaign: Campaign, journal: Journal) -> None:
        self.campaign = campaign
        self.journal = journal
        self.progress = Progress(journal.entries)
        self._runners: dict[str, Runner] = {}
        self._stack = ExitStack()
        os.environ.update(campaign.environment)

    def __enter__(self) -> Carrying:
        return self

    def __exit__(self, *arguments: object) -> None:
        self._stack.close()

    def steps(self, left_out: set[str]) -> Iterator[Configuration]:
        """What to run next, block by block, each in a random order of its own.

        The order depends on the plan and the block alone; a study that goes on after an
        interruption begins with the first block that is not full.
        """
        everything = [
            one
            for one in configurations(self.campaign)
            if one.program.name not in left_out
        ]
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

    def run(self, one: Configuration) -> Entry:
        """Run a configuration once, and write down what came of it."""
        block = self.progress.runs_so_far(one) + 1
        runner = self._runner(one.program)
        os.sched_setaffinity(0, cpus_for(one.program.pinning, one.cell.threads or 1))
        try:
            run = runner.run(block, one.cell)
        finally:
            os.sched_setaffinity(0, _ALL_CPUS)
        noise = "" if self.progress.tolerates_noise(one) else _noise(run)
        entry = Entry(
            *one.key,
            block=block,
            outcome=run.outcome,
            detail=run.detail,
            values=_values(run) if run.outcome == record.OK else {},
            wall_s=run.wall_s or 0.0,
            noise=noise,
        )
        self.journal.add(entry)
        self.progress.add(entry)
        return entry

    def _runner(self, program: Program) -> Runner:
        if program.name not in self._runners:
            self._runners[program.name] = self._stack.enter_context(
                Runner(program.plan)
            )
        return self._runners[program.name]


_ALL_CPUS = frozenset(os.sched_getaffinity(0))


def cpus_for(pinning: str, threads: int) -> set[int]:
    """`core`: as many CPUs as threads; `node`: all of as few nodes as have so many."""
    every = sorted(_ALL_CPUS)
    if pinning == "core":
        return set(every[: max(1, threads)])
    if pinning == "node":
        chosen: set[int] = set()
        for node in sorted(Path("/sys/devices/system/node").glob("node[0-9]*")):
            chosen |= {cpu for cpu in every if (node / f"cpu{cpu}").exists()}
            if len(chosen) >= threads:
                return chosen
    return set(every)


def _noise(run: Run) -> str:
    if run.outcome != record.OK:
        return ""
    if run.steal > STEAL_SHARE:
        return f"the hypervisor took {run.steal:.0%} of the time"
    if run.throttled:
        return f"the CPU quota struck {run.throttled} times"
    return ""


def _values(run: Run) -> dict[str, float]:
    """The metrics of a run: the program's own, and what every run has."""
    values = dict(run.figures or {})
    if run.wall_s:
        values.setdefault(THROUGHPUT, 1 / run.wall_s)
    if run.user_s is not None and run.system_s is not None:
        values["cpu_s"] = run.user_s + run.system_s
    if run.peak_bytes:
        values["peak_bytes"] = float(run.peak_bytes)
    return {
        name: float(value) for name, value in values.items() if math.isfinite(value)
    }
