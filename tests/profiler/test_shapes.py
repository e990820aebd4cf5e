# SPDX-License-Identifier: MIT
"""The profile of each shape shows the lock pattern that the shape represents."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import native_program

from hasp.profile.model.build import load
from hasp.profile.model.profile import Kind, Operation, Profile, Site, SiteStats

RUN = ("--seconds=0.3", "--warm-up-ns=10000000", "--timeout=30")


def mutexes(profile: Profile) -> list[Site]:
    return [site for site in profile.sites if site.kind is Kind.MUTEX]


def count(profile: Profile) -> int:
    return sum(len(site.locks) for site in mutexes(profile))


def use(profile: Profile) -> SiteStats:
    stats = [site.total for site in mutexes(profile)]
    whole = sum((one for one in stats[1:] if one), start=stats[0])
    assert whole is not None
    return whole


def contended(profile: Profile) -> float:
    whole = use(profile)
    return whole.contended / whole.acquisitions


def lifetime(profile: Profile) -> int:
    return sum(lock.creations for site in mutexes(profile) for lock in site.locks)


def is_task_queue(profile: Profile) -> bool:
    # How often two threads contend depends on whether they run at the same time.
    return count(profile) == 1 and use(profile).contended > 0


def is_pipeline(profile: Profile) -> bool:
    waits = [site for site in profile.sites if site.kind is Kind.CONDITION]
    return count(profile) == 3 and sum(len(site.locks) for site in waits) >= 3


def is_barrier(profile: Profile) -> bool:
    whole = use(profile)
    return count(profile) == 1 and whole.trylocks > 0.5 * whole.acquisitions


def is_grid(profile: Profile) -> bool:
    return count(profile) == 64 * 64 and contended(profile) < 0.05


def is_global_table(profile: Profile) -> bool:
    return count(profile) == 1


def is_tried_table(profile: Profile) -> bool:
    whole = use(profile)
    return count(profile) == 1 and whole.trylocks >= whole.acquisitions


def is_hash_table(profile: Profile) -> bool:
    return count(profile) == 512 and contended(profile) < 0.05


def is_allocator(profile: Profile) -> bool:
    return lifetime(profile) > 5000


def is_unique_id(profile: Profile) -> bool:
    return count(profile) == 1


def is_page_cache(profile: Profile) -> bool:
    directory, frames = sorted(mutexes(profile), key=lambda site: len(site.locks))
    return len(directory.locks) == 1 and (
        directory.stats[Operation.LOCK].acquisitions
        > 1.5 * frames.stats[Operation.LOCK].acquisitions
    )


def is_short_lived(profile: Profile) -> bool:
    return count(profile) == 512 and lifetime(profile) > 10 * 512


def is_long_lived(profile: Profile) -> bool:
    return lifetime(profile) == count(profile) == 8


@pytest.mark.parametrize(
    ("arguments", "fact"),
    [
        pytest.param(("barrier",), is_barrier),
        *(
            pytest.param(arguments, fact, marks=pytest.mark.slow)
            for arguments, fact in (
                (("task-queue",), is_task_queue),
                (("pipeline", "--threads=4"), is_pipeline),
                (("grid",), is_grid),
                (("global-table",), is_global_table),
                (("global-table", "trylock=1"), is_tried_table),
                (("hash-table",), is_hash_table),
                (("allocator",), is_allocator),
                (("unique-id",), is_unique_id),
                (("page-cache",), is_page_cache),
                (("short-lived",), is_short_lived),
                (("long-lived",), is_long_lived),
            )
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_shape_shows_its_pattern(
    hasp: Callable[..., object],
    tmp_path: Path,
    arguments: tuple[str, ...],
    fact: Callable[[Profile], bool],
) -> None:
    shapes = native_program("hasp-shapes")
    done = hasp("profile", "--", shapes, *arguments, *RUN, cwd=tmp_path)
    assert getattr(done, "returncode", None) == 0, done
    profile = load(tmp_path / "hasp.trace")
    assert fact(profile), [
        (site.name, len(site.locks), site.total) for site in mutexes(profile)
    ]
    assert all(".c:" in site.name for site in mutexes(profile))


def test_own_cost_excludes_the_time_in_which_others_ran(
    hasp: Callable[..., object], tmp_path: Path
) -> None:
    """With many threads per CPU, preempted time is not part of the recorder's cost."""
    shapes = native_program("hasp-shapes")
    done = hasp(
        "profile", "--", shapes, "page-cache", "--threads=32", *RUN, cwd=tmp_path
    )
    assert getattr(done, "returncode", None) == 0, done
    assert load(tmp_path / "hasp.trace").overhead.share < 0.5
