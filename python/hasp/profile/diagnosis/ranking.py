# SPDX-License-Identifier: MIT
"""From all causes that were found to the one to name first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hasp.profile.diagnosis.causes import catalogue, elsewhere
from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.causes.conditions import conditions_of
from hasp.profile.diagnosis.causes.facts import Facts, SiteFacts
from hasp.profile.diagnosis.causes.limits import MATTERS, MOST

MOST_SITES = 200  # sites that are examined, those with the longest waits


def ranked(facts: Facts) -> tuple[Cause, ...]:
    """Return the causes, the first of which is the verdict.

    Faults come first, then costs by what their remedies save, then what remains.
    """
    faults = [cause for detect in catalogue.FAULTS for cause in detect(facts)]
    costs = [cause for cause in _costs(facts) if cause.saves >= MATTERS]
    costs.sort(key=lambda cause: -cause.saves)
    if faults or costs:
        return (*faults, *costs)
    return (elsewhere.detect(facts),)


def _costs(facts: Facts) -> Iterable[Cause]:
    sites = sorted(facts.sites, key=lambda one: -one.wait_ns)[:MOST_SITES]
    for one in sites:
        best = chosen(of_site(one))
        if best:
            yield best
    for condition in conditions_of(facts):
        found = [cause for d in catalogue.OF_CONDITIONS if (cause := d(condition))]
        if best := chosen(found):
            yield best


def of_site(one: SiteFacts) -> list[Cause]:
    """Return all causes of one site, special ones first."""
    return [cause for detect in catalogue.OF_SITES if (cause := detect(one))]


def chosen(found: Sequence[Cause]) -> Cause | None:
    """Return the first cause that explains most of what the largest one saves."""
    if not found:
        return None
    most = max(cause.saves for cause in found)
    return next(cause for cause in found if cause.saves >= MOST * most)
