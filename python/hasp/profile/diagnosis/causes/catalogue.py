# SPDX-License-Identifier: MIT
"""All detectors, grouped by what they examine."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hasp.profile.diagnosis.causes import (
    allocation,
    biased,
    blocked_readers,
    blocking_section,
    convoy,
    herd,
    idle_locks,
    lock_order,
    long_section,
    misuse,
    needless_waits,
    nested_locks,
    preempted_holder,
    shared_line,
    spinning,
    starved_writers,
    stuck,
    tiny_section,
    trylock_loop,
    turn_taking,
    uneven_stripes,
    unfair,
)
from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.causes.conditions import ConditionFacts
from hasp.profile.diagnosis.causes.facts import Facts, SiteFacts

Detector = Callable[[SiteFacts], Cause | None]

# Errors, whatever they cost; the worst first.
FAULTS: Sequence[Callable[[Facts], list[Cause]]] = (
    stuck.detect,
    misuse.detect,
    lock_order.detect,
)
# Special explanations first: where two explain the same waits, the earlier one wins.
OF_SITES: Sequence[Detector] = (
    spinning.detect,
    trylock_loop.detect,
    preempted_holder.detect,
    starved_writers.detect,
    blocked_readers.detect,
    uneven_stripes.detect,
    allocation.detect,
    blocking_section.detect,
    nested_locks.detect,
    unfair.detect,
    shared_line.detect,
    convoy.detect,
    tiny_section.detect,
    biased.detect,
    idle_locks.detect,
    long_section.detect,
)
OF_CONDITIONS: Sequence[Callable[[ConditionFacts], Cause | None]] = (
    needless_waits.detect_unchecked,
    herd.detect,
    needless_waits.detect,
    turn_taking.detect,
)
