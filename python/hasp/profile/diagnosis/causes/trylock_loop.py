# SPDX-License-Identifier: MIT
"""Threads call trylock again and again instead of waiting."""

from __future__ import annotations

from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.causes.facts import SiteFacts
from hasp.profile.diagnosis.causes.limits import MOST, OPERATION, TRANSFER
from hasp.profile.diagnosis.causes.words import number, share, within

# Failures in a row by one thread that show a loop rather than a single attempt.
LOOP = 8


def detect(one: SiteFacts) -> Cause | None:
    """Return the cause if most trylocks fail, many times in a row."""
    use = one.use
    if not use.trylocks or use.trylock_failures < MOST * use.trylocks:
        return None
    if use.longest_failing_run < LOOP:
        return None
    rate = use.trylock_failures / one.facts.seconds
    return Cause(
        "trylock-loop",
        one.name,
        f"{number(rate)} trylocks per second fail{within(one.holder)}, "
        f"{share(use.trylock_failures / use.trylocks)} of all trylocks",
        ("Block in lock instead of polling, or do other work", "Block in lock"),
        one.facts.share(_spent(one)),
        (f"up to {number(use.longest_failing_run)} trylocks fail in a row",),
        one.site.number,
        one.holder,
    )


def _spent(one: SiteFacts) -> float:
    """Return the time spent polling in ns.

    Each failure costs a cache line transfer. A thread that polls also does whatever its
    loop does: its time outside sections counts by the share of its failing attempts.
    """
    least = one.use.trylock_failures * (OPERATION + TRANSFER)
    if one.use.trying_ns:
        return float(one.use.trying_ns)
    looping = 0.0
    for thread in one.users:
        mine = one.thread_use(thread.number)
        attempts = mine.acquisitions + mine.trylock_failures
        outside = max(thread.cpu_ns - thread.section_ns, 0)
        looping += outside * mine.trylock_failures / attempts if attempts else 0.0
    return max(float(least), looping)
