# SPDX-License-Identifier: MIT
"""Locks that are acquired in both orders: a deadlock that has not happened yet."""

from __future__ import annotations

from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.causes.facts import Facts
from hasp.profile.diagnosis.causes.holders import function_of
from hasp.profile.diagnosis.causes.words import SHORTEST_NAME, call, short_site, within
from hasp.profile.model.profile import Event, OrderedPair, Site

INVERSIONS = ("order-inversion", "reader-inversion")
OTHER_NAME = SHORTEST_NAME + 12  # characters of the other lock's name


def detect(facts: Facts) -> list[Cause]:
    """Return a cause for each inversion; the model leaves out guarded ones."""
    events = [event for event in facts.profile.events if event.kind in INVERSIONS]
    return [_cause(facts, event) for event in events]


def _cause(facts: Facts, event: Event) -> Cause:
    profile = facts.profile
    first, second = profile.site_of(event.lock), profile.site_of(event.other)
    forth, back = _edge(facts, first, second), _edge(facts, second, first)
    here = function_of(forth.stack if forth else event.stack)
    there = function_of(back.stack) if back else ""
    name = first.name if first else f"lock {event.lock}"
    other = short_site(second.name, OTHER_NAME) if second else f"lock {event.other}"
    if second is first:
        problem = f"two of these locks are acquired in both orders{within(here)}"
        advice: tuple[str, ...] = ("Order them by address",)
    elif there:
        problem = f"{call(here)} takes it before {other}, {call(there)} after it"
        advice = (
            "Take both in one order, or they will deadlock",
            "Take both in one order",
        )
    else:
        who = call(here) if here else "a thread"
        problem = f"{who} takes it as part of a cycle with {other}"
        advice = ("Take the locks in one order",)
    return Cause(
        "lock-order",
        name,
        problem,
        advice,
        0.0,
        (
            "threads that do so at the same time wait for each other forever; it did "
            "not happen in this run",
        ),
        first.number if first else None,
        here,
        fault=True,
    )


def _edge(facts: Facts, outer: Site | None, inner: Site | None) -> OrderedPair | None:
    if outer is None or inner is None:
        return None
    profile = facts.profile
    for edge in profile.lock_order:
        from_site, to_site = profile.site_of(edge.outer), profile.site_of(edge.inner)
        if from_site is outer and to_site is inner and not edge.by_try:
            return edge
    return None
