# SPDX-License-Identifier: MIT
"""A lock around a few instructions costs more than what it protects."""

from __future__ import annotations

from hasp.profile.diagnosis.causes.cause import REMEDIES, Cause
from hasp.profile.diagnosis.causes.facts import SiteFacts
from hasp.profile.diagnosis.causes.limits import (
    MATTERS,
    MOST,
    OPERATION,
    TINY,
    TRANSFER,
)
from hasp.profile.diagnosis.causes.queueing import explained, utilisation
from hasp.profile.diagnosis.causes.words import call, number, share, time
from hasp.profile.model.profile import Kind, Operation

# The largest mean hold, as a multiple of TINY: occasional preemption of a holder raises
# the mean of otherwise tiny sections only slightly.
MEAN = 2.0
RARELY = 0.001  # of the acquisitions
# Of the acquisitions: threads that share so hot a lock wait more often, and those that
# have locks of their own change their owner less often.
NEVER = 0.0001
OWN = 0.1
LEAST_USED = 0.1  # of the run, for the hottest lock
OFTEN = 1000.0  # acquisitions per second


def cost_of(one: SiteFacts) -> float:
    """Return what locking costs in ns: operations, cache line transfers and waits."""
    use = one.use
    operations = use.acquisitions * OPERATION + one.owner_changes * TRANSFER
    return operations + one.wait_ns * explained(one)


def is_tiny(one: SiteFacts) -> bool:
    """Return true if nearly all holds are as short as a few instructions."""
    median = one.use.hold.quantile(0.5)
    # Where some sections are long, others wait for them. The sections of the leading
    # function may be long although most sections are those of others.
    mean = max(one.hold_mean, one.each_hold)
    return median is not None and median <= TINY and mean <= MEAN * TINY


def detect(one: SiteFacts) -> Cause | None:
    """Return the cause if holds are nearly as short as an atomic instruction."""
    if not is_tiny(one):
        return None
    reads = one.of(Operation.READ).acquisitions
    if one.site.kind is Kind.RWLOCK and reads > MOST * one.use.acquisitions:
        return None
    if len(one.users) < 2 or one.rate < OFTEN:
        return None
    changes = one.owner_changes + one.use.contended
    if changes < RARELY * one.use.acquisitions:
        return None  # its threads hardly contend
    if one.contended < NEVER and changes < OWN * one.use.acquisitions:
        return None  # each thread has locks of its own, mostly
    if utilisation(one) < LEAST_USED:
        return None  # so short sections take too little time to make threads wait
    saves = one.facts.share(cost_of(one))
    if saves < MATTERS:
        return None
    holder = call(one.holder)
    instead = ""
    advice = (
        "Use an atomic variable, or split the lock",
        "Use an atomic, or split it",
    )
    if len(one.site.locks) > 1:  # a structure that is split already
        advice = (
            "Use more locks (shards), or an atomic variable",
            "Use more locks (shards)",
        )
        instead = REMEDIES["uneven-stripes"]
    return Cause(
        "tiny-section",
        one.name,
        f"{len(one.users)} threads take it {number(one.rate)} times per second in "
        f"{holder}, to hold it for {time(one.use.hold.quantile(0.5))}",
        advice,
        saves,
        (
            f"{share(one.contended)} of {number(one.use.acquisitions)} acquisitions "
            f"waited, {time(one.wait_mean)} each",
        ),
        one.site.number,
        one.holder,
        instead=instead,
    )
