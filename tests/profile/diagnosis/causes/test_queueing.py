# SPDX-License-Identifier: MIT
"""Waits that the sections of a lock explain, and waits that they do not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from profile_samples import SECOND, distribution

from hasp.profile.diagnosis.causes import queueing
from hasp.profile.diagnosis.causes.facts import Facts
from hasp.profile.diagnosis.diagnose import diagnose
from hasp.profile.model.profile import Kind, Operation, Profile, SiteStats

from .parts import MS, US, program, site, use


def causes(profile: Profile) -> list[str]:
    found = diagnose(profile)
    return [one.id for one in (found.lead, *found.others)]


def with_waits(stats: SiteStats, wait: float) -> SiteStats:
    lasted = distribution([wait] * 1000, stats.contended, int(wait * stats.contended))
    return replace(stats, wait=lasted)


def explained(stats: SiteStats, *, runnable: int = 1) -> float:
    profile = program(site(stats), runnable=runnable)
    return queueing.explained(Facts(profile).sites[0])


def test_short_sections_of_a_lock_that_is_mostly_free_do_not_explain_long_waits() -> (
    None
):
    """As in Varnish: few acquisitions wait, 320 us each, for sections of 47 ns."""
    stats = use(3_000_000, 20_000, 0, 47, owner_changes=20_000)
    stats = with_waits(stats, 320 * US)
    assert explained(stats) < 0.3
    assert not {"tiny-section", "unfair", "long-section"} & {*causes(seldom(stats))}


def seldom(stats: SiteStats) -> Profile:
    return program(site(stats))


def test_a_lock_in_use_nearly_all_the_time_explains_any_wait() -> None:
    """Others overtake a thread that sleeps, as often as they come."""
    stats = use(60_000_000, 100_000, 0, 47, owner_changes=20_000_000)
    assert explained(with_waits(stats, 320 * US)) == pytest.approx(1.0)


def test_a_wait_includes_waking_up() -> None:
    stats = use(100_000, 2000, 0, 5 * US, owner_changes=50_000)
    assert explained(with_waits(stats, 40 * US)) == pytest.approx(1.0)


def rwlock(
    reads: SiteStats, writes: SiteStats, writers: Mapping[int, SiteStats]
) -> Profile:
    made = site(writes, kind=Kind.RWLOCK)
    threads = {n: {Operation.WRITE: one} for n, one in writers.items()}
    stats = {Operation.READ: reads, Operation.WRITE: writes}
    return program(replace(made, stats=stats, threads=threads))


def board(write_hold: float) -> Profile:
    """Writers wait for ms, and readers take the lock for 60 ns each."""
    writes = use(500_000, 30_000, MS, write_hold)
    each = replace(writes, wait=replace(writes.wait, total_ns=8 * SECOND))
    reads = use(3_700_000, 37_000, 40 * US, 60)
    return rwlock(reads, writes, {2: each, 3: each, 4: each, 5: each})


def test_readers_that_hardly_hold_it_do_not_starve_writers() -> None:
    found = diagnose(board(3 * US))
    assert found.lead.id == "blocked-readers", found.sentence
    assert "starved-writers" not in causes(board(3 * US))


def test_writes_that_take_no_time_block_no_readers() -> None:
    assert "blocked-readers" not in causes(board(100))


def one_worker(*, slept: float) -> Profile:
    """Thread 3 works; thread 2 waits for a second, and sleeps for so long."""
    made = site(use(200_000, 1000, MS, 20 * US))
    worker = use(199_000, 0, 0, 20 * US)
    other = replace(use(1000, 1000, MS, US))
    threads = {2: {Operation.LOCK: other}, 3: {Operation.LOCK: worker}}
    profile = program(replace(made, threads=threads))
    main, second, third, *_ = profile.threads
    second = replace(second, cpu_ns=MS, wait_ns=SECOND, section_ns=SECOND)
    second = replace(second, ended_ns=int(second.began_ns + SECOND + slept))
    third = replace(third, cpu_ns=9 * SECOND, wait_ns=0, section_ns=4 * SECOND)
    return replace(profile, threads=(main, second, third))


def test_the_waits_of_a_thread_that_mostly_sleeps_delay_no_work() -> None:
    assert diagnose(one_worker(slept=8 * SECOND)).lead.id == "not-locks"


def test_the_waits_of_a_thread_that_only_waits_do() -> None:
    assert diagnose(one_worker(slept=0.1 * SECOND)).lead.id != "not-locks"


def test_others_find_a_lock_free_that_one_thread_takes_again_and_again() -> None:
    """As Apache's queue: held for 3 % of the run, and its waiters lack a CPU."""
    made = site(use(150_000, 3000, 2 * MS, 2 * US))
    mine = use(147_000, 0, 0, 2 * US)
    rest = use(1000, 1000, 2 * MS, 100)
    threads = {n: {Operation.LOCK: rest} for n in (3, 4, 5)}
    threads[2] = {Operation.LOCK: mine}
    profile = program(replace(made, threads=threads), cpu_ns=SECOND // 3)
    assert "unfair" not in causes(profile)
