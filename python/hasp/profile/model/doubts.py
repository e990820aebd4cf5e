# SPDX-License-Identifier: MIT
"""Reasons to doubt the numbers of a trace, from its header."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import numpy as np

from hasp.base.durations import format_duration
from hasp.profile.trace.format import End, Mode

LOST = {
    # An object without a record is not recognised later: it is counted at every use.
    "lost_locks": "operations were on locks without a record, and count for sites only",
    "lost_lock_counts": "threads have no table of locks, and count for sites only",
    "lost_site_stats": "records of sites did not fit: their operations may be missing",
    "lost_stacks": "stacks did not fit: some locations are not known",
    "lost_lock_order": "pairs of nested locks did not fit: inversions may be missing",
    "lost_others": "other records did not fit",
}
FULL = {
    1: "the trace could not grow (the disk was full, or the file was removed): "
    "recording continued in the existing space",
    2: "the trace reached its size limit: recording continued in the existing space "
    "(raise it with `hasp profile --limit`)",
}


def doubts_of(header: np.void) -> Iterator[str]:
    """Yield one sentence for each reason to doubt the numbers."""
    stopped_by = int(header["stopped_by"])
    if header["windowed"]:
        yield window_words(header)
    if stopped_by:
        yield f"{_signal(stopped_by)} ended the program: the trace ends there"
    elif header["ended"] == End.RUNNING and not header["windowed"]:
        yield "the program is still running or was killed: the trace ends there"
    elif header["ended"] == End.REPLACED:
        yield "the process called exec; the new program has its own trace"
    if int(header["full"]) in FULL:
        yield FULL[int(header["full"])]
    for field, sentence in LOST.items():
        if header[field]:
            yield f"{int(header[field]):,} {sentence}"
    if header["mode"] == Mode.SAMPLED:
        yield (
            f"uncontended acquisitions were sampled, one in "
            f"{max(int(header['sample_of']), 1):,}, and scaled up"
        )
    if not header["samples"]:
        yield "there are no samples: the number of waiting threads is not known"


def window_words(header: np.void) -> str:
    """Return a sentence on the part of the run that the trace covers."""
    begin, latest = header["begin"], header["latest"]
    lasted = max(int(latest["monotonic_ns"]) - int(begin["monotonic_ns"]), 0)
    return (
        f"the trace covers {format_duration(lasted / 1e9)} of the run, beginning "
        f"{format_duration(int(header['skipped_ns']) / 1e9)} after the recording began"
    )


UNSEEN_SHARE, UNSEEN_LIFETIME = 0.1, 0.001


def unseen_doubt(
    unseen_ns: float, waited_ns: float, lifetime_ns: float
) -> Iterator[str]:
    """Yield a sentence if estimated waits are a notable part of all waiting."""
    if (
        unseen_ns > UNSEEN_SHARE * waited_ns
        and unseen_ns > UNSEEN_LIFETIME * lifetime_ns
    ):
        yield (
            f"waits of about {unseen_ns / 1e9:.2g} s began when the lock still seemed "
            f"free, besides {waited_ns / 1e9:.2g} s of measured waits; they are "
            "estimates and not included in the times here"
        )


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
