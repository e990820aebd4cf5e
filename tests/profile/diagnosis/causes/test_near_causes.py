# SPDX-License-Identifier: MIT
"""Causes that are told from others that look alike."""

from __future__ import annotations

from dataclasses import replace

from profile_samples import DURATION, SECOND, stack

from hasp.profile.diagnosis import ranking
from hasp.profile.diagnosis.causes import allocation, biased, stuck, tiny_section
from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.causes.facts import Facts
from hasp.profile.diagnosis.causes.limits import MATTERS
from hasp.profile.diagnosis.diagnose import diagnose
from hasp.profile.model.held_at_end import HeldAtEnd
from hasp.profile.model.holding import HolderState, RunningFunction
from hasp.profile.model.profile import Event, Kind, Operation, Profile

from .cases import running
from .parts import MS, US, holding, program, site, use


def held(profile: Profile, lock: int, waiters: int = 0, **more: bool) -> HeldAtEnd:
    ended = more.get("ended", True)
    frames = stack("book seats.c:20")
    return HeldAtEnd(lock, 2, 0, DURATION, waiters, thread_ended=ended, stack=frames)


def abandoned(count: int) -> Profile:
    """Threads ended with this many locks of one site held."""
    profile = program(site(use(1000, 3, US), instances=count), share=0.01)
    locks = [lock.number for lock in profile.sites[0].locks]
    return replace(profile, held_at_end=tuple(held(profile, one) for one in locks))


def test_locks_of_one_site_that_are_never_released_are_one_cause() -> None:
    found = diagnose(abandoned(5))
    assert found.lead.id == "stuck"
    assert found.others == ()
    assert "acquired 5 of these locks and never released them" in found.sentence


def test_a_lock_that_was_destroyed_while_held_is_misused() -> None:
    profile = abandoned(1)
    lock = profile.sites[0].locks[0].number
    event = Event("destroyed-held", 2, lock, 0, 9, SECOND, stack("drop seats.c:40"))
    found = diagnose(replace(profile, events=(event,)))
    assert [one.id for one in (found.lead, *found.others)] == ["misuse"]


def test_a_gate_at_the_end_of_a_run_is_not_stuck() -> None:
    made = site(use(2, 1, 9 * SECOND, 16))
    profile = program(made, share=0.01)
    lock = profile.sites[0].locks[0].number
    gate = held(profile, lock, waiters=1, ended=False)
    stalled = held(profile, lock, waiters=3, ended=False)
    assert not stuck.detect(Facts(replace(profile, held_at_end=(gate,))))
    assert stuck.detect(Facts(replace(profile, held_at_end=(stalled,))))


def test_a_holder_that_waits_for_a_thread_at_the_end_is_stuck() -> None:
    """Its hold was not timed: only the samples show how long it is."""
    library = {"module": "libc.so.6"}
    calls = stack("__futex_abstimed_wait_common", **library)
    calls += stack("__pthread_clockjoin_ex", **library) + stack("restart a.c:9")
    seen = holding((HolderState.FUTEX, 1.0, "futex"))
    seen = replace(seen, states=(replace(seen.states[0], stack=calls),))
    profile = program(site(use(900, 2, 9 * SECOND, 16), held=seen), share=0.01)
    lock = profile.sites[0].locks[0].number
    last = replace(held(profile, lock, waiters=2, ended=False), stack=())
    last = replace(last, since_ns=DURATION - 100, duration_ns=100)
    (found,) = stuck.detect(Facts(replace(profile, held_at_end=(last,))))
    assert found.problem.startswith("restart() acquired it and waits in pthread_join()")


def alone(rate: int, workers: int) -> Profile:
    """One of these workers takes a lock so many times per second."""
    made = site(use(rate * 10, 0, 0, 20))
    only = {2: {Operation.LOCK: made.stats[Operation.LOCK]}}
    profile = program(replace(made, threads=only))
    return replace(profile, threads=profile.threads[: 1 + workers])


def test_a_single_worker_does_not_show_that_nobody_wants_a_lock() -> None:
    def is_biased(profile: Profile) -> bool:
        return biased.detect(Facts(profile).sites[0]) is not None

    assert not is_biased(alone(2_000_000, workers=1))
    assert is_biased(alone(2_000_000, workers=4))
    assert is_biased(alone(20_000_000, workers=1))  # it is most of the work


def test_a_tiny_write_cannot_be_shortened() -> None:
    made = site(use(1, 0, 0, US), kind=Kind.RWLOCK)
    stats = {
        Operation.READ: use(60_000, 6000, 3 * MS, 10 * US),
        Operation.WRITE: use(6000, 100, US, 300),
    }
    profile = program(replace(made, stats=stats))
    assert diagnose(profile).lead.id != "blocked-readers"
    stats[Operation.WRITE] = use(6000, 100, US, 300 * US)
    profile = program(replace(made, stats=stats))
    assert diagnose(profile).lead.id == "blocked-readers"


def filling(function: str, faults: int) -> Profile:
    """Holders execute this function, and their threads have so many page faults."""
    runs = RunningFunction(function, "libc.so.6", 0.95, 190, allocates=False)
    state = (HolderState.RUNNING, 1.0, None)
    held = holding(state, functions=(runs,), running_samples=200, allocation_share=0.02)
    profile = program(site(use(10_000, 500, 20 * MS, 300 * US), held=held))
    threads = [replace(one, minor_faults=faults) for one in profile.threads]
    samples = [
        replace(one, system_ns=one.at_ns // 2) for one in profile.process_samples
    ]
    return replace(profile, threads=threads, process_samples=tuple(samples))


def allocates(profile: Profile) -> bool:
    return allocation.allocating(Facts(profile).sites[0]) >= 0.25


def test_page_faults_of_sections_that_fill_memory_are_allocation() -> None:
    assert allocates(filling("__memset_avx512_unaligned_erms", 500_000))
    assert not allocates(filling("checksum", 500_000))
    assert not allocates(filling("__memset_avx512_unaligned_erms", 50))
    assert not allocates(running())


def test_threads_with_hot_locks_of_their_own_share_no_counter() -> None:
    """Hardly any acquisition of 40 million waits, though some change the owner."""
    shared = use(40_000_000, 900_000, 30 * US, 60, owner_changes=1_000_000)
    own = use(40_000_000, 90, MS, 60, owner_changes=1_000_000)
    assert tiny_section.detect(Facts(program(site(shared))).sites[0])
    assert not tiny_section.detect(Facts(program(site(own))).sites[0])


def test_the_call_that_waits_for_another_thread_is_named() -> None:
    library = {"module": "libc.so.6"}
    calls = stack("__futex_abstimed_wait_common", **library)
    calls += stack("__new_sem_wait_slow64", **library) + stack("read_line s.c:9")
    seen = holding((HolderState.FUTEX, 1.0, "futex"))
    seen = replace(seen, states=(replace(seen.states[0], stack=calls),))
    found = diagnose(program(site(use(9000, 8000, MS, MS), held=seen)))
    assert found.lead.id == "blocking-section"
    assert "put() waits in sem_wait(), 1 ms each time" in found.sentence


def test_a_saving_that_matters_comes_first() -> None:
    causes = [
        Cause(name, "mu", "", ("",), saves, (), 1, "")
        for name, saves in (("biased", 0.7 * MATTERS), ("idle-locks", MATTERS))
    ]
    best = ranking.chosen(causes)
    assert best and best.id == "idle-locks"
