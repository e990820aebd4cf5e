# SPDX-License-Identifier: MIT
"""Carries out `hasp predict`."""

from __future__ import annotations

from collections.abc import Sequence

from hasp.base.errors import HaspError, Interrupted
from hasp.base.output import STDOUT, check_writable, note, write_json
from hasp.base.signals import interrupt_on_signals
from hasp.lab.simulate.simulation import flattened
from hasp.locks import native
from hasp.locks.native import LockInfo
from hasp.predict.answer import Analysis, Answer
from hasp.predict.changes import applied, resolved
from hasp.predict.document import document
from hasp.predict.doubts import doubts
from hasp.predict.load import Load
from hasp.predict.options import Options
from hasp.predict.rebuild import rebuild
from hasp.predict.report import show
from hasp.predict.runs import Runs, variants
from hasp.profile.model.profile import Profile
from hasp.profile.report.source import open_profile

STANDS_IN = "futex"  # for glibc's mutex, whose algorithm it has


def predict(options: Options) -> int:
    """Simulate, and print or write the answer. Returns the exit status."""
    if options.json:
        check_writable(options.json)
    threads = threads_of(options)
    profile = open_profile(options.trace, options.process)
    changes = resolved(profile, options.changes)
    kept = frozenset(change.site for change in changes)
    load = rebuild(profile, threads[-1], options.busy, kept)
    for change in changes:
        applied(load, change)  # raises an error before anything is simulated
    locks = names_of(options.locks, profile)
    answer = answer_for(load, profile, threads, options.machine.topology.cpus)
    interrupt_on_signals()
    with flattened(options.machine) as machine_file:
        runs = Runs(load, options.machine, machine_file, options.rwlock)
        analysis = Analysis(runs, answer, variants(options.seeds), options.jobs)
        try:
            analysis.baseline()
            analysis.curves(locks)
            analysis.saturation()
            analysis.gains(changes)
        except Interrupted:
            note(f"interrupted after {len(runs.done)} simulations")
            if answer.curves:
                _report(options, profile, answer)
            raise
    _report(options, profile, answer)
    return 0


def _report(options: Options, profile: Profile, answer: Answer) -> None:
    said = doubts(profile, answer, options.busy)
    if options.json:
        write_json([document(options, profile, answer, said)], options.json)
    if options.json != STDOUT:
        show(options, profile, answer, said)


def threads_of(options: Options) -> list[int]:
    """Return the numbers of threads to simulate, ascending.

    Raises HaspError for more threads than the machine has CPUs.
    """
    cpus = options.machine.topology.cpus
    if options.threads is None:
        counts, count = {cpus}, 1
        while count < cpus:
            counts.add(count)
            count *= 4
        return sorted(counts)
    if max(options.threads) > cpus:
        raise HaspError(
            f"{options.machine.name} has {cpus} CPUs, too few for "
            f"{max(options.threads)} threads",
            "name fewer threads, or a machine with more CPUs; `hasp simulate --list` "
            "prints them",
        )
    return sorted(set(options.threads))


def names_of(locks: Sequence[LockInfo], profile: Profile) -> list[str]:
    """Return the names of the locks, the reference first."""
    names = [lock.name for lock in locks if not lock.is_reference]
    return list(dict.fromkeys([reference_of(profile), *names]))


def reference_of(profile: Profile) -> str:
    """Return the lock of the recording; glibc's is simulated by its algorithm."""
    known = {lock.name for lock in native.locks() if not lock.is_reference}
    return profile.lock if profile.lock in known else STANDS_IN


def answer_for(
    load: Load, profile: Profile, threads: Sequence[int], cpus: int
) -> Answer:
    """Return an answer without results."""
    return Answer(load, reference_of(profile), threads, cpus, load.rate * 1e9)
