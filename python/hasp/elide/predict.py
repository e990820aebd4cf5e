# SPDX-License-Identifier: MIT
"""Predict what elision gains: replay a recorded load on a machine with transactions."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from statistics import median

from hasp.base.errors import HaspError, Interrupted
from hasp.base.output import note
from hasp.base.signals import interrupt_on_signals
from hasp.elide.answer import Data, LockAnswer, Outlook, Point, Prediction
from hasp.elide.configurations import ELIDE, FINE, Configuration, simulated
from hasp.elide.options import Options
from hasp.lab.simulate.machines.machine import Machine
from hasp.lab.simulate.simulation import flattened
from hasp.locks.kinds import MUTEX
from hasp.predict.answer import Range
from hasp.predict.calibration import calibrated
from hasp.predict.changes import visits_per_section
from hasp.predict.load import PARTS_MOST, Load, Variant, parts_of
from hasp.predict.predict import reference_of, refuse_threads
from hasp.predict.rebuild import rebuild
from hasp.predict.runs import LINES, SECTIONS, Case, Outcome, Runs
from hasp.profile.diagnosis.obstacles import Obstacles, obstacles_of
from hasp.profile.model.profile import Kind, Profile, Site
from hasp.profile.report.words import plural

SITES_MOST = 32
CONFLICTS_MATTER = 0.01  # share of the sections of a lock
RARE_SECTIONS = 60  # of a site whose sections matter; a simulation contains so many
RARE_MATTERS = 0.01  # share of a thread's time; from this on, they matter
LONGER_MOST = 16
USED = 0.005  # share of the run; a site held for less is not simulated


def predict(options: Options, profile: Profile) -> Prediction:
    """Simulate the program; after Ctrl-C, return the results so far.

    Raises Interrupted if there are none, and HaspError for a machine or a profile that
    does not have what is needed.
    """
    refuse(options)
    cpus = options.machine.topology.cpus
    obstacles = obstacles_of(profile)
    most = max(options.threads or (cpus,))
    load = _load(profile, most, options.busy, obstacles)
    threads = _threads(options, load)
    prediction = Prediction(
        load,
        options.lock,
        options.machine.name,
        cpus,
        threads,
        (Data.OWN, Data.SHARED) if options.conflicts is None else (Data.GIVEN,),
        any(one.inner_tries for one in obstacles.values()),
    )
    if load is None:
        return prediction
    prediction.left_out = max(0, len(_used(profile)) - SITES_MOST)
    prediction.crowded = list(_crowded(options, load))
    interrupt_on_signals()
    with flattened(options.machine) as machine_file:
        runs = Runs(load, options.machine, machine_file, longer=_longer(load))
        try:
            _simulate(runs, options, prediction, profile, obstacles)
        except Interrupted as problem:
            prediction.ending = problem
            note(f"interrupted after {plural(prediction.simulations, 'simulation')}")
            if not prediction.points:
                raise
    return prediction


def refuse(options: Options) -> None:
    """Raise HaspError for a machine without transactions, or with too few CPUs."""
    refuse_machine(options.machine)
    if options.threads:
        refuse_threads(options.machine, options.threads)


def refuse_machine(machine: Machine) -> None:
    """Raise HaspError for a machine without transactions."""
    if not machine.transactional:
        raise HaspError(
            f"{machine.name} has no hardware transactions, so it elides no lock",
            "name a machine that has: i7-4770, haswell-72 or xeon-64",
        )


def _load(
    profile: Profile, most: int, busy: bool, obstacles: dict[int, Obstacles]
) -> Load | None:
    """Return the load with its obstacles; None if no mutex is used enough."""
    kept = frozenset(site.number for site in _used(profile)[:SITES_MOST])
    try:
        load = rebuild(profile, most, busy, kept)
    except HaspError:
        if kept:
            raise
        return None
    nothing = Obstacles()
    sites = []
    for site in load.sites:
        found = obstacles.get(site.number, nothing)
        sites.append(replace(site, calls=found.never, tries=found.inner_tries))
    return replace(load, sites=tuple(sites))


def _used(profile: Profile) -> list[Site]:
    return [site for site in profile.sites if _is_used(site, profile)]


def _crowded(options: Options, load: Load) -> Iterator[tuple[str, float]]:
    """Yield the sites whose locks are too many for the share of conflicts asked for.

    With each, the share that is simulated. Shares below CONFLICTS_MATTER count as none.
    """
    for one in _variants(options)[-1].values():
        for site in load.sites:
            share = 1 / parts_of(site, one)
            if share > max(1 / one.parts, CONFLICTS_MATTER):
                yield site.name, share


def _is_used(site: Site, profile: Profile) -> bool:
    total = site.total
    if site.kind is not Kind.MUTEX or total is None or not total.hold.mean_ns:
        return False
    return total.hold.total_ns >= USED * profile.duration_ns


def _threads(options: Options, load: Load | None) -> tuple[int, ...]:
    if options.threads is not None:
        return tuple(sorted(set(options.threads)))
    cpus = options.machine.topology.cpus
    recorded = load.workers if load else 1
    return tuple(sorted({1, min(recorded, cpus), cpus}))


def _longer(load: Load) -> int:
    """Return how much longer runs must be to contain enough of the rare sections."""
    needed = 1.0
    for role in (role for role in load.roles if role.scales):
        numbers = visits_per_section(load, role)
        held = [n * ns for n, ns in zip(numbers, role.holds_ns, strict=True)]
        whole = role.gap_ns + role.idle_ns + sum(held)
        for number, ns in zip(numbers, held, strict=True):
            if number and ns >= RARE_MATTERS * whole:
                needed = max(needed, RARE_SECTIONS / (SECTIONS * number))
    return round(min(needed, LONGER_MOST))


def _variants(options: Options) -> list[dict[Data, Variant]]:
    """Return the variants of what a recording leaves open, each by assumption."""
    if options.conflicts is None:
        parts = {Data.OWN: PARTS_MOST, Data.SHARED: 1}
    else:
        parts = {Data.GIVEN: options.parts}
    return [
        {data: Variant(varies, lines, seed, n) for data, n in parts.items()}
        for seed, (lines, varies) in enumerate(product(LINES, (True, False)), 1)
    ]


def _simulate(
    runs: Runs,
    options: Options,
    prediction: Prediction,
    profile: Profile,
    obstacles: dict[int, Obstacles],
) -> None:
    ends = time.monotonic() + (options.budget_s or float("inf"))
    reference = reference_of(profile, MUTEX)
    runs = runs.of(calibrated(runs, reference, options.jobs))
    prediction.load = runs.load
    configurations = simulated(prediction.has_inner_trylocks)
    variants = _variants(options)
    prediction.planned = len(variants)
    done: list[dict[Data, Variant]] = []
    for variant in variants:
        if done and time.monotonic() >= ends:
            note(f"the budget ended after {len(done)} of {len(variants)} variants")
            break
        cases = [
            _case(prediction, configuration, n, each)
            for configuration in configurations
            for n in prediction.threads
            for each in variant.values()
        ]
        workers = runs.load.workers
        if workers <= prediction.cpus:
            cases += [Case(reference, workers, each) for each in variant.values()]
        runs.run(cases, options.jobs)
        done.append(variant)
        prediction.simulations = len(runs.done)
        prediction.variants = len(done)
        _fill(prediction, runs.done, done, reference)
        found = [
            _lock(prediction, runs.done, done, at, profile, obstacles)
            for at, site in enumerate(runs.load.sites)
            if not site.rwlock
        ]
        prediction.locks = sorted(found, key=lambda one: -one.matters)


def _case(
    prediction: Prediction, one: Configuration, threads: int, variant: Variant
) -> Case:
    return Case(one.lock(prediction.lock), threads, variant, scheme=one.scheme)


def _fill(
    prediction: Prediction,
    known: dict[Case, Outcome],
    done: Sequence[dict[Data, Variant]],
    reference: str,
) -> None:
    assert prediction.load
    for configuration, threads, data in product(
        simulated(prediction.has_inner_trylocks),
        prediction.threads,
        prediction.assumptions,
    ):
        ratios = []
        for variant in done:
            case = _case(prediction, configuration, threads, variant[data])
            base = _case(prediction, FINE, threads, variant[data])
            least = max(known[base].throughput, 1e-12)
            ratios.append(known[case].throughput / least)
        point = Point(configuration, threads, data)
        prediction.points[point] = Range.of(ratios)
    workers, rate = prediction.load.workers, prediction.load.rate
    cases = [Case(reference, workers, v) for each in done for v in each.values()]
    rates = [known[case].throughput / rate for case in cases if case in known]
    prediction.baseline = Range.of(rates) if rates else None


def _lock(
    prediction: Prediction,
    known: dict[Case, Outcome],
    done: Sequence[dict[Data, Variant]],
    at: int,
    profile: Profile,
    obstacles: dict[int, Obstacles],
) -> LockAnswer:
    assert prediction.load
    site = prediction.load.sites[at]
    recorded = next(one for one in profile.sites if one.number == site.number)
    acquisitions = recorded.total.acquisitions if recorded.total else 0
    return LockAnswer(
        site.number,
        site.name,
        len(recorded.locks),
        acquisitions / max(profile.duration_ns, 1) * 1e9,
        (recorded.total and recorded.total.hold.mean_ns) or site.hold_ns,
        site.misses,
        obstacles.get(site.number, Obstacles()),
        {
            data: _outlook(prediction, known, [one[data] for one in done], at)
            for data in prediction.assumptions
        },
    )


def _outlook(
    prediction: Prediction,
    known: dict[Case, Outcome],
    variants: Sequence[Variant],
    at: int,
) -> Outlook:
    most = prediction.most
    elided = [known[_case(prediction, ELIDE, most, v)].sites[at] for v in variants]
    sections = max(sum(one.sections for one in elided), 1)
    fines = [known[_case(prediction, FINE, most, v)] for v in variants]
    fine = [one.sites[at] for one in fines]
    busy = median(one.busy[at] for one in fines)
    causes = [cause for cause in elided[0].ends if cause != "committed"]
    return Outlook(
        Range.of([one.elided / max(one.sections, 1) for one in elided]),
        {cause: sum(o.ends[cause] for o in elided) / sections for cause in causes},
        busy,
        Range.of([one.taken for one in fine]),
        Range.of([one.taken for one in elided]),
    )
