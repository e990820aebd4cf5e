# SPDX-License-Identifier: MIT
"""Why a measure is missing, and what would have it: a rule without it is not judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hasp.advisor.evaluate import Unknown

COUNTERS = "it takes performance counters, which `hasp doctor` tells about"
SWEEP = "it takes several numbers of threads: `hasp advise --threads 1,2,4 -- COMMAND`"
WITH_COMMAND = "it takes a comparison: `hasp advise -- COMMAND`"
FEW = "too few were timed: record without --sample, or for longer"

REASONS: Mapping[str, str] = {
    "misses": COUNTERS,
    "memory_stalls": "Hasp does not count stalled cycles",
    "interleave_gain": "`hasp advise -- COMMAND` tries it on two nodes or more, with "
    "numactl",
    "share_growth": SWEEP,
    "fewer_threads_gain": SWEEP,
    "lock_variation": WITH_COMMAND,
    "spin_outside": "Hasp does not see loops of the program's own",
    "critical_response_share": "Hasp does not know where a request begins and ends",
    "commit_share": "Hasp does not elide locks",
    "false_serialisation": "Hasp does not delegate sections",
    "server_use": "Hasp does not delegate sections",
    "hold_p50_ns": FEW,
    "hold_p99_ns": FEW,
    "hold_tail": FEW,
    "waiters_variation": "too few looks saw anybody wait",
    "preempted_hold_share": "no section was longer than 100 us",
    "runnable_per_cpu": "the run was too short for the sampler",
    "cpu_granted": "the run was too short for the sampler",
}


def reason(measure: str) -> str:
    """Why a measure may be missing."""
    return REASONS.get(measure, "the trace does not have it")


def unmeasured_lines(unknown: Sequence[Unknown]) -> list[str]:
    """`E9.elided: not measured (commit_share): ...`, a line for each reason."""
    rules: dict[str, list[str]] = {}
    measures: dict[str, list[str]] = {}
    for item in unknown:
        for name in item.missing:
            why = reason(name)
            rules.setdefault(why, []).append(item.rule.id)
            measures.setdefault(why, []).append(name)
    return [
        f"{_distinct(rules[why])}: not measured ({_distinct(measures[why])}): {why}"
        for why in rules
    ]


def _distinct(words: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(words))
