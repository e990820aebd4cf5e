# SPDX-License-Identifier: MIT
"""One cause may have several remedies: the one that fits the program is named."""

from __future__ import annotations

from dataclasses import replace

from profile_samples import SECOND

from hasp.profile.diagnosis.diagnose import diagnose
from hasp.profile.model.profile import Kind, Profile

from .cases import hot_counter, spinning
from .parts import US, program, site, use


def spinners(*, sleeps: int, count: int = 2_000_000, hold: float = 900) -> Profile:
    """Four threads keep two CPUs busy, and sleep so often in ten seconds."""
    spun = use(count, count // 4, 10 * US, hold)
    made = program(site(spun, kind=Kind.SPINLOCK), runnable=4, cpu_ns=5 * SECOND)
    threads = tuple(replace(one, voluntary=sleeps) for one in made.threads)
    return replace(made, threads=threads)


def test_threads_that_only_compute_and_spin_are_too_many() -> None:
    found = diagnose(spinners(sleeps=0))
    assert (found.lead.id, found.lead.remedy) == ("spinning", "fewer-threads")
    assert found.sentence.endswith("Run fewer threads, or use a mutex.")


def test_a_mutex_costs_little_beside_sections_longer_than_a_wake_up() -> None:
    long = spinners(sleeps=0, count=400_000, hold=25 * US)
    lead = diagnose(long).lead
    assert (lead.id, lead.remedy) == ("spinning", "use-mutex")


def test_threads_that_also_sleep_need_a_lock_whose_waiters_sleep() -> None:
    lead = diagnose(spinners(sleeps=100_000)).lead
    assert (lead.id, lead.remedy) == ("spinning", "use-mutex")
    assert diagnose(spinning()).lead.remedy == "use-mutex"


def test_a_structure_with_several_locks_can_have_more() -> None:
    (one,) = hot_counter().sites
    assert diagnose(hot_counter()).lead.remedy == "use-atomic"
    several = (one.locks[0], replace(one.locks[0], number=7, acquisitions=0))
    found = diagnose(program(replace(one, locks=several)))
    assert (found.lead.id, found.lead.remedy) == ("tiny-section", "spread-keys")
    assert "shards" in found.sentence
