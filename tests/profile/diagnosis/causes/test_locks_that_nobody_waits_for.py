# SPDX-License-Identifier: MIT
"""Locks that cost time although nobody waits in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from hasp.profile.diagnosis.diagnose import diagnose
from hasp.profile.model.cache_lines import SharedLine
from hasp.profile.model.profile import Operation, Profile

from .cases import herd, many, needless
from .parts import MS, US, program, site, use


def sleeping(each: float, hold: float = 20 * US) -> Profile:
    """Return threads whose trylocks fail, and that then sleep for this long."""
    failures = 4000
    tried = use(
        160_000,
        hold=hold,
        trylocks=164_000,
        trylock_failures=failures,
        longest_failing_run=5,
        trying_ns=int(failures * each),
    )
    return program(site(tried))


def test_threads_that_sleep_between_trylocks_could_block() -> None:
    found = diagnose(sleeping(1.1 * MS))
    assert (found.lead.id, found.lead.remedy) == ("trylock-loop", "block-instead")
    assert "sleeps 1.1 ms before the next try" in found.sentence


@pytest.mark.parametrize(
    "profile",
    [sleeping(60 * US), sleeping(1.1 * MS, hold=5 * MS)],
    ids=["work between the tries", "sections are longer than the sleep"],
)
def test_other_failing_trylocks_are_no_loop(profile: Profile) -> None:
    found = diagnose(profile)
    assert "trylock-loop" not in [one.id for one in (found.lead, *found.others)]


def private(taking: float, changes: int = 200) -> Profile:
    """Return a lock that one thread uses; each acquisition takes so many ns."""
    stats = use(60_000_000, 20, US, 10, owner_changes=changes)
    stats = replace(stats, taking_ns=int(5000 * taking), taken_timed=5000)
    made = site(stats)
    few = {Operation.LOCK: use(100)}
    threads = {2: {Operation.LOCK: stats}, 3: few}
    return program(replace(made, threads=threads))


def test_a_free_lock_whose_line_others_use_takes_long() -> None:
    found = diagnose(private(120))
    assert (found.lead.id, found.lead.remedy) == ("shared-line", "pad")


@pytest.mark.parametrize("profile", [private(35), private(0)], ids=["near", "unknown"])
def test_a_free_lock_that_is_taken_quickly_is_only_biased(profile: Profile) -> None:
    assert diagnose(profile).lead.id == "biased"


@pytest.mark.parametrize(
    ("taking", "here", "cause"),
    [(54, 36, "shared-line"), (54, 50, "biased"), (120, 200, "shared-line")],
)
def test_another_lock_of_the_run_tells_how_long_taking_a_near_line_takes(
    taking: float, here: float, cause: str
) -> None:
    """Clock readings are part of both times, and take longer on some machines."""
    profile = private(taking)
    other = replace(use(1000), taking_ns=int(100 * here), taken_timed=100)
    made = site(other, name="db.c:30 &db->other", number=2)
    profile = replace(profile, sites=(*profile.sites, made))
    assert diagnose(private(54)).lead.id == "biased"
    assert diagnose(profile).lead.id == cause


def test_times_of_trylocks_are_not_compared_with_those_of_locks() -> None:
    """A near line takes 10 ns to try and 27 ns to lock, by the recorder's clock."""
    tried = replace(use(1000, trylocks=1000), taking_ns=1000, taken_timed=100)
    made = site(tried, name="db.c:30 &db->tried", number=2)
    profile = private(27)
    found = diagnose(replace(profile, sites=(*profile.sites, made)))
    assert found.lead.id == "biased"


def test_locks_of_objects_that_soon_disappear_do_not_count_as_many() -> None:
    """As the messages of a queue: few of them exist at a time."""
    profile = many()
    assert diagnose(profile).lead.id == "idle-locks"
    (made,) = profile.sites
    step = profile.duration_ns // len(made.locks)
    brief = tuple(
        replace(lock, born_ns=number * step, died_ns=(number + 1) * step)
        for number, lock in enumerate(made.locks)
    )
    found = diagnose(replace(profile, sites=(replace(made, locks=brief),)))
    assert found.lead.id == "not-locks"


def test_a_single_lock_shares_its_line_with_a_named_one() -> None:
    busy = use(90_000_000, 200, US, 20)
    one = site(busy, name="kv.c:39 &stats_mu")
    other = site(use(100, 0, 0, 20), name="kv.c:34 &cache_mu", number=2)
    line = SharedLine(
        one.locks[0].number, other.locks[0].number, 2, 90_000_000, 90_000_000
    )
    found = diagnose(program(replace(one, shared_lines=(line,)), other))
    assert found.lead.id == "shared-line"
    assert "shares a cache line with kv.c:34 &cache_mu" in found.sentence


@pytest.mark.parametrize("make", [herd, needless])
def test_wake_ups_in_vain_need_no_waits_for_the_mutex(
    make: Callable[[], Profile],
) -> None:
    made = make()
    free = site(use(400_000, 8, US, 300))
    found = diagnose(replace(made, sites=(free, *made.sites[1:])))
    assert "acquisitions waited" not in " ".join(found.confidence.lines)
