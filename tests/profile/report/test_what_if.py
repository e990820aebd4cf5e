# SPDX-License-Identifier: MIT
"""`hasp report --what-if`: predictions on synthetic profiles with known answers."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from profile_samples import (
    DURATION,
    distribution,
    hot_lock,
    profile,
    readers,
    site,
    thread,
    use,
)

from hasp.profile.diagnosis.what_if import simulation
from hasp.profile.model.distribution import NOTHING
from hasp.profile.model.profile import Kind, Operation, OrderedPair, SiteStats

MS = 1_000_000


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Simulate less than usual: these networks are small."""
    monkeypatch.setattr(simulation, "EVENTS", 20_000)


def exact(acquisitions: int, wait: float, hold: float) -> SiteStats:
    """Return statistics whose holds all last equally long."""
    return SiteStats(
        acquisitions,
        acquisitions if wait else 0,
        wait=distribution([wait] * 100, acquisitions, int(wait * acquisitions)),
        hold=distribution([hold] * 100, acquisitions, int(hold * acquisitions)),
        handover=NOTHING,
    )


def shared_lock(
    threads: int, outside: int, hold: int, name="log.c:6 &log_mu", at_once=1, **kind
):
    """Return a profile of threads that alternate between work and one lock.

    The recorded throughput is that of a closed system without variation, in which
    `at_once` threads may hold the lock.
    """
    cycle = max(outside + hold, threads * hold // at_once)
    each = DURATION // cycle
    mine = exact(each, cycle - outside - hold, hold)
    total = exact(threads * each, cycle - outside - hold, hold)
    lock = site(1, name, total, 0.5, threads=threads, **kind)
    (operation,) = lock.stats
    lock = replace(lock, threads={t: {operation: mine} for t in lock.threads})
    return replace(
        profile([lock], 0.5, threads), cpus=64, threads=workers(threads, each * hold)
    )


def workers(threads: int, cpu_ns: int):
    return tuple(
        replace(thread(number), cpu_ns=cpu_ns) for number in range(1, 2 + threads)
    )


def predictions(report, made, *changes):
    words = [word for text in changes for word in ("--what-if", text)]
    status, out, err = report(made, *words, "--json", "-")
    assert status == 0, err
    document = json.loads(out)
    assert document["schema"] == "hasp.what-if/1"
    return document


def gain(report, made, change):
    return predictions(report, made, change)["predictions"][0]


def test_a_saturated_lock_gains_what_the_section_loses(report):
    """Eight threads, of which the lock admits three at a time."""
    found = gain(report, shared_lock(8, 2 * MS, MS), "log_mu hold x0.5")
    assert found["throughput"] == pytest.approx(2.0, rel=0.05)
    assert found["limit"] == "log.c:6 &log_mu"
    assert found["wait_after_ns"] < found["wait_before_ns"]


def test_beyond_saturation_the_threads_limit(report):
    made = shared_lock(8, 2 * MS, MS)
    found = gain(report, made, "log_mu hold x0")
    assert found["throughput"] == pytest.approx(8 / 2, rel=0.05)  # 8 threads, 2 ms each
    assert found["limit"] == "no lock"
    removed = gain(report, made, "log_mu remove")
    assert removed["throughput"] == pytest.approx(8 / 3, rel=0.05)
    assert removed["wait_after_ns"] == 0


def test_splitting_and_moving_work_outside(report):
    made = shared_lock(8, 2 * MS, MS)
    split = gain(report, made, "log_mu split 64")["throughput"]
    assert 0.9 * 8 / 3 < split <= 1.05 * 8 / 3
    outside = gain(report, made, "log_mu outside 50%")["throughput"]
    assert outside == pytest.approx(2.0, rel=0.05)


def test_handovers_during_which_others_held_the_lock_are_not_lost_time(report):
    """The lock is always held, so its handovers took none of the time."""
    made = shared_lock(8, 2 * MS, MS)
    (lock,) = made.sites

    def longer(stats):
        return {
            operation: replace(
                one,
                handover=distribution(
                    [MS / 2] * 100, one.acquisitions, one.acquisitions * MS // 2
                ),
            )
            for operation, one in stats.items()
        }

    threads = {number: longer(stats) for number, stats in lock.threads.items()}
    lock = replace(lock, stats=longer(lock.stats), threads=threads)
    found = predictions(report, replace(made, sites=(lock,)), "log_mu hold x0.5")
    assert abs(found["model_error"]) < 0.05
    assert found["predictions"][0]["throughput"] == pytest.approx(2.0, rel=0.05)


def test_an_uncontended_lock_promises_only_its_own_time(report):
    made = shared_lock(2, 99 * MS, MS)
    assert gain(report, made, "log_mu remove")["throughput"] < 1.03
    assert gain(report, made, "log_mu hold x0")["throughput"] < 1.06


def test_the_cpus_limit(report):
    """Two CPUs that are busy all the time: removing the lock saves nothing."""
    made = shared_lock(8, 2 * MS, MS)
    busy = replace(made, cpus=2, threads=workers(8, DURATION // 4))
    found = gain(report, busy, "log_mu remove")
    assert found["throughput"] == pytest.approx(1.0, abs=0.05)
    assert found["limit"] == "the CPUs"


def test_readers_do_not_wait_for_each_other(report):
    cache = {"name": "cache.c:9 &cache", "kind": Kind.RWLOCK}
    made = shared_lock(8, 2 * MS, MS, at_once=8, **cache)
    lock = made.sites[0]
    reads = {Operation.READ: lock.stats[Operation.WRITE]}
    mine = {t: {Operation.READ: u[Operation.WRITE]} for t, u in lock.threads.items()}
    reading = replace(made, sites=(replace(lock, stats=reads, threads=mine),))
    found = gain(report, reading, "cache remove")
    assert found["throughput"] == pytest.approx(1.0, abs=0.02)
    writing = shared_lock(8, 2 * MS, MS, **cache)
    assert gain(report, writing, "cache remove")["throughput"] > 2


def test_an_inner_lock_counts_inside_the_outer_one(report):
    """Half of the outer section is the inner one: both have the same waiters."""
    made = shared_lock(8, 2 * MS, MS)
    outer = made.sites[0]
    each = outer.threads[2][Operation.LOCK].acquisitions
    inner_use = replace(exact(8 * each, 0, MS / 2), nested=8 * each)
    inner = site(2, "disk.c:4 &disk_mu", inner_use, 0.2, threads=8)
    mine = replace(exact(each, 0, MS / 2), nested=each)
    inner = replace(inner, threads={t: {Operation.LOCK: mine} for t in inner.threads})
    edge = OrderedPair(outer.locks[0].number, inner.locks[0].number, 1, False, ())
    nested = replace(made, sites=(outer, inner), lock_order=(edge,))
    found = gain(report, nested, "disk_mu hold x0")
    assert found["throughput"] == pytest.approx(2.0, rel=0.05)


def test_several_changes_are_predicted_alone_and_together(report):
    made = shared_lock(8, 2 * MS, MS)
    found = predictions(report, made, "log_mu hold x0.5", "log_mu split 2")
    alone, split, both = found["predictions"]
    assert both["change"] == "all of these" and both["site"] is None
    assert both["throughput"] > max(alone["throughput"], split["throughput"])
    assert abs(found["model_error"]) < 0.05


def test_shorter_waits_are_a_bound(report):
    found = gain(report, shared_lock(8, 2 * MS, MS), "log_mu wait x0")
    assert found["is_bound"]
    assert found["throughput"] == pytest.approx(
        1.0, abs=0.01
    )  # it is held all the time
    assert found["limit"] == "log.c:6 &log_mu"


def test_the_text_is_labelled_and_fits(report):
    status, out, _ = report(shared_lock(8, 2 * MS, MS), "--what-if", "log_mu hold x0.5")
    assert status == 0
    assert "Predicted, not measured" in out
    assert max(map(len, out.splitlines())) <= 80
    assert "x2.0" in out or "x1.9" in out


@pytest.mark.parametrize("sample", [hot_lock, readers])
def test_samples_are_predicted(sample, report):
    made = sample()
    for row in made.sites:
        if row.kind in (Kind.MUTEX, Kind.RWLOCK):
            assert gain(report, made, f"{row.number} remove")["throughput"] >= 0.9


def test_threads_that_come_and_go_are_averaged(report):
    made = shared_lock(8, 2 * MS, MS)
    lived = DURATION // 4
    short = tuple(
        replace(one, began_ns=index % 4 * lived, ended_ns=(index % 4 + 1) * lived)
        for index, one in enumerate(made.threads)
    )
    found = predictions(report, replace(made, threads=short), "log_mu remove")
    assert found["threads"] == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("log_mux hold x0.5", "did you mean 'log.c:6 &log_mu'"),
        ("log_mu hold x-1", "'x-1' is not a factor"),
        ("log_mu hold 0.5", "'0.5' is not a factor"),
        ("log_mu hold xnan", "'xnan' is not a factor"),
        ("log_mu hold x1e9", "'x1e9' is not a factor"),
        ("log_mu split 1", "cannot be split into '1' locks"),
        ("log_mu split 2.5", "cannot be split into '2.5' locks"),
        ("log_mu outside 180%", "not a part of the critical section"),
        ("log_mu sooner", "is not a change"),
        ("hold x0.5", "names no site"),
        ("", "is not a change"),
    ],
)
def test_bad_changes_are_refused(text, message, report):
    status, out, err = report(shared_lock(2, MS, MS), "--what-if", text)
    assert status == 2
    assert not out
    assert message in " ".join(err.split())


def test_a_name_of_several_locks_is_refused(report):
    status, _, err = report(hot_lock(), "--what-if", "l hold x0.5")
    assert status == 2
    assert "locks match 'l'" in err


def test_it_is_not_combined_with_other_formats(report, tmp_path):
    words = ("--what-if", "log_mu remove", "--csv", tmp_path / "x.csv")
    status, _, err = report(shared_lock(2, MS, MS), *words)
    assert status == 2
    assert "--what-if prints predictions only" in err


def test_an_unused_lock_cannot_be_predicted(report):
    made = shared_lock(2, MS, MS)
    quiet = site(7, "quiet.c:1 &q", use(5, 0, 0, 10), 0.0)
    made = replace(made, sites=(*made.sites, replace(quiet, threads={})))
    status, _, err = report(made, "--what-if", "quiet remove")
    assert status == 2
    assert "too few acquisitions" in err


def test_a_simulation_unlike_the_record_predicts_nothing(report):
    """Threads that held the lock much less often than they could."""
    made = shared_lock(8, 2 * MS, MS)
    (lock,) = made.sites

    def longer(stats):
        held = distribution([4 * MS] * 100, stats.acquisitions)
        return replace(stats, hold=replace(held, total_ns=4 * stats.hold.total_ns))

    stats = {each: longer(one) for each, one in lock.stats.items()}
    threads = {
        number: {each: longer(one) for each, one in mine.items()}
        for number, mine in lock.threads.items()
    }
    made = replace(made, sites=(replace(lock, stats=stats, threads=threads),))
    found = predictions(report, made, "log_mu hold x0.5")
    assert abs(found["model_error"]) > 0.5
    assert found["predictions"][0]["throughput"] is None
    status, out, _ = report(made, "--what-if", "log_mu hold x0.5")
    assert status == 0
    assert out.startswith("doubt: without a change, the simulation is")
    assert "x1" not in out and "x2" not in out
