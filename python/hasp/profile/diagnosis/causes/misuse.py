# SPDX-License-Identifier: MIT
"""Calls that the pthread standard forbids."""

from __future__ import annotations

from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.causes.facts import Facts
from hasp.profile.diagnosis.causes.holders import function_of
from hasp.profile.diagnosis.causes.words import call, time
from hasp.profile.model.profile import Event

# Kind of event -> problem and remedy.
WORDS = {
    "self-deadlock": (
        "{where} locks it while its thread already holds it, and waits for itself",
        "Lock it once, or make it recursive",
    ),
    "foreign-unlock": (
        "{where} unlocks it while another thread holds it",
        "Unlock in the thread that locked, or use a semaphore",
    ),
    "unlock-refused": (
        "{where} unlocks it without holding it; the call fails with EPERM",
        "Unlock only what the thread holds",
    ),
    "destroyed-held": (
        "{where} destroys it while a thread holds it",
        "Destroy it after the last unlock",
    ),
    "initialised-held": (
        "it is initialised again, or its memory is reused, while held ({where})",
        "Initialise it once; free it after the last unlock",
    ),
    "destroyed-waited": (
        "{where} destroys it while threads wait for it",
        "Destroy it when no thread uses it any more",
    ),
    "relock-refused": (
        "{where} locks it while its thread already holds it; the call fails (EDEADLK)",
        "Lock it once, or make it recursive",
    ),
}


def detect(facts: Facts) -> list[Cause]:
    """Return a cause for each kind of misuse of each site, the most frequent first."""
    seen: dict[tuple[str, int], Event] = {}
    for event in facts.profile.events:
        if event.kind not in WORDS:
            continue
        site = facts.profile.site_of(event.lock)
        key = (event.kind, site.number if site else -event.lock)
        if key not in seen or event.count > seen[key].count:
            seen[key] = event
    ordered = sorted(seen.values(), key=lambda event: -event.count)
    return [_cause(facts, event) for event in ordered]


def _cause(facts: Facts, event: Event) -> Cause:
    site = facts.profile.site_of(event.lock)
    where = function_of(event.stack)
    problem, advice = WORDS[event.kind]
    times = f" ({event.count:,} times)" if event.count > 1 else ""
    return Cause(
        "misuse",
        site.name if site else f"lock {event.lock}",
        problem.format(where=call(where) if where else "a thread") + times,
        (advice,),
        0.0,
        (f"{event.kind}: {event.count:,} times, first after {time(event.at_ns)}",),
        site.number if site else None,
        where,
        fault=True,
    )
