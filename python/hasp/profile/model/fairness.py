# SPDX-License-Identifier: MIT
"""How evenly threads share one lock."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fairness:
    """The thread that used a lock most, and acquisitions past waiting threads."""

    lock: int  # number; of the site's locks, the one with the longest waits
    threads: int  # that acquired it
    top_thread: int | None  # number of the thread with the largest share of hold time
    top_acquisitions: float | None  # share of the acquisitions by one thread, largest
    top_hold: float | None  # share of the hold time by one thread, the largest
    # Acquisitions while another thread had been waiting for 10 ms or longer, counted
    # by the sampler in full mode: a lower bound. None if they were not counted.
    overtaken: int | None = None  # by any thread
    retaken: int | None = None  # by the thread that had it before


@dataclass(frozen=True)
class Stripes:
    """How evenly the load is spread over the locks of a site with several locks."""

    locks: int  # acquired at least once
    hottest: int  # number of the lock with the most acquisitions
    hottest_acquisitions: float  # its share of the site's acquisitions
    most_waited: int  # number of the lock with the longest waits
    hottest_wait: float | None  # its share of the site's wait time; None without waits
