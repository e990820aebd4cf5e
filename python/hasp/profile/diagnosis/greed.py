# SPDX-License-Identifier: MIT
"""Measures of a thread that keeps a lock from the others."""

from __future__ import annotations

from typing import NamedTuple

from hasp.profile.diagnosis.gain import ONE_BY_ONE
from hasp.profile.model.profile import Site, sum_of


class Greed(NamedTuple):
    """The measures of a site; None if fewer than two, or too many threads used it."""

    greedy_share: float | None  # of the hold time, by the thread that holds it longest
    passed_over: float | None  # mean wait of the others per mean hold of that thread


def greed_at(site: Site) -> Greed:
    """Return the greediest thread's share, and how often it passes waiting threads."""
    if not 1 < len(site.threads) <= ONE_BY_ONE:
        return Greed(None, None)
    uses = [own for stats in site.threads.values() if (own := sum_of(stats.values()))]
    held = sum(own.hold.total_ns for own in uses)
    if not held:
        return Greed(None, None)
    greedy = max(uses, key=lambda own: own.hold.total_ns)
    others = [own for own in uses if own is not greedy]
    waits = sum(own.contended for own in others)
    share = greedy.hold.total_ns / held
    hold = greedy.hold.total_ns / max(1, greedy.acquisitions)
    if not waits or not hold:
        return Greed(share, 0.0)
    wait = sum(own.wait.total_ns for own in others) / waits
    return Greed(share, wait / hold)
