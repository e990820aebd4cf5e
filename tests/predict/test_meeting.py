# SPDX-License-Identifier: MIT
"""Threads that wait for each other at a barrier made of a mutex."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from predict_samples import BASE, closed
from trace_samples import SECOND, Synthetic

from hasp.base.errors import HaspError
from hasp.lab.simulate.machines.machine import load as machine
from hasp.lab.simulate.simulation import flattened
from hasp.predict.load import Load, Variant
from hasp.predict.rebuild import rebuild
from hasp.predict.runs import Case, Runs
from hasp.profile.model.build import load as load_profile
from hasp.profile.trace.format import ChunkKind

ARRIVALS, HOLD = 10_000, 100
STEADY, VARYING = Variant(False, 1, 1), Variant(True, 1, 1)


def barrier(left: int, arrivals: tuple[int, int] = (ARRIVALS, ARRIVALS)) -> Synthetic:
    """Return two threads that lock a mutex, one of which also takes it by trylock."""
    trace = Synthetic()
    stack = trace.stack(BASE + 0x100)
    sections = sum(arrivals) + left
    trace.thread(tid=1, name=b"main", cpu_ns=1000)
    trace.lock(address=64, created_stack=stack, site=stack, acquisitions=sections)
    held = sections * HOLD
    trace.add(
        ChunkKind.LOCK_COUNTS,
        lock=1,
        site=stack,
        acquisitions=sections,
        hold_ticks=held,
    )
    for number, tries in ((0, left), (1, 0)):
        count = arrivals[number] + tries
        trace.use(
            {"hold": [HOLD] * 50},
            site=stack,
            thread=trace.thread(tid=2 + number, cpu_ns=SECOND),
            acquisitions=count,
            trylocks=tries + tries // 2,
            trylock_failures=tries // 2,
            hold_ticks=count * HOLD,
            hold_most=HOLD,
            timed=50,
        )
    return trace


def rebuilt(made: Synthetic, folder: Path) -> Load:
    return rebuild(load_profile(made.write(folder / "hasp.trace")), 64)


def test_threads_that_arrive_and_leave_equally_often_meet(tmp_path: Path) -> None:
    load = rebuilt(barrier(ARRIVALS), tmp_path)
    assert [site.meets for site in load.sites] == [True]
    (role,) = load.roles
    assert role.rate == pytest.approx(ARRIVALS / SECOND, rel=0.01)
    assert role.gap_ns == pytest.approx(SECOND / ARRIVALS, rel=0.01)
    assert role.visits == ((0, pytest.approx(1.0)),)


@pytest.mark.parametrize(
    ("left", "arrivals"),
    [
        (ARRIVALS // 2, (ARRIVALS, ARRIVALS)),
        (0, (ARRIVALS, ARRIVALS)),
        (ARRIVALS, (ARRIVALS, ARRIVALS // 2)),
    ],
    ids=["too-few-leave", "no-trylock", "one-arrives-less"],
)
def test_other_threads_do_not(tmp_path: Path, left: int, arrivals) -> None:
    made = barrier(left, arrivals)
    for site in rebuilt(made, tmp_path).sites:
        assert not site.meets


def meeting(gap_ns: float) -> Load:
    load = closed(gap_ns, 50.0)
    return replace(load, sites=(replace(load.sites[0], meets=True),))


def test_threads_that_meet_wait_for_the_slowest(runs) -> None:
    """The longest of eight exponential times is 2.7 times their mean."""
    simulated = runs(meeting(20_000.0))
    one, eight = Case("ticket", 1, STEADY), Case("ticket", 8, VARYING)
    done = simulated.run([one, eight], 1)
    assert done[one].throughput == pytest.approx(1 / 20_050, rel=0.1)
    assert 8 / 3.6 < done[eight].throughput * 20_050 < 8 / 2.2


def test_threads_meet_at_one_mutex_only(runs) -> None:
    load = meeting(1000.0)
    several = replace(load.sites[0], locks=2, weights=(1, 1))
    with pytest.raises(HaspError, match="threads meet at one mutex"):
        runs(replace(load, sites=(several,))).run([Case("ticket", 2, STEADY)], 1)


def test_the_last_to_arrive_may_wait_while_its_store_is_on_the_way() -> None:
    """It has read the meeting's flag, and changes the flag itself."""
    load = meeting(4000.0)
    long = (replace(role, holds_ns=(562.0,)) for role in load.roles)
    made = machine("a-64")
    with flattened(made) as path:
        case = Case("ticket", 64, Variant(False, 1, 3))
        done = Runs(replace(load, roles=tuple(long)), made, path).run([case], 1)
    assert done[case].throughput
