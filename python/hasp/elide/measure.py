# SPDX-License-Identifier: MIT
"""Run a command in the six configurations, interleaved, as `hasp compare` does."""

from __future__ import annotations

import dataclasses
import math
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from hasp.base.errors import HaspError, Interrupted
from hasp.base.output import note
from hasp.base.signals import interrupt_on_signals
from hasp.compare import run_record as record
from hasp.compare.comparison import carry_out, new_comparison
from hasp.compare.recorded_run import weight
from hasp.compare.recorder import Recorder
from hasp.compare.run import ComparisonRunner, LockSettings
from hasp.compare.settings import Cell, Settings
from hasp.compare.store import Comparison, Writer, lock_facts
from hasp.elide.configurations import CONFIGURATIONS, ELIDE, Configuration
from hasp.elide.hardware import BACK_END, OPTIONS, Transactions
from hasp.elide.measurement import MeasuredLock, Measurement, locks_of
from hasp.elide.statistics import SETTING, counts_in
from hasp.locks.given import given_lock
from hasp.locks.native import ELISION, REFERENCE
from hasp.profile.model.build import load_keeping_symbols

GLOBAL = "scope=global"


class BudgetEnded(Exception):
    """The time for the measurement is over."""


def measure(
    settings: Settings,
    lock: str,
    budget_s: float | None,
    transactions: Transactions,
    json: str | None,
) -> Measurement:
    """Make all runs; after Ctrl-C or at the end of the budget, return those so far.

    Raises HaspError if the program does not work without Hasp, and Interrupted if no
    run has ended.
    """
    chosen = CONFIGURATIONS
    names = (REFERENCE, *(one.name for one in chosen))
    settings = dataclasses.replace(settings, locks=names)
    interrupt_on_signals()
    with tempfile.TemporaryDirectory(prefix="hasp-elide-") as folder:
        files = _files(Path(folder), chosen)
        special = {one.name: _settings(one, lock, files[one.name]) for one in chosen}
        comparison = _comparison(settings, special)
        measurement = Measurement(comparison, transactions, chosen)
        runner = ComparisonRunner(settings, settings_of=special)
        writer = Writer(json) if json else None
        try:
            carry_out(runner, comparison, writer, _deadline(budget_s))
        except BudgetEnded:
            note("the budget is over: the runs so far count")
        except (HaspError, Interrupted) as problem:
            comparison.interrupted = True
            measurement.ending = problem
            if not any(run.measured for run in comparison.runs):
                raise
        finally:
            if writer:
                writer.close()
        for one in chosen:
            if one.elided:
                measurement.counts[one.name] = counts_in(files[one.name])
        if not measurement.ending:
            trace = Path(folder) / "elided.trace"
            try:
                measurement.locks = _recorded(settings, special, trace)
            except (HaspError, Interrupted) as problem:
                measurement.ending = problem
    return measurement


def _files(folder: Path, chosen: Sequence[Configuration]) -> dict[str, Path]:
    """Return an empty file for the statistics of each configuration.

    Servers that give up root's rights can write to it, too.
    """
    folder.chmod(0o711)
    files = {one.name: folder / f"{one.name}.jsonl" for one in chosen}
    for file in files.values():
        file.touch()
        file.chmod(0o666)
    return files


def _recorded(
    settings: Settings, special: dict[str, LockSettings], trace: Path
) -> list[MeasuredLock]:
    """Record one run with elided locks; return what became of each lock's sections."""
    name, threads = ELIDE.name, settings.threads[-1]
    once = dataclasses.replace(
        settings, locks=(REFERENCE, name), threads=(threads,), runs=1, warmup=0
    )
    recorder = Recorder(trace, sample=False)
    recorder.clear()
    with ComparisonRunner(once, recorder=recorder, settings_of=special) as runner:
        run = runner.run(1, Cell(name, threads))
    if run.outcome != record.OK:
        note(f"the run that was to record each lock failed: {run.detail}")
        return []
    profiles = [load_keeping_symbols(path) for path in recorder.traces()]
    return locks_of(max(profiles, key=weight)) if profiles else []


def _settings(one: Configuration, lock: str, statistics: Path) -> LockSettings:
    """Return the algorithm and the variables of a configuration."""
    options = [word for word in (os.environ.get(OPTIONS),) if word]
    variables = {}
    if one.is_global:
        options.append(GLOBAL)
    if one.elided:
        nests = one.scheme.trylock_nests
        options.append(f"trylock={'nest' if nests else 'abort'}")
        variables[SETTING] = str(statistics)
    else:
        variables[BACK_END] = "never"
    if options and (one.elided or one.is_global):
        variables[OPTIONS] = ",".join(options)
    # One lock for all without elision is a scope of elided locks that never elide.
    name = f"{ELISION}{lock}" if one.elided or one.is_global else lock
    return LockSettings(given_lock(name), variables)


def _comparison(settings: Settings, special: dict[str, LockSettings]) -> Comparison:
    """Return a comparison without runs, whose locks are configurations."""
    made = new_comparison(dataclasses.replace(settings, locks=(REFERENCE,)))
    made.settings = settings
    made.locks += [
        {**lock_facts(one.algorithms), "name": name} for name, one in special.items()
    ]
    return made


def _deadline(budget_s: float | None) -> Callable[[int], None]:
    """Return a function that raises BudgetEnded for a round that begins too late.

    It is called with the number of the round before each run. The first measured round
    is always completed.
    """
    ends = math.inf if budget_s is None else time.monotonic() + budget_s
    latest = 1

    def check(number: int) -> None:
        nonlocal latest
        if number > latest and time.monotonic() > ends:
            raise BudgetEnded
        latest = max(latest, number)

    return check
