# SPDX-License-Identifier: MIT
"""Carries out a race: records the program, runs the rounds, and ends in time."""

from __future__ import annotations

import dataclasses
import math
import random
import statistics
import time
from collections.abc import Sequence

from hasp.base.durations import format_duration
from hasp.base.errors import HaspError, Interrupted
from hasp.base.output import note
from hasp.compare.comparison import new_comparison
from hasp.compare.run import ComparisonRunner, ReferenceFailed
from hasp.compare.run_record import Run
from hasp.compare.settings import Cell, Settings
from hasp.compare.store import Writer
from hasp.locks.given import given_lock, of_plan
from hasp.locks.native import REFERENCE
from hasp.locks.site_plan.model import SitePlan
from hasp.profile.diagnosis import advise
from hasp.profile.diagnosis.diagnose import diagnose
from hasp.profile.model.profile import Site
from hasp.tune.contest import Contest
from hasp.tune.options import Options
from hasp.tune.progress import RaceDisplay
from hasp.tune.recording import recording, session_of
from hasp.tune.site_plans import plans_of, sites_that_matter
from hasp.tune.store import (
    Claim,
    Earlier,
    drop_incomplete_line,
    load_race,
    save_plans,
    save_trace,
    settle_timeout,
)

PROVEN, BUDGET, RUNS = "proven", "budget", "runs"
INTERRUPTED, NOTHING_LEFT, ERROR = "interrupted", "nothing left", "error"
FAVOURITES = 4  # locks that the rules recommend and that run in the first round
# A run is stopped when it takes this many times as long as under glibc, if the user has
# set no time-out: what is that slow has lost.
SLOWEST = 10.0
SHORTEST_TIMEOUT = 5.0  # seconds


@dataclasses.dataclass
class Outcome:
    """A race that has ended."""

    contest: Contest
    ended: str  # PROVEN, BUDGET, RUNS, INTERRUPTED, NOTHING_LEFT or ERROR
    seconds: float
    verdict: str  # the sentence of the profile; "" if none was made
    resumed: int = 0  # runs of an earlier race
    exit_status: int = 0  # of the interruption
    error: HaspError | None = None  # to be raised once the result is shown


def race(options: Options) -> Outcome:
    """Record the program and race the locks of the settings.

    An error in a later round ends the race, and the outcome has it. Raises HaspError if
    the command does not work without Hasp, if only one candidate is left, or if the
    budget is too small for the first round.
    """
    return _Race(options).run()


class _Race:
    def __init__(self, options: Options) -> None:
        self.options = options
        self.began = time.monotonic()
        self.order = random.Random(options.settings.seed)
        self.sites: list[Site] = []
        self.runner: ComparisonRunner
        self.contest: Contest
        self.writer: Writer
        self.number = 0  # of the round
        self.adapt_timeout = options.adapt_timeout

    def run(self) -> Outcome:
        with Claim(self.options.store) as claim:
            return self._run(claim)

    def _run(self, claim: Claim) -> Outcome:
        options = self.options
        locks = fitting(options.settings)
        settings = dataclasses.replace(options.settings, locks=tuple(locks))
        earlier = None
        if options.resume:
            earlier = load_race(
                options.store, settings, locks_given=options.locks_given
            )
            settings = self._resumed_settings(earlier)
            comparison = earlier.comparison
        else:
            comparison = new_comparison(settings)
        _refuse_single(settings)
        profile = recording(options, settings, earlier.session if earlier else 0)
        verdict = diagnose(profile).sentence if profile.sites else ""
        if verdict and not options.recorded:
            note(verdict)
        self.sites = sites_that_matter(profile) if options.with_plans else []
        self.contest = Contest(
            comparison,
            options.objective,
            options.requirements,
            favourites=_favourites(advise(profile).advised, settings),
            threads_seen=profile.thread_count,
            room_for_plans=len(self.sites) > 1,
            tolerance=options.tolerance,
        )
        self._refuse_few_runs()
        self.runner = ComparisonRunner(
            dataclasses.replace(
                settings, timeout_s=min(settings.timeout_s, options.budget_s)
            )
        )
        if earlier is None:
            claim.keep_earlier()
        else:
            drop_incomplete_line(options.store, earlier)
        self.writer = Writer(str(options.store), append=options.resume)
        if earlier is not None:
            self._repeat(earlier)
        resumed = len(comparison.runs)
        error: HaspError | None = None
        try:
            ended, status = self._rounds(), 0
        except Interrupted as interruption:
            ended, status = INTERRUPTED, interruption.exit_status
            if self.contest.leader is None:
                note("interrupted in the first round; --resume continues the race")
                raise
        except HaspError as problem:
            if self.number < 2 or self.contest.leader is None:
                raise
            ended, status, error = ERROR, 0, problem
        finally:
            self.writer.close()
        seconds = time.monotonic() - self.began
        return Outcome(self.contest, ended, seconds, verdict, resumed, status, error)

    def _resumed_settings(self, earlier: Earlier) -> Settings:
        """Return the settings to continue with, with a note on each that changed.

        Raises HaspError if the earlier runs leave none of --runs.
        """
        options, old = self.options, earlier.comparison.settings
        done, most = len(earlier.runs), options.most_runs
        if most is not None and most <= done:
            raise HaspError(
                f"--runs {most} includes the {done} runs of the earlier race",
                f"give it more than --runs {done}, or leave out --runs",
            )
        if most is not None:
            note(f"--runs {most} includes the {done} runs of the earlier race")
        if options.seed_given and options.settings.seed != old.seed:
            note(f"--seed {options.settings.seed} orders only the further runs")
        timeout, self.adapt_timeout = settle_timeout(
            old.timeout_s, options.settings.timeout_s, adapt=options.adapt_timeout
        )
        if timeout != old.timeout_s:
            note(f"--timeout {timeout:g}s applies only to the further runs")
        return dataclasses.replace(old, timeout_s=timeout)

    def _refuse_few_runs(self) -> None:
        most = self.options.most_runs
        first = len(self.contest.next_round())
        if most is not None and most < first:
            raise HaspError(
                f"--runs {most} is too few for one round of {first} candidates",
                f"give it --runs {first} or more, or fewer --locks",
            )

    def _repeat(self, earlier: Earlier) -> None:
        """Judge the rounds of an earlier race again, in their order."""
        if earlier.rounds:
            self._add_plans(earlier.plans)
        for runs in earlier.rounds:
            self.contest.record(runs)
            self.number = max(self.number, runs[-1].block)
        for run in earlier.runs:
            if run.lock == REFERENCE and run.measured and run.wall_s:
                self._set_timeout(run.wall_s)
                break

    def _rounds(self) -> str:
        """Run rounds until the end of the race; return why it ended."""
        ends = self.began + self.options.budget_s
        display = RaceDisplay(self.contest, self.options, ends)
        with self.runner, display:
            comparison = self.contest.comparison
            comparison.peak_floor_bytes = self.runner.floor_bytes
            if not self.options.resume:
                self.writer.header(comparison)
                trace = self.options.trace
                save_trace(self.writer, trace, session_of(trace))
            while True:
                cells = self.contest.next_round()
                search_ended = not cells or not self.contest.race.searching
                if search_ended and self._join_plans():
                    continue
                if not cells:
                    return PROVEN if self.contest.race.proven else NOTHING_LEFT
                affordable, why = self._affordable(cells, ends)
                if len(affordable) < min(2, len(cells)):
                    return why
                self._round(affordable, display)

    def _affordable(self, cells: list[Cell], ends: float) -> tuple[list[Cell], str]:
        """Return the first cells that the budget still allows, and what limits them."""
        runs = self.contest.comparison.runs
        why = BUDGET
        if self.options.most_runs is not None:
            left = self.options.most_runs - len(runs)
            if left < len(cells):
                cells, why = cells[: max(0, left)], RUNS
        times = [run.wall_s for run in runs if run.wall_s]
        if times:
            usual = max(statistics.fmean(times), 1e-3)
            number = int((ends - time.monotonic()) / usual)
            if number < len(cells):
                cells, why = cells[: max(0, number)], BUDGET
        return cells, why

    def _round(self, cells: list[Cell], display: RaceDisplay) -> None:
        """Run the cells in random order, the reference first in the first round."""
        self.number += 1
        cells = list(cells)
        self.order.shuffle(cells)
        first = not any(run.measured for run in self.contest.comparison.runs)
        if first:
            cells.sort(key=lambda cell: cell.lock != REFERENCE)
        done: list[Run] = []
        try:
            for cell in cells:
                display.starting(self.number, cell)
                run = self._attempt(cell)
                done.append(run)
                self.writer.run(run)
                if first and len(done) == 1:
                    self._adapt(run, len(cells))
        finally:
            self.contest.record(done)
        for run in done:
            display.finished(run)

    def _attempt(self, cell: Cell) -> Run:
        """Run a cell; the remedy names the budget if that limits the command."""
        try:
            return self.runner.attempt(self.number, cell)
        except ReferenceFailed as problem:
            limit = self.runner.settings.timeout_s
            if limit == self.options.budget_s and "did not end" in problem.message:
                problem.remedy = "give it less work, or more time with --budget"
            raise

    def _adapt(self, run: Run, size: int) -> None:
        """Set the time-out by the first run, and check that the budget is enough."""
        seconds = run.wall_s or 0.0
        spent = time.monotonic() - self.began
        needed = spent + (size - 1) * seconds
        if needed > self.options.budget_s:
            budget = format_duration(self.options.budget_s)
            raise HaspError(
                f"the budget of {budget} is too small for one round: a run takes "
                f"{format_duration(seconds)}, the first round has {size}",
                f"give it --budget {math.ceil(3 * needed)}s, or fewer --locks",
            )
        self._set_timeout(seconds)

    def _set_timeout(self, seconds: float) -> None:
        """Adapt the time-out to a run under glibc, unless the user has set it."""
        if self.adapt_timeout:
            limit = max(SHORTEST_TIMEOUT, SLOWEST * seconds)
            limit = min(limit, self.runner.settings.timeout_s)
            self.runner.settings = dataclasses.replace(
                self.runner.settings, timeout_s=round(limit, 1)
            )

    def _join_plans(self) -> bool:
        """Let the plans join once the leading locks are known; false if none did."""
        sites, self.sites = self.sites, []
        leader = self.contest.leader
        if self.contest.plans or leader is None or len(sites) < 2:
            return False
        plans = plans_of(sites, self.contest.leading_locks(leader.threads))
        if plans:
            names = " and ".join(site.name for site in sites)
            note(f"plans join the race: a lock each for {names}")
            save_plans(self.writer, plans)
            self._add_plans(plans)
        return bool(plans)

    def _add_plans(self, plans: Sequence[SitePlan]) -> None:
        for plan in plans:
            self.runner.add(plan.name, of_plan(plan))
        if plans:
            self.contest.join(plans)


def fitting(settings: Settings) -> list[str]:
    """Return the locks under which the program can run, with a note on each other.

    Raises HaspError if the program cannot be run under any lock.
    """
    found = [REFERENCE]
    runner = ComparisonRunner(dataclasses.replace(settings, locks=(REFERENCE,)))
    refusal = None
    for name in settings.locks:
        if name == REFERENCE:
            continue
        try:
            runner.add(name, given_lock(name))
        except HaspError as problem:
            if refusal is None or problem.message != refusal.message:
                note(f"{name} is skipped: {problem.message}")
            refusal = problem
            continue
        found.append(name)
    if len(found) == 1 and refusal is not None:
        raise refusal
    return found


def _refuse_single(settings: Settings) -> None:
    if len(settings.cells) < 2:
        raise HaspError(
            f"{settings.cells[0].words} is the only candidate, so there is no race",
            "name more --locks, or more --threads",
        )


def _favourites(advised: Sequence[object], settings: Settings) -> list[str]:
    """The locks that the rules recommend, the largest gain first."""
    found: list[str] = []
    for site in advised:
        found.append(getattr(site, "recommendation", None) or "")
        found += getattr(site, "alternatives", ())
    names = [name for name in dict.fromkeys(found) if name in settings.locks]
    return names[:FAVOURITES]
