# SPDX-License-Identifier: MIT
"""Readers of a rwlock wait for writers, or for each other's cache line."""

from __future__ import annotations

from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.causes.facts import SiteFacts
from hasp.profile.diagnosis.causes.limits import MATTERS, OPERATION, TINY, TRANSFER
from hasp.profile.diagnosis.causes.sleepers import changes_at_most
from hasp.profile.diagnosis.causes.tiny_section import MEAN
from hasp.profile.diagnosis.causes.words import call, number, share, time, within
from hasp.profile.model.profile import Kind, Operation

APART = "bravo"  # locks whose readers write to lines of their own


def detect(one: SiteFacts) -> Cause | None:
    """Return the cause if reads are delayed by writes, or by counting readers."""
    if one.site.kind is not Kind.RWLOCK:
        return None
    writes, reads = one.of(Operation.WRITE), one.of(Operation.READ)
    if not reads.acquisitions:
        return None
    counts = [one.thread_use(n).acquisitions for n in one.site.threads]
    # A thread that reads alone keeps the lock's cache line.
    moves = min(reads.acquisitions, changes_at_most(counts))
    counting = moves * (OPERATION + TRANSFER)
    if counting > reads.wait.total_ns and counting > writes.wait.total_ns:
        return _counting(one, counting)
    if not writes.acquisitions:
        return None
    # Where all threads also write, more writes than reads may wait for writes.
    mostly = reads.acquisitions >= writes.acquisitions
    writing_blocks = mostly and writes.hold.total_ns >= reads.hold.total_ns
    if reads.contended < writes.contended and not writing_blocks:
        return None
    write_hold = writes.hold.mean_ns or 0.0
    writing = writes.hold.total_ns
    if write_hold <= MEAN * TINY or writing < MATTERS * one.facts.busy_ns:
        return None  # nothing is left to shorten
    # Writers wait for the same reason, if it is hardly ever held by readers.
    waited = reads.wait.total_ns
    if writing >= reads.hold.total_ns:
        waited += writes.wait.total_ns
    elif waited < writes.wait.total_ns:
        return None
    # The sections of writers last longer than those of readers.
    named = [holder for holder in one.site.holders if holder.mean_ns]
    writer = max(named, key=lambda holder: holder.mean_ns or 0, default=None)
    holder = writer.function if writer else one.holder
    return Cause(
        "blocked-readers",
        one.name,
        f"readers wait {time(reads.wait.mean_ns)} each time while {call(holder)} "
        f"writes, {time(write_hold)} each time",
        (
            "Prepare the change before locking, then swap it in",
            "Shorten the writes",
        ),
        one.facts.share(waited),
        (
            f"{share(reads.contended / reads.acquisitions)} of "
            f"{number(reads.acquisitions)} reads waited for one of "
            f"{number(writes.acquisitions)} writes",
        ),
        one.site.number,
        holder,
    )


def _counting(one: SiteFacts, cost: float) -> Cause | None:
    reads = one.of(Operation.READ)
    hold = reads.hold.quantile(0.5)
    if hold is None or hold > OPERATION + 4 * TRANSFER or len(one.users) < 2:
        return None
    if one.facts.profile.algorithm(Kind.RWLOCK).startswith(APART):
        return None
    return Cause(
        "blocked-readers",
        one.name,
        f"{len(one.users)} threads take it to read {number(one.rate)} times per "
        f"second{within(one.holder)}, for {time(hold)} each time",
        (
            "Publish a copy that is read without a lock (RCU)",
            "Read without a lock",
        ),
        one.facts.share(cost),
        ("each read writes the lock's cache line, which moves between the CPUs",),
        one.site.number,
        one.holder,
        waits=False,
    )
