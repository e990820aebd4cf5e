# SPDX-License-Identifier: MIT
"""Writers of a rwlock wait while readers keep coming."""

from __future__ import annotations

from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.causes.facts import NONE, SiteFacts
from hasp.profile.diagnosis.causes.limits import MOST
from hasp.profile.diagnosis.causes.words import number, time, within
from hasp.profile.model.profile import Kind, Operation

# The number of reads in a row, without a gap, that a writer waits for. If it went next,
# it would wait for the rest of those that overlap, which is less than two.
READS_IN_A_ROW = 2.0
KIND = "PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP"


def detect(one: SiteFacts) -> Cause | None:
    """Return the cause if writers wait for many reads, and readers hardly wait."""
    if one.site.kind is not Kind.RWLOCK:
        return None
    writes, reads = one.of(Operation.WRITE), one.of(Operation.READ)
    read_hold = reads.hold.mean_ns or 0.0
    write_hold = writes.hold.mean_ns or 0.0
    waited = writes.wait.mean_ns or 0.0
    if not reads.acquisitions or waited < READS_IN_A_ROW * max(read_hold, write_hold):
        return None
    if writes.wait.total_ns < reads.wait.total_ns:
        return None
    # While they keep it from a writer, readers hold it nearly all the time.
    if reads.hold.total_ns < MOST * _longest(one):
        return None
    seen = one.site.readers_writers
    if seen and seen.writers_for_readers < seen.readers_for_writer:
        return None
    waiting = max(one.parts, key=lambda part: part.wait_ns, default=None)
    writer = waiting.function if waiting else one.holder
    return Cause(
        "starved-writers",
        one.name,
        f"writers{within(writer)} wait {time(waited)} each time for reads of "
        f"{time(read_hold)} that keep coming",
        (
            f"Prefer writers ({KIND})",
            "Prefer writers (pthread_rwlockattr_setkind_np)",
            "Prefer writers",
        ),
        one.facts.share(writes.wait.total_ns),
        (
            f"{number(reads.acquisitions)} reads of {time(read_hold)}, "
            f"{number(writes.acquisitions)} writes of {time(write_hold)}",
            f"{KIND} prefers them; glibc ignores the kind without NONRECURSIVE",
        ),
        one.site.number,
        writer,
    )


def _longest(one: SiteFacts) -> int:
    """Return the sum of waits in ns of the writer that waited longest."""
    threads = one.site.threads.values()
    waits = (stats.get(Operation.WRITE, NONE).wait.total_ns for stats in threads)
    return max(waits, default=0)
