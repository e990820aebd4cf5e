# SPDX-License-Identifier: MIT
"""The load of a program with a known one is rebuilt from its trace."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from predict_samples import BASE, EACH, GAP, INNER, OUTER, WORKERS, pool, synthetic
from trace_samples import SECOND, Synthetic

from hasp.base.errors import HaspError
from hasp.predict.load import Load, exponential, threads_by_role
from hasp.predict.rebuild import rebuild
from hasp.predict.shapes import shape_of
from hasp.predict.short_sections import fitted
from hasp.profile.diagnosis.what_if.network import Customer, Visits
from hasp.profile.model.build import load as load_profile
from hasp.profile.model.distribution import NOTHING, Distribution
from hasp.profile.trace.format import ChunkKind

WITHIN = 0.1


def rebuilt(made: Synthetic, folder: Path, most: int = 64) -> Load:
    return rebuild(load_profile(made.write(folder / "hasp.trace")), most)


def test_times_nesting_and_order_are_rebuilt(tmp_path: Path) -> None:
    load = rebuilt(synthetic(), tmp_path)
    outer, inner = load.sites
    assert (outer.name, inner.name) == ("server+0x100", "server+0x200")
    (role,) = load.roles
    assert (role.name, role.recorded, role.scales) == ("worker", WORKERS, True)
    assert role.gap_ns == pytest.approx(GAP, rel=WITHIN)
    assert role.holds_ns[0] == pytest.approx(OUTER, rel=WITHIN)
    assert role.holds_ns[1] == pytest.approx(2 * INNER, rel=WITHIN)
    ((at, times),) = outer.inner
    assert (at, times) == (1, pytest.approx(0.5, rel=WITHIN))
    assert inner.inner == ()
    assert role.visits == ((0, pytest.approx(1.0)),)
    rate = 1 / (GAP + OUTER + INNER)
    assert load.rate == pytest.approx(WORKERS * rate, rel=WITHIN)


def test_times_without_a_cpu_are_subtracted(tmp_path: Path) -> None:
    """Workers with half a CPU each, and only involuntary context switches."""
    load = rebuilt(synthetic(cpu=SECOND // 2), tmp_path)
    (role,) = load.roles
    assert role.ran == pytest.approx(0.5, rel=WITHIN)
    assert role.gap_ns == pytest.approx(GAP / 2, rel=WITHIN)
    assert role.holds_ns[1] == pytest.approx(INNER, rel=WITHIN)
    assert role.rate == pytest.approx(2 / (GAP + OUTER + INNER), rel=WITHIN)


def test_one_recorded_thread_is_the_one_that_scales(tmp_path: Path) -> None:
    load = rebuilt(synthetic(workers=1), tmp_path)
    assert [(role.recorded, role.scales) for role in load.roles] == [(1, True)]
    assert threads_by_role(load, 64) == [64]


def test_the_pool_scales_and_not_the_main_thread(tmp_path: Path) -> None:
    load = rebuilt(pool(SECOND // 2), tmp_path)
    assert [(role.recorded, role.scales) for role in load.roles] == [
        (1, True),
        (1, False),
    ]
    worker, main = load.roles
    assert main.idle_ns == 0
    assert worker.idle_ns == pytest.approx(SECOND / 2 / EACH, rel=0.01)
    assert worker.waits == pytest.approx(50 / EACH, rel=0.01)
    sleep_ns, share = worker.sleep
    assert sleep_ns * share == pytest.approx(worker.idle_ns)
    assert (
        rebuild(load_profile(tmp_path / "hasp.trace"), 64, busy=True).roles[0].idle_ns
        == 0
    )


def test_threads_that_hardly_wait_are_alike(tmp_path: Path) -> None:
    (role,) = rebuilt(pool(SECOND // 20), tmp_path).roles
    assert (role.recorded, role.scales) == (2, True)


def test_the_cost_of_recording_is_subtracted(tmp_path: Path) -> None:
    made = synthetic()
    for thread in made.records[ChunkKind.THREADS]:
        thread["overhead_ticks"] = SECOND // 10
    (role,) = rebuilt(made, tmp_path).roles
    whole = GAP + OUTER + INNER
    assert role.gap_ns == pytest.approx(GAP - whole / 10, rel=WITHIN / 2)
    assert role.rate == pytest.approx(1 / 0.9 / whole, rel=WITHIN / 2)


def test_sections_leave_time_to_take_and_release_their_locks(tmp_path: Path) -> None:
    """Without recording, 200 ns remain between two sections; a pair takes 500."""
    made = synthetic()
    made.set_header(pair_cost_ps=500_000)
    for thread in made.records[ChunkKind.THREADS]:
        thread["overhead_ticks"] = EACH * (GAP - 200)
    (role,) = rebuilt(made, tmp_path).roles
    assert role.gap_ns == pytest.approx(500, rel=WITHIN)
    assert role.holds_ns[0] == pytest.approx(OUTER - 300, rel=WITHIN)
    assert role.holds_ns[1] == pytest.approx(2 * INNER, rel=WITHIN)
    whole = 200 + OUTER + INNER
    assert role.rate == pytest.approx(1 / whole, rel=WITHIN)


def test_all_sections_become_shorter_by_the_same_time_but_not_negative() -> None:
    visits = {1: Visits(10, 5, 0, 0), 2: Visits(10, 100, 0, 0)}
    customer = Customer(1, 1000, 1050, 0, 0, visits, {1: 5, 2: 100, 3: 7}, (1,))
    shorter = fitted(customer, recording_ns=0, pair_ns=10)
    assert shorter.inner_hold_ns == {1: 0, 2: pytest.approx(80), 3: 7}
    assert shorter.outside_ns == pytest.approx(10 * 20)
    assert fitted(replace(customer, locked_ns=700), 0, 10).inner_hold_ns[2] == 100


def test_a_program_without_locks_is_refused(tmp_path: Path) -> None:
    made = Synthetic()
    made.thread(tid=1)
    with pytest.raises(HaspError, match="no lock was held"):
        rebuilt(made, tmp_path)


def test_equal_parts_of_a_histogram_have_its_mean() -> None:
    times = Distribution((0, 90, 0, 10), (0, 10, 20, 40, 80), 1950, 70, 100)
    shape = shape_of(times)
    assert sum(shape) / len(shape) == pytest.approx(1000, rel=0.01)
    assert shape[0] / shape[-1] == pytest.approx(15 / 60, rel=0.01)  # the middles
    assert set(shape_of(NOTHING)) == {1000}


def test_the_exponential_shape_has_the_mean_and_variance_of_one() -> None:
    shape = [value / 1000 for value in exponential()]
    mean = sum(shape) / len(shape)
    variance = sum((value - mean) ** 2 for value in shape) / len(shape)
    assert mean == pytest.approx(1, rel=0.001)
    assert variance == pytest.approx(1, rel=0.05)


def owned(owner_changes: int, second: int = EACH) -> Synthetic:
    """Return a program with a lock for each of two workers, and one of another.

    The second worker acquires its lock that often.
    """
    made = synthetic(workers=3)
    stack = made.stack(BASE + 0x400, BASE + 0x900)
    for at, count in enumerate((EACH, second)):
        made.lock(
            address=2048 + 64 * at,
            site=stack,
            created_stack=stack,
            acquisitions=count,
        )
        number = len(made.records[ChunkKind.LOCKS])
        made.add(
            ChunkKind.LOCK_COUNTS,
            lock=number,
            site=stack,
            acquisitions=count,
            hold_ticks=count * 100,
        )
        made.use(
            {"hold": [100] * 50},
            site=stack,
            thread=2 + at,
            acquisitions=count,
            hold_ticks=count * 100,
            hold_most=100,
            timed=50,
            owner_changes=owner_changes,
        )
    return made


@pytest.mark.parametrize(("changes", "own"), [(0, True), (EACH // 2, False)])
def test_a_lock_of_each_thread_that_uses_it_is_told_apart(
    tmp_path: Path, changes: int, own: bool
) -> None:
    """Although a third worker does not use such locks."""
    load = rebuilt(owned(changes), tmp_path)
    (site,) = [one for one in load.sites if one.name == "server+0x400"]
    assert site.each_worker is own
    assert site.locks == (1 if own else 2)


def test_one_thread_with_nearly_all_acquisitions_does_not_own_its_lock(
    tmp_path: Path,
) -> None:
    """Owners hardly change either if only one of the threads uses the locks often."""
    load = rebuilt(owned(0, second=10), tmp_path)
    (site,) = [one for one in load.sites if one.name == "server+0x400"]
    assert not site.each_worker
    assert site.locks == 2


def test_threads_sleep_in_the_kernel_unless_they_are_busy(tmp_path: Path) -> None:
    """Workers with a CPU half of the time, which they leave by their own will.

    While a section lasts they may sleep in it; only the rest is certainly outside.
    """
    made = synthetic(cpu=SECOND // 2)
    for thread in made.records[ChunkKind.THREADS]:
        thread["voluntary"], thread["involuntary"] = EACH // 4, 0
    profile = load_profile(made.write(tmp_path / "hasp.trace"))
    absent, held = (GAP + OUTER + INNER) / 2, OUTER + INNER
    (role,) = rebuild(profile, 64).roles
    assert role.idle_ns == pytest.approx(absent - held, rel=WITHIN)
    assert role.gap_ns == pytest.approx(GAP - role.idle_ns, rel=WITHIN)
    assert role.waits == pytest.approx(0.25, rel=WITHIN)
    assert role.rate == pytest.approx(1 / (GAP + OUTER + INNER), rel=WITHIN)
    (role,) = rebuild(profile, 64, busy=True).roles
    assert role.idle_ns == 0
    assert role.gap_ns == pytest.approx(GAP - absent, rel=WITHIN)


def server(cpu: int, idle: int, pid: int = 4242) -> Synthetic:
    """Return a worker, and a thread that holds a lock of its own for 1.5 ms in all."""
    made = synthetic(workers=1)
    made.header["pid"] = pid
    stack = made.stack(BASE + 0x500, BASE + 0x900)
    held, count = 1_500_000, 15_000
    made.lock(address=4096, site=stack, created_stack=stack, acquisitions=count)
    lock = len(made.records[ChunkKind.LOCKS])
    fields = {"site": stack, "acquisitions": count, "hold_ticks": held}
    made.add(ChunkKind.LOCK_COUNTS, lock=lock, **fields)
    thread = made.thread(tid=9, name=b"other", cpu_ns=cpu, idle_ticks=idle)
    made.use({"hold": [100] * 50}, thread=thread, timed=50, hold_most=100, **fields)
    return made


@pytest.mark.parametrize(
    ("cpu", "idle", "pid", "found"),
    [
        (SECOND * 15 // 100, SECOND * 85 // 100, 4242, True),
        (SECOND, 0, 4242, False),
        (SECOND // 1000, SECOND * 999 // 1000, 4242, False),
        (SECOND * 15 // 100, SECOND * 85 // 100, 9, False),
    ],
    ids=["mostly-idle", "always-busy", "hardly-runs", "main-thread"],
)
def test_a_lock_counts_if_a_thread_holds_it_long_while_it_works(
    tmp_path: Path, cpu: int, idle: int, pid: int, found: bool
) -> None:
    names = [site.name for site in rebuilt(server(cpu, idle, pid), tmp_path, 4).sites]
    assert ("server+0x500" in names) is found


def test_busy_threads_hold_a_lock_for_a_larger_share(tmp_path: Path) -> None:
    made = server(SECOND * 15 // 100, 0)
    profile = load_profile(made.write(tmp_path / "hasp.trace"))
    assert "server+0x500" not in [site.name for site in rebuild(profile, 4).sites]
    busy = rebuild(profile, 4, busy=True)
    assert "server+0x500" in [site.name for site in busy.sites]


def test_threads_that_begin_late_and_stay_keep_their_rate(tmp_path: Path) -> None:
    made = synthetic()
    for thread in made.records[ChunkKind.THREADS][1:]:
        thread["began"] += SECOND * 6 // 10
    (role,) = rebuilt(made, tmp_path).roles
    assert role.recorded == WORKERS
    assert role.rate == pytest.approx(EACH / (0.4 * SECOND), rel=WITHIN)
