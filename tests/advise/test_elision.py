# SPDX-License-Identifier: MIT
"""Elision is proposed for short sections that can commit, on machines that elide."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import profile_samples as samples
import pytest

from hasp.profile.diagnosis import advise
from hasp.profile.diagnosis.evaluate import evaluate
from hasp.profile.diagnosis.features import Features
from hasp.profile.diagnosis.measure import features
from hasp.profile.diagnosis.obstacles import obstacles_of, with_transactions
from hasp.profile.diagnosis.rules import load
from hasp.profile.model.build import load_keeping_symbols
from hasp.profile.model.profile import Profile

RULE = "E9.elide"
SUITABLE = {
    "hold_p50_ns": 200.0,
    "never_commits": 0.0,
    "contended_share": 0.3,
    "held_share": 0.5,
    "share": 0.5,
}
# What is known about the programs of elision_advice.c: whether elision can help them.
HELPS = ("table", "accounts", "tree", "histogram", "pages")
NEVER_HELPS = ("counter", "journal", "queue", "lru", "long", "recursive")


def measured(transactions: float = 1.0, **site: float) -> Features:
    whole = features(samples.hot_lock(), load())
    changed = replace(whole.sites[0], **{**SUITABLE, **site})
    return replace(whole, sites=(changed,), transactions=transactions)


def proposes(of: Features) -> bool:
    found = evaluate(of, load(), "throughput")
    assert RULE not in {item.rule.id for item in found.unknown}
    return RULE in {item.rule.id for item in found.fired}


def test_short_sections_of_a_wanted_lock() -> None:
    assert proposes(measured())
    assert proposes(measured(contended_share=0.0))
    assert proposes(measured(held_share=0.0))


@pytest.mark.parametrize(
    "unsuitable",
    [
        {"hold_p50_ns": 5000.0},  # the rule's limit
        {"hold_p50_ns": 20.0},  # a counter
        {"never_commits": 0.5},
        {"contended_share": 0.0, "held_share": 0.01},
        {"share": 0.01},
    ],
)
def test_other_sections(unsuitable: dict[str, float]) -> None:
    assert not proposes(measured(**unsuitable))


def test_never_without_transactions() -> None:
    assert not proposes(measured(transactions=0.0))
    profile: Profile = samples.hot_lock()
    assert features(profile, load()).transactions == 0
    fired = {one.rule.id for one in advise(profile).fired}
    assert RULE not in fired


def test_obstacles_become_measures() -> None:
    profile = samples.hot_lock()
    whole = with_transactions(features(profile, load()), profile)
    assert whole.transactions == 1
    known = obstacles_of(profile)
    assert whole.sites[0].never_commits == known[whole.sites[0].site].never


@pytest.mark.slow
@pytest.mark.parametrize("program", NEVER_HELPS)
def test_not_for_programs_that_it_cannot_help(
    build_dir: Path, tmp_path: Path, program: str
) -> None:
    assert not proposed(build_dir, tmp_path, program)


@pytest.mark.slow
def test_for_most_programs_that_it_helps(build_dir: Path, tmp_path: Path) -> None:
    """Their sections do not get longer or shorter with other programs on the CPUs."""
    found = [name for name in HELPS if proposed(build_dir, tmp_path, name)]
    assert len(found) >= 3


def proposed(build_dir: Path, tmp_path: Path, name: str) -> bool:
    program = next(build_dir.rglob("elision_advice"))
    trace = tmp_path / f"{name}.trace"
    words = ["python", "-m", "hasp", "profile", "-o", str(trace), "--"]
    subprocess.run(
        [*words, str(program), name, "2"],
        env=os.environ,
        check=True,
        capture_output=True,
        timeout=60,
    )
    verdict = advise(load_keeping_symbols(trace), transactions=True)
    return RULE in {one.rule.id for one in verdict.fired}
