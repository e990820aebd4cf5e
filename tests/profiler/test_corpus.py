# SPDX-License-Identifier: MIT
"""The advisor finds the intended bottlenecks of each corpus program, and no others.

The programs are profiled on this machine, which may be busy, so each row has three
attempts.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from profiler.corpus import Row, advice_of, rows
from profiler.recording import profile_of

from hasp.locks import native
from hasp.profile.diagnosis.features import Features
from hasp.profile.diagnosis.judge import judge
from hasp.profile.diagnosis.measure import features
from hasp.profile.diagnosis.rules import load as load_rules

TRIES = 3
# If the threads got less than this share of the CPU time that they could have used, the
# profile shows the load of the machine instead: holders are preempted, so others wait.
UNDISTURBED = 0.9
# `make test` runs two rows that are not affected by other load.
QUICK = {"created-at-start", "control"}
# A single profile cannot show this; it needs a performance counter or a second run. The
# tests use the stalls that the study measured for pca.
MEMORY = "memory-contention"
STALLS = 2.25  # cycles per instruction


def as_in_the_study(measured: Features) -> Features:
    """Return the measures with several nodes and waiters, as the table assumes."""
    sites = tuple(replace(site, waiters_p95=None) for site in measured.sites)
    return replace(measured, nodes=8, sites=sites)


def complaints(row: Row, measured: Features) -> list[str]:
    """Return the differences between the verdict on these measures and the row."""
    rules, locks = load_rules(), native.locks()
    wanted, found = row.bottlenecks, []
    if MEMORY in row.bottlenecks:
        if measured.memory_stalls is None:
            verdict = judge(measured, rules, locks)
            missing = {name for rule in verdict.unknown for name in rule.missing}
            if "memory_stalls" not in missing:
                found.append("does not say that memory was not judged")
            if set(verdict.bottlenecks) != row.bottlenecks - {MEMORY}:
                found.append(f"found {sorted(verdict.bottlenecks)} without counters")
        measured = replace(measured, memory_stalls=STALLS)
    verdict = judge(measured, rules, locks)
    if set(verdict.bottlenecks) != wanted:
        found.append(f"found {sorted(verdict.bottlenecks)}, not {sorted(wanted)}")
    elif row.site and not verdict.sites[0].name.startswith(row.site):
        found.append(f"names {verdict.sites[0].name}, not {row.site}")
    advice = advice_of(judge(as_in_the_study(measured), rules, locks))
    if wanted and not found and not advice >= row.advice:
        found.append(f"advises {sorted(advice)}, not {sorted(row.advice)}")
    return [f"{problem}\n" + "\n".join(verdict.evidence) for problem in found]


def cases() -> list[object]:
    return [
        pytest.param(
            row, id=row.name, marks=() if row.name in QUICK else pytest.mark.slow
        )
        for row in rows()
    ]


@pytest.mark.parametrize("row", cases())
def test_names_the_bottleneck(row: Row, tmp_path: Path) -> None:
    told, granted = [], []
    for seed in range(1, TRIES + 1):
        trace = tmp_path / f"{seed}.trace"
        profile = profile_of(row.command(seed), trace)
        measured = features(profile, load_rules())
        problems = complaints(row, measured)
        if not problems:
            return
        told += problems
        granted.append(measured.cpu_granted or 0.0)
    if max(granted) < UNDISTURBED:
        pytest.skip(
            f"other programs use the CPUs: this one got {max(granted):.0%} of them"
        )
    pytest.fail("\n".join(told))
