# SPDX-License-Identifier: MIT
"""Ranks the causes that were found; the first one becomes the verdict."""

from __future__ import annotations

from collections.abc import Sequence

from hasp.profile.diagnosis.causes import catalogue, elsewhere
from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.causes.conditions import ConditionFacts, conditions_of
from hasp.profile.diagnosis.causes.facts import Facts, SiteFacts
from hasp.profile.diagnosis.causes.limits import DISTURBED, MATTERS, MOST, PART, SMALL
from hasp.profile.model.clock import FEWEST_NS
from hasp.profile.model.runtimes import LAUNCHED

# Costs other than waits, which other programs do not change.
STEADY = ("idle-locks", "biased", "shared-line")
MOST_SITES = 200  # sites that are examined, those with the longest waits


def ranked(facts: Facts) -> tuple[Cause, ...]:
    """Return the causes, the first of which is the verdict.

    Faults come first, then costs by what their remedies save, then what remains.
    """
    faults = [cause for detect in catalogue.FAULTS for cause in detect(facts)]
    of_runtimes = _sites_of_runtimes(facts)
    faults = [cause for cause in faults if cause.site not in of_runtimes]
    stuck = {cause.site for cause in faults if cause.id == "stuck"}
    left_out = stuck | of_runtimes
    # Before the sampler first looked, a killed program has no duration.
    if facts.profile.duration_ns < FEWEST_NS:
        return (*faults,) if faults else (elsewhere.too_short(),)
    found = [cause for cause in _costs(facts) if cause.site not in left_out]
    costs = [cause for cause in found if cause.saves >= MATTERS]
    if costs and not faults and drowned(facts, costs[0]):
        return (elsewhere.detect(facts), *costs)
    if faults or costs:
        return (*faults, *costs)
    # Threads wait long, but the CPUs are full: the locks are not ruled out.
    if facts.work_waited >= PART and found:
        return tuple(found[:1])
    return (elsewhere.detect(facts),)


def _sites_of_runtimes(facts: Facts) -> set[int | None]:
    """Return the sites of the locks of virtual machines that run the program.

    Its user can change the locks of the program only, which Hasp does not see.
    """
    runtimes = facts.profile.unseen_runtimes
    libraries = {one.evidence for one in runtimes if one.id in LAUNCHED}
    return {one.number for one in facts.profile.sites if one.module in libraries}


def drowned(facts: Facts, largest: Cause) -> bool:
    """Return true if other programs may have caused the waits that a remedy saves."""
    granted = facts.granted
    if granted is None or largest.id in STEADY:
        return False
    return granted < DISTURBED and largest.saves < SMALL


def _costs(facts: Facts) -> list[Cause]:
    """Return the best cause of each site, the largest saving first."""
    sites = [one for one in facts.sites if not one.is_gate]
    sites = sorted(sites, key=lambda one: -one.wait_ns)[:MOST_SITES]
    conditions = conditions_of(facts)
    costs = []
    for one in sites:
        own = of_conditions([other for other in conditions if belongs(other, one)])
        best = chosen([*own, *of_site(one)])
        if best:
            costs.append(best)
    known = {cause.site for cause in costs}
    for condition in conditions:
        best = chosen(of_conditions([condition]))
        if best and condition.site.number not in known:
            costs.append(best)
    unique = {id(cause): cause for cause in costs}.values()
    return sorted(unique, key=lambda cause: -cause.saves)


def belongs(condition: ConditionFacts, one: SiteFacts) -> bool:
    """Return true if waits for the condition release and reacquire this mutex."""
    return any(other is one for other in condition.mutexes)


def of_conditions(some: Sequence[ConditionFacts]) -> list[Cause]:
    """Return all causes of condition variables of one mutex, special ones first."""
    detectors = catalogue.OF_CONDITIONS
    return [cause for find in detectors for one in some if (cause := find(one))]


def of_site(one: SiteFacts) -> list[Cause]:
    """Return all causes of one site, special ones first."""
    return [cause for detect in catalogue.OF_SITES if (cause := detect(one))]


def chosen(found: Sequence[Cause]) -> Cause | None:
    """Return the first cause that explains most of what the largest one saves.

    A saving that matters comes before one that does not.
    """
    if not found:
        return None
    most = max(cause.saves for cause in found)
    if most >= MATTERS:
        found = [cause for cause in found if cause.saves >= MATTERS]
    return next(cause for cause in found if cause.saves >= MOST * most)
