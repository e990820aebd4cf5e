# SPDX-License-Identifier: MIT
"""Algorithms are advised for rwlocks, spin locks and barriers by measured shares."""

from __future__ import annotations

from typing import Any

import pytest

from hasp.locks import native
from hasp.locks.kinds import BARRIER, RWLOCK, SPINLOCK, Kind
from hasp.profile.diagnosis.features import BarrierWaits, Features, SiteFeatures
from hasp.profile.diagnosis.other_kinds import (
    FOR_CROWDS,
    FOR_READERS,
    FOR_WRITERS,
    other_kinds,
)


def features(*sites: SiteFeatures, **more: Any) -> Features:
    return Features(**{"cpus": 2, "nodes": 1, "sites": sites, "threads": 4, **more})


def rwlock(**measures: float) -> SiteFeatures:
    return SiteFeatures(1, "db.c:1 &db", "rwlock", **measures)


def options(measured: Features) -> list[str]:
    return [one.option for one in other_kinds(measured)]


@pytest.mark.parametrize(
    ("measures", "expected"),
    [
        ({"wait_share": 0.2, "read_share": 0.998}, ["--rwlock bravo+rw-futex"]),
        ({"operation_share": 0.2, "read_share": 0.998}, ["--rwlock bravo+rw-futex"]),
        ({"wait_share": 0.2, "read_share": 0.99}, ["--rwlock rw-futex"]),
        ({"wait_share": 0.2, "read_share": 0.6}, ["--rwlock rw-futex"]),
        ({"wait_share": 0.01, "read_share": 0.998}, []),
        ({"wait_share": 0.2}, []),
    ],
)
def test_rwlocks(measures: dict[str, float], expected: list[str]) -> None:
    assert options(features(rwlock(**measures))) == expected


@pytest.mark.parametrize(
    ("kind", "name"),
    [(RWLOCK, FOR_READERS), (RWLOCK, FOR_WRITERS), (SPINLOCK, FOR_CROWDS)],
)
def test_an_advised_algorithm_is_in_the_list(kind: Kind, name: str) -> None:
    assert native.lock(name, kind).name == name


def test_the_share_of_reads_is_named() -> None:
    (advice,) = other_kinds(features(rwlock(wait_share=0.2, read_share=0.97)))
    assert "97 % of its acquisitions read" in advice.because


def test_the_present_algorithm_is_not_advised() -> None:
    ran = features(
        rwlock(wait_share=0.2, read_share=0.998),
        other_locks={"rwlock": "bravo+rw-futex"},
    )
    assert options(ran) == []


def test_spin_locks_of_more_threads_than_cpus() -> None:
    site = SiteFeatures(1, "q.c:1 &q", "spinlock", wait_share=0.3)
    assert options(features(site)) == ["--spinlock spin-then-park"]
    assert options(features(site, threads=2)) == []


def test_barriers_with_short_waits() -> None:
    short = BarrierWaits(1, "step.c:1", wait_share=0.3, wait_p50_ns=4000)
    default = native.default_lock(BARRIER).name
    assert options(features(barriers=(short,), threads=2)) == [f"--barrier {default}"]
    assert options(features(barriers=(short,), threads=9)) == []
    long = BarrierWaits(1, "step.c:1", wait_share=0.3, wait_p50_ns=4e6)
    assert options(features(barriers=(long,), threads=2)) == []


def test_the_costliest_site_comes_first() -> None:
    found = other_kinds(
        features(
            rwlock(wait_share=0.1, read_share=0.5),
            SiteFeatures(2, "q.c:1 &q", "spinlock", wait_share=0.3),
        )
    )
    assert [one.site for one in found] == [2, 1]
