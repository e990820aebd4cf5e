# SPDX-License-Identifier: MIT
"""What a trace's header says against its numbers, in words."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import numpy as np

from hasp.profile.trace.format import End, Mode

LOST = {
    # What has no record is not known again: it counts each time that it is met.
    "lost_locks": "times a lock was met that has no record of its own: such locks "
    "count under their sites",
    "lost_counts": "threads have no table of single locks: what they did is in the "
    "sums of sites",
    "lost_uses": "times what a thread did at a site did not fit: it may be missing",
    "lost_stacks": "times a stack did not fit: some places are not known",
    "lost_edges": "times a pair of nested locks did not fit: an inversion may be "
    "missing",
    "lost_others": "other records did not fit",
}
FULL = {
    1: "there was no more space for the trace (a full disk, or it was removed): "
    "recording went on in the space that it had",
    2: "the trace reached its limit: recording went on in the space that it had "
    "(`hasp profile --limit` allows more)",
}


def doubts_of(header: np.void) -> Iterator[str]:
    """One sentence for each reason to doubt the numbers."""
    stopped_by = int(header["stopped_by"])
    if stopped_by:
        yield f"the program was ended by {_signal(stopped_by)}: the trace goes up to it"
    elif header["ended"] == End.RUNNING:
        yield "the program still runs, or was killed: the trace goes up to that moment"
    elif header["ended"] == End.REPLACED:
        yield "the program replaced itself by another (exec), which has its own trace"
    if int(header["full"]) in FULL:
        yield FULL[int(header["full"])]
    for field, sentence in LOST.items():
        if header[field]:
            yield f"{int(header[field]):,} {sentence}"
    if header["mode"] == Mode.SAMPLED:
        yield (
            f"acquisitions without contention were sampled, one of "
            f"{max(int(header['sample_of']), 1):,}, and scaled up"
        )
    if not header["looks"]:
        yield "the sampler never looked: how many threads waited is not known"


UNSEEN_SHARE, UNSEEN_LIVES = 0.1, 0.001


def unseen_doubt(unseen_ns: float, waited_ns: float, lives_ns: float) -> Iterator[str]:
    """Where waits that are only estimated are a part of all that counts."""
    if unseen_ns > UNSEEN_SHARE * waited_ns and unseen_ns > UNSEEN_LIVES * lives_ns:
        yield (
            f"about {unseen_ns / 1e9:.2g} s of waits began when the lock still looked "
            f"free, beside {waited_ns / 1e9:.2g} s that were measured; they are only "
            "estimated, and not part of the times here"
        )


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
