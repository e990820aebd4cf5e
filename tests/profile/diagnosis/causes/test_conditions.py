# SPDX-License-Identifier: MIT
"""Condition variables through which threads hold each other up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from profile_samples import SECOND, distribution

from hasp.profile.diagnosis.diagnose import diagnose
from hasp.profile.model.distribution import NOTHING
from hasp.profile.model.profile import Kind, Operation, Profile, Site, SiteStats

from .parts import US, program, site, use

WAITS = 200_000  # in ten seconds
MUTEX = site(use(400_000, 100, US, 300))


def waits(total: int, mean: float, **more: int) -> SiteStats:
    return replace(use(total, total, mean, 0, **more), hold=NOTHING)


def condition(
    number: int, name: str, threads: Mapping[int, SiteStats], whole: SiteStats
) -> Site:
    made = site(whole, kind=Kind.CONDITION, name=name, number=number)
    uses = {thread: {Operation.WAIT: one} for thread, one in threads.items()}
    return replace(made, threads=uses)


def turns(*, waker: int | None = None, wait: float = 190 * US) -> Profile:
    """Four threads wait; each signals the next, or thread `waker` signals all."""
    each = waits(WAITS // 4, wait)
    threads = {
        thread: replace(each, signals=WAITS // 4 if waker is None else 0)
        for thread in (2, 3, 4, 5)
    }
    if waker is not None:
        threads[waker] = replace(waits(0, 0), signals=WAITS)
    whole = waits(WAITS, wait, signals=WAITS, woken_by_signal=WAITS, futile_wakes=0)
    turn = condition(2, "line.c:12 &line->called", threads, whole)
    return program(MUTEX, turn, cpu_ns=SECOND)


def test_threads_that_wake_each_other_in_turn_are_a_convoy() -> None:
    found = diagnose(turns())
    assert found.lead.id == "convoy", found.sentence
    assert found.lead.subject == "line.c:12 &line->called"
    assert "take turns" in found.sentence


def test_threads_that_another_one_feeds_do_not_take_turns() -> None:
    assert diagnose(turns(waker=6)).lead.id == "not-locks"


def test_threads_that_rarely_sleep_do_not_take_turns() -> None:
    assert diagnose(turns(wait=50 * US)).lead.id == "not-locks"


def queue(taken: float, given: float) -> Profile:
    """Threads 2 and 3 take from a queue, 4 and 5 fill it; both wait so long each."""
    half = WAITS // 2
    whole = waits(WAITS, taken, signals=WAITS, woken_by_signal=WAITS, futile_wakes=0)
    taker = waits(half, taken)
    giver = waits(half, given)
    signals = replace(waits(0, 0), signals=half)
    items = condition(
        2, "q.c:7 &q->item", {2: taker, 3: taker, 4: signals, 5: signals}, whole
    )
    whole = replace(whole, wait=waits(WAITS, given).wait)
    room = condition(
        3, "q.c:8 &q->room", {4: giver, 5: giver, 2: signals, 3: signals}, whole
    )
    return program(MUTEX, items, room, cpu_ns=SECOND)


def test_a_queue_whose_both_sides_sleep_is_not_checked_first() -> None:
    found = diagnose(queue(90 * US, 90 * US))
    assert found.lead.id == "needless-waits", found.sentence
    assert found.lead.remedy == "check-first"


def test_a_queue_may_be_empty_most_of_the_time() -> None:
    assert diagnose(queue(90 * US, 5 * US)).lead.id == "not-locks"


def timed(timeouts: int, lost: int) -> Profile:
    """Waits of 10 us, and this many of 2 ms, the time-out."""
    quick = 20_000
    lasted = distribution(
        [10 * US] * quick + [2000 * US] * timeouts,
        quick + timeouts,
        (quick * 10 + timeouts * 2000) * US,
    )
    whole = waits(quick + timeouts, 1, signals=quick + lost, timeouts=timeouts)
    whole = replace(whole, wait=lasted, empty_signals=lost, futile_wakes=0)
    arrived = condition(2, "spool.c:78 &spool.arrived", {2: whole}, whole)
    return program(MUTEX, arrived, cpu_ns=SECOND // 10)


def test_time_lost_in_time_outs_counts_and_not_their_number() -> None:
    found = diagnose(timed(timeouts=1000, lost=50_000))
    assert found.lead.id == "needless-waits", found.sentence
    assert "until the time-out" in found.sentence


def test_busy_cpus_cannot_do_the_work_sooner() -> None:
    """As in POV-Ray, whose interface polls while other threads render."""
    idle = timed(timeouts=1000, lost=50_000)
    threads = tuple(replace(one, cpu_ns=4 * SECOND) for one in idle.threads)
    samples = (replace(one, runnable=2) for one in idle.process_samples)
    busy = replace(idle, threads=threads, process_samples=tuple(samples))
    assert diagnose(busy).lead.id == "not-locks", diagnose(busy).sentence


def test_time_outs_without_lost_signals_are_idle_time() -> None:
    assert diagnose(timed(timeouts=1000, lost=10)).lead.id == "not-locks"


def awakened(held: float) -> Profile:
    """Most woken threads wait again after they held the mutex for so long."""
    again = use(WAITS, 0, 0, held)
    mutex = replace(MUTEX, stats={**MUTEX.stats, Operation.RELOCK: again})
    whole = waits(WAITS, 190 * US, signals=WAITS, woken_by_signal=WAITS)
    whole = replace(whole, futile_wakes=int(0.8 * WAITS))
    each = waits(WAITS // 2, 190 * US)
    threads = {2: each, 3: each, 4: replace(waits(0, 0), signals=WAITS)}
    job = condition(2, "job.c:9 &job->ready", threads, whole)
    return program(mutex, job, cpu_ns=SECOND)


def test_threads_that_wait_again_at_once_had_nothing_to_do() -> None:
    assert diagnose(awakened(200)).lead.id == "needless-waits"


def test_threads_that_work_under_the_mutex_were_woken_for_it() -> None:
    """As the slices of FFmpeg's filters."""
    assert diagnose(awakened(25 * US)).lead.id == "not-locks"


def unheard(empty: int, futile: int = 120_000) -> Profile:
    """Each change of a queue is broadcast; most of the time nobody waits."""
    sent = 400_000
    whole = waits(
        WAITS, 100 * US, broadcasts=sent, empty_signals=empty, futile_wakes=futile
    )
    return program(MUTEX, condition(2, "queue.c:12 &changed", {}, whole))


def test_broadcasts_that_nobody_hears_wake_nobody() -> None:
    found = diagnose(unheard(360_000))
    assert (found.lead.id, found.lead.remedy) == ("herd", "signal-one")
    assert "each broadcast wakes 5 threads" in found.sentence
    assert diagnose(unheard(0)).lead.id != "herd"


def test_a_herd_may_find_the_work_of_later_broadcasts() -> None:
    """If the CPUs are short, work accumulates before the woken threads run."""
    woken = WAITS
    assert diagnose(unheard(360_000, int(0.3 * woken))).lead.id == "herd"
    assert diagnose(unheard(360_000, int(0.1 * woken))).lead.id != "herd"


def test_a_small_herd_counts_if_many_wake_ups_are_known_to_be_in_vain() -> None:
    """Most waiters still wait for the mutex when the next broadcast comes."""
    heard = int(WAITS / 1.6)  # 1.6 threads woken by each
    empty = 400_000 - heard
    found = diagnose(unheard(empty, int(0.45 * WAITS)))
    assert (found.lead.id, found.lead.remedy) == ("herd", "signal-one")
    for share in (0.3, 0.92):  # in the second, not even one finds work
        assert diagnose(unheard(empty, int(share * WAITS))).lead.id != "herd"
