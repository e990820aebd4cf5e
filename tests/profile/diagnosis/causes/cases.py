# SPDX-License-Identifier: MIT
"""Synthetic profiles: for each cause one that has it, and a near miss that does not.

Each is a program of four threads on two CPUs that runs for ten seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import profile_samples as samples
from profile_samples import DURATION, SECOND, distribution, stack

from hasp.profile.model.cache_lines import SharedLine
from hasp.profile.model.distribution import NOTHING
from hasp.profile.model.foreign import ForeignWaits
from hasp.profile.model.held_at_end import HeldAtEnd
from hasp.profile.model.holding import (
    HolderState,
    RunningFunction,
)
from hasp.profile.model.profile import (
    Event,
    Kind,
    Operation,
    OrderedPair,
    Profile,
    Site,
    SiteStats,
)
from hasp.profile.model.runtimes import Runtime

from .parts import MS, US, holding, program, site, use


class Case(NamedTuple):
    """A profile that has a cause, and one that nearly has it."""

    having: Callable[[], Profile]
    missing: Callable[[], Profile]


WAITING = {"acquisitions": 10_000, "contended": 9000, "wait": 2 * MS, "hold": 600 * US}


def section(*states: tuple[HolderState, float, str | None], **more: object) -> Profile:
    """Return a program whose threads wait for long holds in these states."""
    return program(site(use(**WAITING), held=holding(*states, **more)))


def blocking() -> Profile:
    return section((HolderState.IO, 0.8, "write"), (HolderState.RUNNING, 0.2, None))


def running() -> Profile:
    return section((HolderState.RUNNING, 0.95, None), (HolderState.IO, 0.05, "write"))


def allocating() -> Profile:
    malloc = RunningFunction("malloc", "libc.so.6", 0.7, 140, allocates=True)
    return section(
        (HolderState.RUNNING, 1.0, None),
        functions=(malloc,),
        running_samples=200,
        allocation_share=0.7,
    )


def nearly_allocating() -> Profile:
    return section((HolderState.RUNNING, 1.0, None), allocation_share=0.05)


CUT = ((HolderState.READY, 0.9, None), (HolderState.RUNNING, 0.1, None))


SHORT = {**WAITING, "hold": 30 * US}


def preempted() -> Profile:
    cut = site(use(**SHORT), held=holding(*CUT))
    return program(cut, runnable=4, cpu_ns=5 * SECOND)


def disturbed() -> Profile:
    """Other programs took the holders' CPU: this one got little of it."""
    return program(site(use(**SHORT), held=holding(*CUT)), runnable=4)


def idle() -> Profile:
    return program(site(use(10_000, 10, 50 * US, 100 * US)))


def hot_counter() -> Profile:
    return program(site(use(40_000_000, 900_000, 30 * US, 60, owner_changes=1_000_000)))


def cold_counter() -> Profile:
    return program(site(use(100_000, 200, 30 * US, 60, owner_changes=300)))


def _shared(greedy: float, wait: float) -> Site:
    """Return a site of which thread 2 has this part of the holds."""
    made = site(use(20_000, 3000, wait, 400 * US))
    total = made.stats[Operation.LOCK]
    hold = int(total.hold.total_ns)
    first = replace(total, hold=replace(total.hold, total_ns=int(hold * greedy)))
    first = replace(first, contended=0, wait=NOTHING)
    rest = use(100, 1000, wait, 10 * US)
    threads = {2: first, 3: rest, 4: rest, 5: rest}
    return replace(
        made, threads={n: {Operation.LOCK: one} for n, one in threads.items()}
    )


def greedy() -> Profile:
    return program(_shared(0.98, 8 * MS))


def generous() -> Profile:
    """Others wait for one hold only, as under a fair lock."""
    return program(_shared(0.98, 0.15 * MS))


def _rwlock(reads: SiteStats, writes: SiteStats) -> Profile:
    made = site(writes, kind=Kind.RWLOCK, name="cache.cc:9 Cache::lock_")
    return program(
        replace(made, stats={Operation.READ: reads, Operation.WRITE: writes})
    )


def starving() -> Profile:
    return _rwlock(use(200_000, 10, US, 50 * US), use(200, 190, 80 * MS, 10 * US))


def patient_writers() -> Profile:
    """Writers wait for one read each."""
    return _rwlock(use(200_000, 10, US, 50 * US), use(20_000, 19_000, 40 * US, 10 * US))


def blocked() -> Profile:
    return _rwlock(use(20_000, 6000, 3 * MS, 50 * US), use(2000, 100, US, 2 * MS))


def unblocked() -> Profile:
    return _rwlock(use(20_000, 60, 3 * MS, 50 * US), use(20, 2, US, 2 * MS))


def _condition(**more: int) -> Profile:
    waits = replace(use(200_000, 200_000, 100 * US, 0, **more), hold=NOTHING)
    condition = site(
        waits, kind=Kind.CONDITION, name="queue.c:12 &queue->wake", number=2
    )
    return program(site(use(400_000, 100, US, 300)), condition)


def herd() -> Profile:
    return _condition(
        broadcasts=25_000, woken_by_broadcast=200_000, futile_wakes=175_000
    )


def useful_broadcasts() -> Profile:
    return _condition(broadcasts=25_000, woken_by_broadcast=200_000, futile_wakes=50)


def needless() -> Profile:
    return _condition(signals=200_000, woken_by_signal=200_000, futile_wakes=180_000)


def needed() -> Profile:
    return _condition(signals=200_000, woken_by_signal=200_000, futile_wakes=2000)


def _stripes(load: float) -> Profile:
    made = site(use(400_000, 90_000, 200 * US, 80 * US), instances=16)
    first, *rest = made.locks
    total = made.stats[Operation.LOCK]
    hot = replace(
        first,
        acquisitions=int(total.acquisitions * load),
        wait_ns=int(total.wait.total_ns * load),
    )
    part = (1 - load) / len(rest)
    others = [
        replace(
            lock,
            acquisitions=int(total.acquisitions * part),
            wait_ns=int(total.wait.total_ns * part),
        )
        for lock in rest
    ]
    return program(replace(made, locks=(hot, *others)))


def uneven() -> Profile:
    return _stripes(0.8)


def even() -> Profile:
    return _stripes(1 / 16)


def spinning() -> Profile:
    spun = use(2_000_000, 500_000, 40 * US, 900)
    return program(site(spun, kind=Kind.SPINLOCK), runnable=4)


def enough_cpus() -> Profile:
    spun = use(2_000_000, 500_000, 40 * US, 900)
    return program(site(spun, kind=Kind.SPINLOCK), runnable=4, cpus=8)


def _handover(took: float) -> Profile:
    stats = use(300_000, 280_000, 90 * US, 2 * US, owner_changes=290_000)
    handed = distribution([took] * 1000, 280_000, int(took * 280_000))
    return program(site(replace(stats, handover=handed)))


def convoy() -> Profile:
    return _handover(28 * US)


def quick_handover() -> Profile:
    return _handover(500)


def polling() -> Profile:
    tried = use(
        50_000,
        hold=90 * US,
        trylocks=8_000_000,
        trylock_failures=7_950_000,
        longest_failing_run=5000,
        trying_ns=12 * SECOND,
    )
    return program(site(tried))


def trying() -> Profile:
    """A trylock whose failure is answered with other work."""
    tried = use(
        50_000,
        hold=90 * US,
        trylocks=60_000,
        trylock_failures=10_000,
        longest_failing_run=2,
        trying_ns=10 * MS,
    )
    return program(site(tried))


def _nested(inner_hold: float) -> Profile:
    outer = site(use(**WAITING))
    inner = site(
        use(10_000, 0, 0, inner_hold, nested=10_000), name="db.c:9 &row->mu", number=2
    )
    edge = OrderedPair(
        outer.locks[0].number, inner.locks[0].number, 10_000, False, stack("put db.c:9")
    )
    return replace(program(outer, inner), lock_order=(edge,))


def nested() -> Profile:
    return _nested(560 * US)


def barely_nested() -> Profile:
    return _nested(5 * US)


def events(kind: str, *, own: bool = True) -> Profile:
    """Return a program with one event of this kind between two locks."""
    first = site(use(1000, 2, US))
    second = site(use(1000, 2, US), name="db.c:90 &db->log", number=2)
    a, b = first.locks[0].number, second.locks[0].number
    forth, back = stack("pay bank.c:31"), stack("refund bank.c:44")
    made = program(first, second, share=0.001)
    found = (Event(kind, 2, a, b if own else 0, 3, SECOND, forth),) if kind else ()
    edges = (OrderedPair(a, b, 500, False, forth), OrderedPair(b, a, 20, False, back))
    return replace(made, events=found, lock_order=edges if own else ())


def padded() -> Profile:
    return program(site(use(90_000_000, 200, US, 20), instances=4))


def neighbours() -> Profile:
    made = padded().sites[0]
    lines = [
        SharedLine(
            lock.number, lock.number + 1, 1, lock.acquisitions, lock.acquisitions
        )
        for lock in made.locks
    ]
    return program(replace(made, shared_lines=tuple(lines)))


def many() -> Profile:
    return program(site(use(200_000, 4, US, 60), instances=60_000), share=0.01)


def some() -> Profile:
    return program(site(use(200_000, 4, US, 60), instances=600), share=0.01)


def _alone(changes: int) -> Profile:
    made = site(use(80_000_000, 0, 0, 20, owner_changes=changes))
    parts = {2: made.stats[Operation.LOCK], 3: use(changes // 2, 0, 0, 20)}
    threads = {number: {Operation.LOCK: part} for number, part in parts.items()}
    return program(replace(made, threads=threads))


def alone() -> Profile:
    return _alone(1)


def visited() -> Profile:
    return _alone(4_000_000)


def _held(waiters: int, lasted: float) -> Profile:
    made = program(site(use(1000, 3, US)), share=0.01)
    lock = made.sites[0].locks[0].number
    held = HeldAtEnd(
        lock,
        2,
        int(DURATION - lasted),
        int(lasted),
        waiters,
        thread_ended=False,
        stack=stack("book seats.c:20"),
    )
    return replace(made, held_at_end=(held,))


def never_released() -> Profile:
    return _held(3, 8 * SECOND)


def in_use_at_the_end() -> Profile:
    return _held(1, 50 * US)


def blocked_elsewhere() -> Profile:
    profile = idle()
    return replace(
        profile,
        foreign=ForeignWaits(1000, 600, 550, {"libgomp.so.1": 1.0}),
        unseen_runtimes=(
            Runtime("openmp", "OpenMP", "libgomp.so.1", "critical sections", "perf"),
        ),
    )


def with_openmp() -> Profile:
    """The runtime is there, but threads do not block in it."""
    return replace(blocked_elsewhere(), foreign=ForeignWaits(1000, 5, 5, {}))


CASES: dict[str, Case] = {
    "blocking-section": Case(blocking, running),
    "long-section": Case(running, idle),
    "allocation": Case(allocating, nearly_allocating),
    "preempted-holder": Case(preempted, disturbed),
    "tiny-section": Case(hot_counter, cold_counter),
    "unfair": Case(greedy, generous),
    "starved-writers": Case(starving, patient_writers),
    "blocked-readers": Case(blocked, unblocked),
    "herd": Case(herd, useful_broadcasts),
    "needless-waits": Case(needless, needed),
    "uneven-stripes": Case(uneven, even),
    "spinning": Case(spinning, enough_cpus),
    "convoy": Case(convoy, quick_handover),
    "trylock-loop": Case(polling, trying),
    "nested-locks": Case(nested, barely_nested),
    "lock-order": Case(lambda: events("order-inversion"), lambda: events("")),
    "misuse": Case(
        lambda: events("foreign-unlock", own=False), lambda: events("held-at-exit")
    ),
    "shared-line": Case(neighbours, padded),
    "idle-locks": Case(many, some),
    "biased": Case(alone, visited),
    "stuck": Case(never_released, in_use_at_the_end),
    "not-locks": Case(idle, running),
    "unseen-locks": Case(blocked_elsewhere, with_openmp),
}
DEADLOCK = samples.deadlock
EVERY: Sequence[Callable[[], Profile]] = (
    *(case.having for case in CASES.values()),
    *(case.missing for case in CASES.values()),
    *samples.SAMPLES.values(),
)
