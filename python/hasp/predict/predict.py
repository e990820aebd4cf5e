# SPDX-License-Identifier: MIT
"""Carries out `hasp predict`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hasp.base.errors import HaspError, Interrupted
from hasp.base.extras import require
from hasp.base.figures import check_figure
from hasp.base.files import write_file
from hasp.base.output import STDOUT, check_writable, note, write_json
from hasp.base.signals import interrupt_on_signals
from hasp.lab.simulate.machines.machine import Machine
from hasp.lab.simulate.simulation import flattened
from hasp.locks import native
from hasp.locks.kinds import MUTEX, RWLOCK, Kind
from hasp.locks.selection import select
from hasp.predict.answer import Analysis, Answer
from hasp.predict.calibration import calibrated
from hasp.predict.changes import applied, resolved
from hasp.predict.document import document
from hasp.predict.doubts import doubts
from hasp.predict.figure import draw
from hasp.predict.kernel_time import kernel_share
from hasp.predict.load import Load
from hasp.predict.options import Options
from hasp.predict.pace import pace_of, scaled
from hasp.predict.page import render
from hasp.predict.rebuild import rebuild
from hasp.predict.report import show
from hasp.predict.runs import Runs, variants
from hasp.profile.model.kinds import Kind as profiled
from hasp.profile.model.profile import Profile
from hasp.profile.report.source import open_profile
from hasp.profile.report.words import plural

# Simulated for glibc's locks, whose algorithm they have or resemble.
STANDS_IN = {MUTEX: "futex", RWLOCK: "rw-futex"}
# One of each family, of those that need no more than a CPU for each thread.
DEFAULT_LOCKS = {
    MUTEX: "mutexee,spinbit,ttas-backoff,ticket,mcs,hapax,cna,hmcs,shfl",
    RWLOCK: "rw-ttas,rw-ticket,phase-fair,c-rw-np,bravo+rw-futex",
}
EACH_CPU = 8  # most threads of a CPU
THREADS_MOST = 2048  # of the simulator


def predict(options: Options) -> int:
    """Simulate, and print or write the answer. Returns the exit status."""
    if options.json:
        check_writable(options.json)
    if options.html:
        check_writable(options.html)
        require("report")
    check_figure(options.plot)
    threads = threads_of(options)
    profile = open_profile(options.trace, options.process)
    changes = resolved(profile, options.changes)
    kept = frozenset(change.site for change in changes)
    load = rebuild(profile, threads[-1], options.busy, kept)
    for change in changes:
        applied(load, change)  # raises an error before anything is simulated
    locks = names_of(options.locks, load.kind, profile)
    _refuse_rwlock(options, load)
    interrupt_on_signals()
    with flattened(options.machine) as machine_file:
        runs = Runs(load, options.machine, machine_file, options.rwlock)
        cpus = options.machine.topology.cpus
        answer = Answer(load, locks[0], threads, cpus, load.rate * 1e9)
        answer.pace = pace_of(profile, options.machine, options.recorded_on)
        try:
            recorded = runs.of(calibrated(runs, locks[0], options.jobs))
            answer.kernel_share = kernel_share(recorded.load)
            # What locks cost is not scaled, so it has been subtracted before.
            runs = recorded.of(scaled(recorded.load, answer.pace, profile))
            answer.load = runs.load
            analysis = Analysis(
                runs, answer, variants(options.seeds), options.jobs, recorded
            )
            analysis.baseline()
            analysis.curves(locks)
            analysis.saturation()
            analysis.gains(changes)
        except Interrupted:
            note(f"interrupted after {runs.progress}")
            if answer.curves:
                _report(options, profile, answer)
            raise
    _report(options, profile, answer)
    return 0


def _report(options: Options, profile: Profile, answer: Answer) -> None:
    said = doubts(profile, answer)
    if options.json:
        write_json([document(options, profile, answer, said)], options.json)
    if options.json != STDOUT:
        show(options, profile, answer, said)
    if options.html:
        write_file(options.html, render(options, profile, answer, said))
    if options.plot:
        draw(options, profile, answer, Path(options.plot))


def threads_of(options: Options) -> list[int]:
    """Return the numbers of threads to simulate, ascending.

    Raises HaspError for far more threads than the machine has CPUs.
    """
    cpus = options.machine.topology.cpus
    if options.threads is None:
        counts, count = {cpus}, 1
        while count < cpus:
            counts.add(count)
            count *= 4
        return sorted(counts)
    refuse_threads(options.machine, options.threads)
    return sorted(set(options.threads))


def refuse_threads(machine: Machine, threads: Sequence[int]) -> None:
    """Raise HaspError for far more threads than the machine has CPUs."""
    cpus = machine.topology.cpus
    if max(threads) > min(EACH_CPU * cpus, THREADS_MOST):
        raise HaspError(
            f"{machine.name} has {plural(cpus, 'CPU')}, too few for "
            f"{max(threads)} threads",
            "name fewer threads, or a machine with more CPUs; `hasp simulate --list` "
            "prints them",
        )


def names_of(text: str | None, kind: Kind, profile: Profile) -> list[str]:
    """Return the names of the locks to compare, that of the recording first."""
    locks = select(text or DEFAULT_LOCKS[kind], kind)
    names = [lock.name for lock in locks if not lock.is_reference]
    return list(dict.fromkeys([reference_of(profile, kind), *names]))


def reference_of(profile: Profile, kind: Kind) -> str:
    """Return the lock of the recording; glibc's is simulated by its algorithm."""
    name = profile.algorithm(profiled.MUTEX if kind is MUTEX else profiled.RWLOCK)
    known = {lock.name for lock in native.locks(kind) if not lock.is_reference}
    return name if name in known else STANDS_IN[kind]


def _refuse_rwlock(options: Options, load: Load) -> None:
    if options.rwlock and load.kind is RWLOCK:
        raise HaspError(
            "--rwlock is for programs that also use mutexes",
            f"this one has reader-writer locks only: write --locks {options.rwlock}",
        )
