# SPDX-License-Identifier: MIT
"""Finds the energy counters of this host."""

from __future__ import annotations

from functools import cache

from hasp.base.energy import perf_events, powercap
from hasp.base.energy.meter import Meter


@cache  # perf events stay open
def find() -> Meter | None:
    """Return this host's meter; None if there is none, or it is not readable."""
    return powercap.find() or perf_events.find()
