# SPDX-License-Identifier: MIT
"""Threads call trylock again and again instead of waiting."""

from __future__ import annotations

from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.causes.facts import SiteFacts
from hasp.profile.diagnosis.causes.limits import FEW, MOST, OPERATION, TRANSFER
from hasp.profile.diagnosis.causes.words import number, share, time, within

# Failures in a row by one thread that show a loop rather than a single attempt.
LOOP = 8
# After a longer time, in ns, the recorder counts only threads that slept until the next
# try, so a mean above it shows sleep.
AT_ONCE = 100_000.0


def detect(one: SiteFacts) -> Cause | None:
    """Return the cause if trylocks fail many times in a row, or the thread sleeps."""
    use = one.use
    if not use.trylocks or not use.trylock_failures:
        return None
    if _sleeps(one):
        return _asleep(one)
    if use.trylock_failures < MOST * use.trylocks or use.longest_failing_run < LOOP:
        return None
    return _cause(
        one,
        f"{share(use.trylock_failures / use.trylocks)} of all trylocks",
        one.facts.share(_spent(one)),
    )


def _sleeps(one: SiteFacts) -> bool:
    """Return true if a thread whose trylock fails mostly sleeps before the next one.

    The sleeps that matter are longer than the sections: the lock is free meanwhile.
    """
    use = one.use
    each = use.trying_ns / use.trylock_failures
    return use.trylock_failures >= FEW and each >= max(AT_ONCE, one.hold_mean)


def _asleep(one: SiteFacts) -> Cause:
    trying = float(one.use.trying_ns)
    each = time(trying / one.use.trylock_failures)
    whole = max(one.facts.active_ns + trying, one.facts.busy_ns)
    return _cause(
        one, f"and the thread sleeps {each} before the next try", trying / whole
    )


def _cause(one: SiteFacts, more: str, saves: float) -> Cause:
    use = one.use
    rate = use.trylock_failures / one.facts.seconds
    return Cause(
        "trylock-loop",
        one.name,
        f"{number(rate)} trylocks per second fail{within(one.holder)}, {more}",
        ("Block in lock instead of polling, or do other work", "Block in lock"),
        saves,
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
