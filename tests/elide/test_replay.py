# SPDX-License-Identifier: MIT
"""A replayed load under elided locks: roll-back, system calls, conflicts, one lock.

The simulation itself checks that no update of a section is lost or made twice.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from predict_samples import closed, site

from hasp.predict.load import PLAIN, Load, Role, Scheme, Variant, exponential
from hasp.predict.runs import Case, Outcome, Runs

ONE_LOCK = Scheme(one_lock=True)


def variant(parts: int = 1, lines: int = 1) -> Variant:
    return Variant(True, lines, 1, parts)


def outcome(
    runs: Runs, lock: str, threads: int, one: Variant, scheme: Scheme = PLAIN
) -> Outcome:
    case = Case(lock, threads, one, scheme=scheme)
    return runs.run([case], 1)[case]


def nested(**inner: float) -> Load:
    """Return threads that hold the second lock three times inside the first."""
    outer = site(1, inner=((1, 3.0),), hold_ns=50.0)
    role = Role("w", 1, True, 300.0, ((0, 1.0),), (50.0, 30.0), (0.0, 0.0), 1 / 440)
    return Load((outer, replace(site(2, hold_ns=30.0), **inner)), (role,))


def test_sections_on_different_data_commit_and_overlap(runs) -> None:
    simulated = runs(closed(200.0, 400.0))
    elided = outcome(simulated, "elide+futex", 8, variant(parts=4096))
    assert elided.sites[0].elided > 0.98 * elided.sites[0].sections
    plain = outcome(simulated, "futex", 8, variant(parts=4096))
    assert elided.throughput > 3 * plain.throughput


def test_sections_on_the_same_data_conflict(runs) -> None:
    elided = outcome(runs(closed(200.0, 400.0)), "elide+futex", 8, variant())
    assert elided.sites[0].ends["conflict"] > 0.1 * elided.sites[0].sections


def test_what_a_rolled_back_section_noted_is_dropped(runs) -> None:
    """Inner sections are counted once, although their transaction began again."""
    elided = outcome(runs(nested()), "elide+futex", 8, variant(lines=4))
    outer, inner = elided.sites
    assert outer.ends["conflict"] > 0.1 * outer.sections
    assert inner.sections == pytest.approx(3 * outer.sections, rel=0.02)


def test_transactions_end_in_exactly_one_way(runs) -> None:
    elided = outcome(runs(nested(calls=0.1)), "elide+futex", 8, variant())
    for one in elided.sites:
        assert sum(one.ends.values()) == one.begun


def test_a_section_with_a_system_call_makes_it_in_each_attempt(runs) -> None:
    load = closed(200.0, 400.0)
    half = replace(load, sites=(replace(load.sites[0], calls=0.5),))
    elided = outcome(runs(half), "elide+futex", 1, variant()).sites[0]
    assert elided.ends["other"] > 0
    assert elided.elided < 0.5 * elided.sections
    never = replace(load, sites=(replace(load.sites[0], calls=1.0),))
    assert outcome(runs(never), "elide+futex", 4, variant()).sites[0].elided == 0


def test_a_trylock_inside_aborts_unless_it_nests(runs) -> None:
    simulated = runs(nested(tries=1.0))
    aborting = outcome(simulated, "elide+futex", 1, variant())
    assert aborting.sites[0].ends["trylock"] > 0
    assert aborting.sites[0].elided == 0
    nesting = Scheme(trylock_nests=True)
    elided = outcome(simulated, "elide+futex", 1, variant(), nesting)
    assert elided.sites[0].elided == elided.sites[0].sections


@pytest.mark.parametrize("lock", ["futex", "elide+futex"])
def test_one_recursive_lock_for_all(runs, lock: str) -> None:
    simulated = runs(nested())
    fine = outcome(simulated, "futex", 8, variant())
    one = outcome(simulated, lock, 8, variant(), ONE_LOCK)
    assert one.sites[1].sections == pytest.approx(3 * one.sites[0].sections, rel=0.02)
    assert one.throughput < 1.5 * fine.throughput


def test_a_section_that_begins_again_is_as_long_as_before(runs) -> None:
    """Otherwise long sections, which conflict more often, would become short ones."""
    load = closed(200.0, 800.0)
    load = replace(load, sites=(replace(load.sites[0], shape=exponential()),))
    simulated = runs(load)
    plain = outcome(simulated, "futex", 8, variant()).sites[0]
    elided = outcome(simulated, "elide+futex", 8, variant()).sites[0]
    assert elided.ends["conflict"] > 0.1 * elided.sections
    assert elided.held_ns == pytest.approx(plain.held_ns, rel=0.1)
