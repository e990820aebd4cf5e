# SPDX-License-Identifier: MIT
"""Tests which thread waits for which: cycles, chains, and their descriptions."""

from __future__ import annotations

from dataclasses import replace

from profile_samples import SECOND, deadlock, hot_lock, idle, site, stack, thread, use

from hasp.profile.model.profile import Operation, Profile, Thread
from hasp.profile.model.waiting import waiting

LOCK = 100_000


def waits(number: int, lock: int, *held: int, since: int = 0) -> Thread:
    return replace(
        thread(number),
        ended_ns=None,
        waiting_for=lock,
        waiting_to=Operation.LOCK,
        waiting_since_ns=since,
        waiting_stack=stack("pay bank.c:31", "main bank.c:70"),
        held=held,
    )


def holds(number: int, *held: int) -> Thread:
    return replace(thread(number), ended_ns=None, held=held)


def program(*threads: Thread) -> Profile:
    sites = [site(1, "bank.c:10 &account->lock", use(10, 1, 5, 5), 0.5, instances=5)]
    return replace(hot_lock(), sites=tuple(sites), threads=threads)


def test_two_threads_in_opposite_order_are_a_deadlock() -> None:
    hang = waiting(deadlock())
    assert hang.is_deadlock
    assert [waiter.thread.number for waiter in hang.cycles[0]] == [2, 3]
    assert [w.holder and w.holder.number for w in hang.cycles[0]] == [3, 2]
    assert hang.waiters == ()
    text = "\n".join(hang.lines())
    assert "2 threads wait for each other" in text
    assert "worker-2 (tid 1002) has waited 8.0 s for bank.c:10 &to->lock" in text
    assert "held by worker-3 (tid 1003)" in text


def test_a_thread_that_waits_for_a_cycle_is_not_part_of_it() -> None:
    hang = waiting(
        program(
            waits(1, LOCK + 1),
            waits(2, LOCK + 2, LOCK + 1),
            waits(3, LOCK + 3, LOCK + 2),
            waits(4, LOCK + 1, LOCK + 3),
        )
    )
    assert [w.thread.number for cycle in hang.cycles for w in cycle] == [2, 3, 4]
    assert [w.thread.number for w in hang.waiters] == [1]


def test_a_chain_ends_at_a_thread_that_runs() -> None:
    hang = waiting(program(waits(1, LOCK), holds(2, LOCK)))
    assert not hang.is_deadlock
    text = "\n".join(hang.lines())
    assert "1 thread waits for bank.c:10 &account->lock" in text
    assert "pay bank.c:31 < main bank.c:70" in text
    assert "held by worker-2 (tid 1002), which is running" in text


def test_a_thread_that_waits_for_itself() -> None:
    hang = waiting(program(waits(1, LOCK, LOCK)))
    assert [len(cycle) for cycle in hang.cycles] == [1]
    assert "already holds" in hang.lines()[0]


def test_a_reader_that_wants_to_write_waits_for_itself() -> None:
    upgrading = replace(waits(1, LOCK, LOCK), waiting_to=Operation.WRITE)
    hang = waiting(program(upgrading, holds(2, LOCK)))
    assert [len(cycle) for cycle in hang.cycles] == [1]


def test_a_thread_that_waits_for_a_signal_waits_for_no_thread() -> None:
    """The thread does not hold its mutex while it waits, even if that is published."""
    sleeper = replace(waits(1, LOCK, LOCK), waiting_to=Operation.WAIT)
    hang = waiting(program(sleeper))
    assert not hang.is_deadlock
    assert hang.waiters[0].holder is None


def test_many_waiters_are_cut_short() -> None:
    hang = waiting(program(holds(1, LOCK), *(waits(n, LOCK) for n in range(2, 32))))
    assert "30 threads wait for" in hang.lines()[0]
    assert hang.lines()[-1] == "  and 22 more"


def test_no_thread_waits() -> None:
    assert waiting(idle()).lines() == ["no thread waits for a lock"]


def test_the_longest_wait_comes_first() -> None:
    hang = waiting(program(waits(1, LOCK, since=9 * SECOND), waits(2, LOCK + 1)))
    assert [waiter.thread.number for waiter in hang.waiters] == [2, 1]
