# SPDX-License-Identifier: MIT
"""Locks of one creator that are not stripes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hasp.profile.diagnosis.diagnose import diagnose
from hasp.profile.model.profile import Operation, Profile

from .cases import uneven
from .parts import US, use


def with_conditions() -> Profile:
    """Return stripes on which threads also wait for conditions."""
    made = uneven()
    (one,) = made.sites
    waits = use(2000, 10, US, US)
    stats = {**one.stats, Operation.RELOCK: waits}
    return replace(made, sites=(replace(one, stats=stats),))


def seldom_used() -> Profile:
    """Return stripes with 80 acquisitions per second."""
    made = uneven()
    (one,) = made.sites
    locks = [replace(lock, acquisitions=lock.acquisitions // 500) for lock in one.locks]
    stats = {Operation.LOCK: use(800, 180, 100_000 * US, 40_000 * US)}
    return replace(made, sites=(replace(one, stats=stats, locks=tuple(locks)),))


@pytest.mark.parametrize("make", [with_conditions, seldom_used])
def test_different_locks_of_one_creator_are_not_stripes(make) -> None:
    found = diagnose(make())
    assert "uneven-stripes" not in [one.id for one in (found.lead, *found.others)]


def only_one_used(gaps: list[int]) -> Profile:
    """Return 16 locks of which one is used, at these distances in turn."""
    made = uneven()
    (one,) = made.sites
    hot, *others = one.locks
    address, locks = hot.address, [replace(hot, acquisitions=400_000)]
    for place, lock in enumerate(others):
        address += gaps[place % len(gaps)]
        locks.append(replace(lock, address=address, acquisitions=0, wait_ns=0))
    return replace(made, sites=(replace(one, locks=tuple(locks)),))


def test_elements_of_an_array_are_stripes_even_if_they_are_not_used() -> None:
    found = diagnose(only_one_used([128]))
    assert (found.lead.id, found.lead.remedy) == ("uneven-stripes", "spread-keys")


def test_locks_of_separate_objects_that_are_not_used_are_not_stripes() -> None:
    found = diagnose(only_one_used([128, 4096, 272]))
    assert "uneven-stripes" not in [one.id for one in (found.lead, *found.others)]


def test_a_lock_by_itself_is_no_element_of_an_array_of_its_creator() -> None:
    """As the only shard of one cache, beside the shards of another."""
    apart = only_one_used([65_536, *[128] * 14])
    assert "uneven-stripes" not in [
        one.id for one in (diagnose(apart).lead, *diagnose(apart).others)
    ]
