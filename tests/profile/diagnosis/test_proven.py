# SPDX-License-Identifier: MIT
"""Proofs override the rules: refuted locks are not recommended again."""

from __future__ import annotations

from dataclasses import replace

import profile_samples as samples
import pytest

from hasp.advise.report import short
from hasp.advise.trial import candidates
from hasp.locks import native
from hasp.profile.diagnosis import advise
from hasp.profile.diagnosis.diagnose import diagnose
from hasp.profile.diagnosis.judge import judge
from hasp.profile.diagnosis.proven import Proven
from hasp.profile.diagnosis.rules import load
from hasp.profile.model.profile import Profile
from hasp.profile.model.proofs import LockProof


def proof(lock: str, verdict: str, ratio: float, low: float, high: float) -> LockProof:
    """Return the result of a lock on the sample program."""
    subject = samples.hot_lock().subject
    rest = {"runs": 7, "metric": "ops", "host": "here", "measured": "2026"}
    return LockProof(lock, verdict, ratio, low, high, subject=subject, **rest)  # type: ignore[arg-type]


def proved(*proofs: LockProof) -> Profile:
    """The sample with proofs beside it."""
    return replace(samples.hot_lock(), proofs=proofs)


@pytest.mark.parametrize("verdict", ["behind", "harmful", "failed"])
def test_a_refuted_recommendation_is_not_repeated(verdict: str) -> None:
    first = advise(proved()).recommendation
    assert first
    verdict_then = advise(proved(proof(first, verdict, 0.8, 0.7, 0.9)))
    site = verdict_then.sites[0]
    assert site.recommendation is None
    assert first not in site.alternatives
    assert f"under {first} it was 0.80 times (0.70 to 0.90) as fast" in site.keep
    assert site.keep in verdict_then.sentence


def test_a_lock_that_was_no_faster_than_the_present_one_is_refuted() -> None:
    first = advise(proved()).recommendation or ""
    slower = proof(first, "cannot tell", 0.9, 0.85, 0.95)
    assert advise(proved(slower)).recommendation is None
    perhaps_slower = replace(slower, high=1.05)
    assert advise(proved(perhaps_slower)).recommendation is None
    perhaps_faster = proof(first, "cannot tell", 1.05, 0.95, 1.2)
    assert advise(proved(perhaps_faster)).recommendation == first


def test_a_winner_is_recommended_where_no_rule_sees_trouble() -> None:
    """The rules kept glibc's lock, and the comparison found a faster one."""
    winner = proof("spinbit", "best", 1.5, 1.4, 1.6)
    quiet = replace(advise(proved()).features, section_share=0.001, sites=())
    kept = judge(quiet, load(), native.locks())
    assert kept.recommendation is None
    verdict = judge(quiet, load(), native.locks(), proven=Proven([winner]))
    assert verdict.recommendation == "spinbit"
    assert "the program: hasp run --lock spinbit -- COMMAND was 1.50 times" in "".join(
        short(verdict, proved(winner))
    )


def test_a_winner_of_another_kind_is_no_mutex() -> None:
    winner = proof("rwlock:bravo+rw-futex", "best", 1.5, 1.4, 1.6)
    first = advise(proved()).recommendation
    assert advise(proved(winner)).recommendation == first


def test_the_proven_winner_is_recommended() -> None:
    first = advise(proved()).recommendation or ""
    winner = proof("spinbit", "best", 2.1, 1.9, 2.3)
    verdict = advise(proved(proof(first, "behind", 1.2, 1.1, 1.3), winner))
    assert verdict.recommendation == "spinbit"
    assert first not in verdict.sites[0].alternatives
    # Without an interval above 1 it is not proven.
    unsure = replace(winner, low=None, high=None)
    assert advise(proved(unsure)).recommendation == first


def test_what_was_refuted_is_not_tried_again() -> None:
    verdict = advise(samples.hot_lock())
    rules = load()
    first = candidates(verdict, rules, 3)
    proven = Proven([proof(first[0], "harmful", 0.5, 0.4, 0.6)])
    then = candidates(verdict, rules, 3, proven)
    assert first[0] not in then
    assert len(then) == 3


def test_locks_that_a_rule_forbids_are_not_tried() -> None:
    """More runnable threads than CPUs: no lock whose waiters only spin."""
    sample = samples.hot_lock()
    crowd = [replace(moment, runnable=30) for moment in sample.process_samples]
    verdict = advise(replace(sample, process_samples=crowd))
    tried = candidates(verdict, load(), 8)
    assert len(tried) >= 4
    members = load().members["parks"]
    for name in tried:
        assert native.lock(name).parks or name in members, name


def test_the_verdict_does_not_name_a_refuted_lock() -> None:
    refuted = Proven([proof("u-scl", "harmful", 0.5, 0.4, 0.6)])
    forms = ("Use a fair lock, such as hasp run --lock u-scl", "Use a fair lock")
    assert refuted.heeded(forms) == ("Use a fair lock",)
    overtake = ("Let running threads overtake: hasp run --lock futex",)
    assert refuted.heeded(overtake) == overtake
    slow = Proven([proof("futex", "behind", 0.9, 0.8, 0.95)])
    assert slow.heeded(overtake) == ("Let running threads overtake",)


def test_the_verdict_tells_a_proven_winner() -> None:
    winner = proof("spinbit", "best", 2.1, 1.9, 2.3)
    assert not any("measured" in line for line in diagnose(proved()).evidence)
    evidence = diagnose(proved(winner)).evidence
    assert "measured: under spinbit it is 2.10 times (1.90 to 2.30) as fast" in evidence
    assert len(evidence) <= 5
