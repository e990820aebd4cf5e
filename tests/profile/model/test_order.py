# SPDX-License-Identifier: MIT
"""Lock-order inversions are exactly the cycles of edges."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from trace_samples import Synthetic

from hasp.profile.model import order
from hasp.profile.model.build import load
from hasp.profile.model.order import cycles
from hasp.profile.model.profile import Event, Profile
from hasp.profile.report.findings import findings, inversions
from hasp.profile.trace import format
from hasp.profile.trace.format import ChunkKind, LockFlag, LockKind, OrderMode

Edge = tuple[int, int]


def edges(*pairs: Edge, by_try: tuple[Edge, ...] = ()) -> format.Records:
    made = np.zeros(len(pairs), format.LOCK_ORDER)
    for index, pair in enumerate(pairs):
        made[index]["outer"], made[index]["inner"] = pair
        made[index]["by_try"] = pair in by_try
    return made


def found(*pairs: Edge, by_try: tuple[Edge, ...] = ()) -> list[list[Edge]]:
    """Return the cycles as lists of edges; each lock is a site of its own."""
    made = edges(*pairs, by_try=by_try)
    circles, all_of_them = cycles(made, 100, lambda lock: lock)
    assert all_of_them
    return [[pairs[place] for place in circle] for circle in circles]


def test_one_order_is_fine() -> None:
    assert found((1, 2), (2, 3), (1, 3), (4, 3)) == []
    assert found() == []


def test_two_orders_are_an_inversion() -> None:
    assert found((1, 2), (3, 4), (2, 1)) == [[(1, 2), (2, 1)]]


def test_a_cycle_of_three_is_listed_edge_by_edge() -> None:
    assert found((2, 3), (5, 1), (1, 2), (3, 1)) == [[(2, 3), (3, 1), (1, 2)]]


def test_short_cycles_come_first_and_each_pair_once() -> None:
    circles = found((1, 2), (2, 3), (3, 1), (7, 8), (8, 7))
    assert circles == [[(7, 8), (8, 7)], [(1, 2), (2, 3), (3, 1)]]


def test_a_cycle_inside_a_cycle() -> None:
    """The search for a way back to 1 passes its starting point, 2, again."""
    circles = found((1, 2), (2, 3), (3, 2), (3, 1))
    assert [(2, 3), (3, 2)] in circles
    assert [(1, 2), (2, 3), (3, 1)] in circles


def test_trylocks_cannot_deadlock() -> None:
    assert found((1, 2), (2, 1), by_try=((2, 1),)) == []


def circles_of(
    *ways: tuple[Edge, OrderMode], fair: tuple[int, ...] = ()
) -> list[list[Edge]]:
    """Return cycles with modes; readers of rwlocks in `fair` queue behind writers."""
    made = edges(*(pair for pair, _ in ways))
    made["modes"] = [mode for _, mode in ways]
    writers_first = np.isin(np.arange(100), fair) if fair else None
    circles, _ = cycles(made, 100, lambda lock: lock, writers_first)
    return [sorted(ways[place][0] for place in circle) for circle in circles]


READ, OUTER, INNER, ALONE = (
    *(OrderMode.BOTH_READ, OrderMode.OUTER_READ),
    *(OrderMode.INNER_READ, OrderMode.BOTH_ALONE),
)


def test_readers_do_not_wait_for_readers() -> None:
    assert circles_of(((1, 2), READ), ((2, 1), READ)) == []
    # Both threads only read 1, and the first writes 2, so no thread waits for 1.
    assert circles_of(((1, 2), OUTER), ((2, 1), READ)) == []


def test_a_thread_that_writes_both_makes_a_cycle() -> None:
    circle = [(1, 2), (2, 1)]
    assert circles_of(((1, 2), READ), ((2, 1), ALONE)) == [circle]
    # A reader holds each lock, and a writer waits for it.
    assert circles_of(((1, 2), OUTER), ((2, 1), OUTER)) == [circle]
    assert circles_of(((1, 2), INNER), ((2, 1), INNER)) == [circle]
    assert circles_of(((1, 2), READ | ALONE), ((2, 1), READ)) == [circle]


def test_readers_wait_for_readers_if_a_writer_queues_between() -> None:
    ways = ((1, 2), READ), ((2, 1), READ)
    assert circles_of(*ways, fair=(1,)) == []
    assert circles_of(*ways, fair=(1, 2)) == [[(1, 2), (2, 1)]]
    assert circles_of(((1, 2), OUTER), ((2, 1), READ), fair=(1,)) == [[(1, 2), (2, 1)]]


def test_reacquiring_a_lock_is_not_a_cycle() -> None:
    assert found((1, 1), (1, 2)) == []


def test_unknown_locks_are_left_out() -> None:
    assert found((1, 200), (200, 1), (0, 1), (1, 0)) == []


def test_locks_of_one_site_are_one_finding() -> None:
    """Accounts are locked in both orders: a hundred pairs of instances, one finding."""
    pairs = [(a, b) for a in range(1, 11) for b in range(1, 11) if a != b]
    circles, all_of_them = cycles(edges(*pairs), 100, lambda lock: 1)
    assert (len(circles), all_of_them) == (1, True)


def test_too_many_cycles_are_truncated_and_reported() -> None:
    pairs = [pair for n in range(1, 300, 2) for pair in ((n, n + 1), (n + 1, n))]
    circles, all_of_them = cycles(edges(*pairs), 400, lambda lock: lock)
    assert (len(circles), all_of_them) == (100, False)


def test_the_search_follows_each_edge_of_a_large_cycle_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The worst case is a single cycle through all locks."""
    locks = 50_000
    made = np.zeros(locks, format.LOCK_ORDER)
    made["outer"] = np.arange(1, locks + 1)
    made["inner"] = np.roll(made["outer"], -1)
    monkeypatch.setattr(order, "MOST_STEPS", locks + 1)
    circles, all_of_them = cycles(made, locks + 1, lambda lock: lock)
    assert all_of_them
    assert [len(circle) for circle in circles] == [locks]


@pytest.fixture
def bank(tmp_path: Path) -> Profile:
    made = Synthetic()
    made.add(ChunkKind.MODULES, begin=0x1000, end=0x9000, bias=0x1000, path=b"/bank")
    forth, back = made.stack(0x1100), made.stack(0x1200)
    for number in (1, 2):
        made.lock(address=number * 64, first_stack=forth if number == 1 else back)
    made.add(ChunkKind.LOCK_ORDER, outer=1, inner=2, stack=forth, thread=3, count=9)
    made.add(ChunkKind.LOCK_ORDER, outer=2, inner=1, stack=back, thread=4, count=5)
    return load(made.write(tmp_path / "hasp.trace"))


def test_an_inversion_is_an_event_with_both_stacks(bank: Profile) -> None:
    (event,) = bank.events
    assert isinstance(event, Event)
    assert event.kind == "order-inversion"
    assert (event.lock, event.other, event.thread, event.count) == (1, 2, 3, 5)
    stacks = {(e.outer, e.inner): e.stack[0].offset for e in bank.lock_order}
    assert stacks == {(1, 2): 0x100, (2, 1): 0x200}


def test_readers_queued_behind_writers_are_a_separate_finding(tmp_path: Path) -> None:
    made = Synthetic()
    made.add(ChunkKind.MODULES, begin=0x1000, end=0x9000, bias=0x1000, path=b"/shelf")
    stack = made.stack(0x1100)
    for number in (1, 2):
        made.lock(
            address=number * 64,
            first_stack=made.stack(0x1100 * number),
            kind=LockKind.RWLOCK,
            flags=LockFlag.WRITERS_FIRST,
        )
    for outer, inner in ((1, 2), (2, 1)):
        both = OrderMode.BOTH_READ
        made.add(
            ChunkKind.LOCK_ORDER, outer=outer, inner=inner, stack=stack, modes=both
        )
    profile = load(made.write(tmp_path / "hasp.trace"))
    assert [event.kind for event in profile.events] == ["reader-inversion"]
    assert findings(profile) == []
    (said,) = inversions(profile)
    assert "if a writer waits" in said.words
    assert said.traces[0].words.count("to read") == 2


def gated(*pairs: tuple[int, int, int]) -> list[tuple[int, ...]]:
    """Return the cycles of edges that were acquired with a common outer lock held."""
    made = edges(*((outer, inner) for outer, inner, _ in pairs))
    made["gate"] = [gate for _, _, gate in pairs]
    return cycles(made, 100, lambda lock: lock)[0]


def test_a_common_outer_lock_forbids_the_deadlock() -> None:
    assert gated((1, 2, 9), (2, 1, 9)) == []
    assert gated((1, 2, 9), (2, 1, 8)) == [(0, 1)]
    assert gated((1, 2, 9), (2, 1, 0)) == [(0, 1)]
    assert gated((1, 2, 0), (2, 1, 0)) == [(0, 1)]


def test_a_guarded_cycle_does_not_hide_another_of_the_same_sites() -> None:
    made = edges((1, 2), (2, 1), (3, 4), (4, 3))
    made["gate"] = [9, 9, 0, 0]
    found, _ = cycles(made, 100, lambda lock: lock % 2)
    assert found == [(2, 3)]
