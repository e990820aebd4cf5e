# SPDX-License-Identifier: MIT
"""Queues between threads: a consumer works only if a producer has put something in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from predict_samples import BASE, closed
from trace_samples import BEGIN, SECOND, Synthetic

from hasp.base.errors import HaspError
from hasp.lab.simulate.machines import machine
from hasp.lab.simulate.simulation import flattened
from hasp.predict.calibration import calibrated
from hasp.predict.load import Load, Variant
from hasp.predict.rebuild import rebuild
from hasp.predict.runs import Case, Runs
from hasp.profile.model.build import load as load_profile
from hasp.profile.trace import format
from hasp.profile.trace.format import ChunkKind

PUTS, TAKES, WAITS = 40_000, 80_000, 1000
HOLD = 1000  # ns
WAITED = SECOND // 4
STEADY = Variant(False, 1, 1)
SIGNALS = {"signals": PUTS, "woken_by_signal": WAITS}


def queue(
    own: dict[str, Any] | None = None, relocks: int = WAITS, mutexes: int = 1
) -> Synthetic:
    """Return a main thread that puts two items in each section, and a consumer.

    The consumer began in the middle of the run, and waits a quarter of it. `own` are
    more fields of its waits.
    """
    trace = Synthetic()
    stack, other = (trace.stack(BASE + at, BASE + 0x900) for at in (0x100, 0x200))
    trace.header["pid"] = 1
    main = trace.thread(tid=1, name=b"main", cpu_ns=SECOND)
    consumer = trace.thread(
        tid=2,
        name=b"pool",
        began=BEGIN + SECOND // 2,
        cpu_ns=SECOND // 4,
        idle_ticks=WAITED,
    )
    for at in range(mutexes):
        fields = {"site": stack, "acquisitions": PUTS + TAKES + relocks}
        trace.lock(address=64 + 64 * at, created_stack=stack, **fields)
        trace.add(ChunkKind.LOCK_COUNTS, lock=1 + at, hold_ticks=SECOND // 4, **fields)
    for thread, operation, number in (
        (main, format.Operation.LOCK, PUTS),
        (consumer, format.Operation.LOCK, TAKES),
        (consumer, format.Operation.RELOCK, relocks),
    ):
        trace.use(
            {"hold": [HOLD] * 50},
            site=stack,
            thread=thread,
            operation=operation,
            acquisitions=number,
            hold_ticks=number * HOLD,
            hold_most=HOLD,
            timed=50,
        )
    trace.lock(address=4096, site=other, kind=format.LockKind.CONDITION)
    condition = {
        "site": other,
        "operation": format.Operation.WAIT,
        "lock_kind": format.LockKind.CONDITION,
    }
    trace.use(thread=main, **condition, **SIGNALS)
    waits = {"acquisitions": WAITS, "wait_ticks": WAITED, **(own or {})}
    trace.use(thread=consumer, **condition, **waits)
    return trace


def rebuilt(made: Synthetic, folder: Path, busy: bool = False) -> Load:
    return rebuild(load_profile(made.write(folder / "hasp.trace")), 64, busy)


def test_a_consumer_waits_for_items_instead_of_sleeping(tmp_path: Path) -> None:
    load = rebuilt(queue(), tmp_path)
    assert [site.queues for site in load.sites] == [True]
    consumer, producer = load.roles
    assert (consumer.scales, consumer.takes, consumer.puts) == (True, {0}, ())
    assert (consumer.idle_ns, consumer.waits) == (0, 0)
    assert consumer.rate == pytest.approx(TAKES / (SECOND / 2), rel=0.02)
    assert producer.takes == frozenset()
    assert producer.puts == ((0, pytest.approx(TAKES / PUTS)),)


def test_a_consumer_has_all_its_time_in_the_kernel_between_items(
    tmp_path: Path,
) -> None:
    """Also that of the sections which end its waits."""
    made = queue()
    _, consumer = made.records[ChunkKind.THREADS]
    consumer["user_ns"], consumer["system_ns"] = SECOND // 5, SECOND // 20
    role, producer = rebuilt(made, tmp_path).roles
    assert role.kernel_ns == pytest.approx(SECOND / 20 / TAKES, rel=0.002)
    assert producer.kernel_ns is None


def test_a_producer_has_put_all_items_while_there_was_a_consumer(
    tmp_path: Path,
) -> None:
    _, producer = rebuilt(queue(), tmp_path).roles
    assert producer.rate == pytest.approx(PUTS / (SECOND / 2), rel=0.02)
    assert producer.gap_ns == pytest.approx(SECOND / 2 / PUTS - HOLD, rel=0.02)


@pytest.mark.parametrize(
    "made",
    [
        queue(own={"signals": PUTS // 10}),
        queue(own={"timeouts": WAITS // 10}),
        queue(relocks=WAITS // 2),
        queue(mutexes=2),
        queue(own={"acquisitions": 50}, relocks=200),
    ],
    ids=["signals-back", "times-out", "another-mutex", "two-mutexes", "other-waits"],
)
def test_other_waits_keep_their_time(made: Synthetic, tmp_path: Path) -> None:
    load = rebuilt(made, tmp_path)
    assert not any(site.queues for site in load.sites)
    assert not any(role.takes or role.puts for role in load.roles)
    assert load.roles[0].idle_ns > 0


def test_busy_threads_wait_for_nobody(tmp_path: Path) -> None:
    load = rebuilt(queue(), tmp_path, busy=True)
    assert not any(role.takes for role in load.roles)


def test_the_user_is_told_who_sets_the_pace(hasp, tmp_path: Path) -> None:
    path = queue().write(tmp_path / "hasp.trace")
    words = ("--machine", "epyc-2x64", "--threads", "1", "--locks", "mcs", "--json")
    status, out, _ = hasp("predict", str(path), *words)
    assert status == 0
    assert "put into a queue" in out


def coupled(put_every_ns: float, takes_ns: float) -> Load:
    """Return consumers of a role that scales, and one producer."""
    load = closed(takes_ns, 100.0)
    (consumer,) = load.roles
    producer = replace(
        consumer, scales=False, gap_ns=put_every_ns - 100, puts=((0, 1.0),)
    )
    roles = (replace(consumer, takes=frozenset({0})), producer)
    return replace(load, sites=(replace(load.sites[0], queues=True),), roles=roles)


@pytest.mark.parametrize("lock", ["futex", "mcs"])
@pytest.mark.parametrize("workers", [1, 4])
def test_consumers_are_as_fast_as_their_producer(runs, lock, workers) -> None:
    simulated = runs(coupled(put_every_ns=20_000.0, takes_ns=2_000.0))
    case = Case(lock, workers, STEADY)
    assert simulated.run([case], 1)[case].throughput == pytest.approx(
        1 / 20_000, rel=0.1
    )


def test_a_wait_ends_a_transaction() -> None:
    haswell = machine.load("i7-4770")
    with flattened(haswell) as path:
        simulated = Runs(coupled(20_000.0, 2_000.0), haswell, path)
        case = Case("elide+ttas", 2, STEADY)
        assert simulated.run([case], 1)[case].throughput == pytest.approx(
            1 / 20_000, rel=0.1
        )


def test_consumers_that_are_slower_set_the_pace(runs) -> None:
    simulated = runs(coupled(put_every_ns=1_000.0, takes_ns=20_000.0))
    one = Case("mcs", 1, STEADY)
    assert simulated.run([one], 1)[one].throughput == pytest.approx(1 / 20_100, rel=0.1)


def test_consumers_leave_their_cpus_while_they_wait(small) -> None:
    """Eight of them on two CPUs do not slow down their producer."""
    simulated = small(coupled(put_every_ns=100_000.0, takes_ns=2_000.0))
    case = Case("mcs", 8, STEADY)
    assert simulated.run([case], 1)[case].throughput == pytest.approx(
        1 / 100_000, rel=0.2
    )


def test_each_role_is_calibrated_without_the_others(runs) -> None:
    simulated = runs(coupled(put_every_ns=20_000.0, takes_ns=2_000.0))
    consumer, _ = calibrated(simulated, "mcs", 1).roles
    assert 0.9 * 2_000 < consumer.gap_ns <= 2_000
    assert consumer.takes


def test_loads_that_could_never_go_on_are_refused(runs) -> None:
    load = coupled(20_000.0, 2_000.0)
    all_wait = tuple(replace(role, takes=frozenset({0})) for role in load.roles)
    for wrong, words in (
        (replace(load, roles=all_wait), "all roles wait for others"),
        (replace(load, sites=closed(1.0, 1.0).sites), "site 0 has no queue"),
        (
            replace(load, sites=(replace(load.sites[0], locks=2, weights=(1, 1)),)),
            "share a queue under one mutex",
        ),
    ):
        with pytest.raises(HaspError, match=words):
            runs(wrong).run([Case("mcs", 1, STEADY)], 1)
