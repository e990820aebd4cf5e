# SPDX-License-Identifier: MIT
"""Gates, and holds that were not recorded."""

from __future__ import annotations

from dataclasses import replace

from profile_samples import SECOND, stack

from hasp.profile.diagnosis.diagnose import diagnose
from hasp.profile.model.holding import HolderState
from hasp.profile.model.profile import Profile

from .parts import holding, program, site, use


def gate(waits: int = 3, longest: int = 0) -> Profile:
    """The main thread sleeps with mutexes held, to keep threads without work idle."""
    calls = stack("epoll_wait", module="libc.so.6") + stack("poll_all a.c:9", "main")
    start = stack("__libc_start_call_main", module="libc.so.6") + stack("_start")
    held = holding((HolderState.IO, 1.0, "epoll_wait"))
    asleep = replace(held.states[0], samples=900, stack=calls + start)
    held = replace(held, samples=900, states=(asleep,))
    made = use(4000, waits, 9 * SECOND / waits, 16)
    made = replace(made, wait=replace(made.wait, max_ns=longest or 9 * SECOND / waits))
    return program(site(made, held=held, function="worker"))


def test_a_lock_that_keeps_threads_idle_on_purpose_is_no_bottleneck() -> None:
    found = diagnose(gate())
    assert found.lead.id == "not-locks", found.sentence
    assert found.others == ()
    assert any("is a gate: main() keeps" in line for line in found.evidence)


def test_a_gate_that_opens_every_two_seconds_is_a_gate() -> None:
    assert diagnose(gate(waits=5)).lead.id == "not-locks"


def test_a_hold_that_was_not_recorded_is_taken_from_the_samples() -> None:
    found = diagnose(gate(waits=900, longest=9 * SECOND))
    assert found.lead.id == "blocking-section"
    assert found.lead.holder == "main"
    assert "main() sleeps in epoll_wait(), 9 s each time" in found.sentence


def test_a_thread_that_waits_for_another_one_is_no_gate() -> None:
    made = gate()
    (one,) = made.sites
    joins = holding((HolderState.FUTEX, 1.0, "futex"))
    waits = replace(made, sites=(replace(one, holding=joins),))
    assert diagnose(waits).lead.id == "blocking-section"


def test_many_short_sleeps_are_not_one_hold() -> None:
    found = diagnose(gate(waits=900))
    assert found.lead.id == "blocking-section"
    assert found.lead.holder == "worker"
