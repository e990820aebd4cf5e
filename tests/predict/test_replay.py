# SPDX-License-Identifier: MIT
"""The simulator replays a load as described, and refuses wrong descriptions."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from predict_samples import closed, site

from hasp.base.errors import HaspError
from hasp.locks import native
from hasp.predict.calibration import calibrated
from hasp.predict.changes import SiteChange, applied
from hasp.predict.load import Load, Role, Variant, described
from hasp.predict.runs import Case, Runs
from hasp.profile.diagnosis.what_if.change import change

STEADY = Variant(False, 1, 1)


def throughput(runs: Runs, lock: str, threads: int, changed=None) -> float:
    case = Case(lock, threads, STEADY, changed)
    return runs.run([case], 1)[case].throughput


def nested(times: float = 3.0) -> Load:
    """Return threads that take the second lock so often while they hold the first."""
    outer = site(1, inner=((1, times),), hold_ns=100.0)
    rate = 1 / 2200
    role = Role("w", 1, True, 1500.0, ((0, 1.0),), (100.0, 200.0), (0.0, 0.0), rate)
    return Load((outer, site(2, hold_ns=200.0)), (role,))


def test_inner_sections_keep_the_outer_lock_busy(runs) -> None:
    simulated = runs(nested())
    one = Case("ticket", 1, STEADY)
    assert simulated.run([one], 1)[one].throughput == pytest.approx(1 / 2200, rel=0.3)
    # Outer sections of at least 700 ns follow each other.
    assert throughput(simulated, "ticket", 16) < 1 / 700
    many = Case("ticket", 16, STEADY)
    busy = simulated.run([many], 1)[many].busy
    assert busy[0] > 0.95
    assert busy[1] < 0.95


def test_thousands_of_sections_may_be_inside_one(runs) -> None:
    assert throughput(runs(nested(2000.0)), "ticket", 1) < 1 / (2000 * 200)


def test_threads_of_other_roles_take_the_lock_but_are_not_counted(runs) -> None:
    alone = closed(10_000.0, 1000.0)
    other = replace(alone.roles[0], scales=False, gap_ns=100.0)
    both = replace(alone, roles=(alone.roles[0], other))
    without, with_other = runs(alone), runs(both)
    first = throughput(without, "ticket", 1)
    assert throughput(with_other, "ticket", 1) < first


def test_readers_do_not_exclude_each_other(runs) -> None:
    load = closed(500.0, 4000.0)
    rwlock = replace(load.sites[0], rwlock=True)
    reading = replace(load.roles[0], reads=(1.0,))
    writers = runs(replace(load, sites=(rwlock,)))
    readers = runs(replace(load, sites=(rwlock,), roles=(reading,)))
    assert throughput(writers, "rw-futex", 8) < 1 / 4000
    assert throughput(readers, "rw-futex", 8) > 3 / 4500


@pytest.mark.parametrize(
    ("text", "least"), [("1 split 8", 3), ("1 hold x0.1", 3), ("1 remove", 8)]
)
def test_a_change_of_a_saturated_lock_pays_off(runs, text, least) -> None:
    simulated = runs(closed(5000.0, 5000.0))
    changed = SiteChange(1, "log.c:1 &mu", change(text))
    before = throughput(simulated, "ticket", 16)
    assert throughput(simulated, "ticket", 16, changed) > least * before


def test_work_moved_outside_is_done_after_the_release() -> None:
    load = closed(5000.0, 5000.0)
    moved = applied(load, SiteChange(1, "log.c:1 &mu", change("1 outside 80%")))
    (role,) = moved.roles
    assert role.gap_ns == pytest.approx(9000)
    assert role.holds_ns == (pytest.approx(1000),)


def test_a_change_of_a_lock_that_is_hardly_used_is_refused() -> None:
    with pytest.raises(HaspError, match="held too rarely"):
        applied(closed(1.0, 1.0), SiteChange(7, "other.c:1", change("7 remove")))


def test_the_cost_of_free_locks_is_not_counted_twice(runs) -> None:
    """The recorded time between sections includes it, and the simulator charges it."""
    simulated = runs(closed(80.0, 20.0))
    plain = throughput(simulated, "futex", 1)
    assert plain < 0.93 / 100
    better = simulated.of(calibrated(simulated, "futex", 1))
    assert throughput(better, "futex", 1) == pytest.approx(1 / 100, rel=0.03)


def test_bookkeeping_of_the_simulation_takes_no_time(runs) -> None:
    """All that it adds to these 105 ns are the two atomic operations of the lock."""
    simulated = runs(closed(100.0, 5.0))
    assert throughput(simulated, "futex", 1) > 1 / 150


def sleeping(load: Load, idle_ns: float, waits: float = 1.0) -> Load:
    role = replace(load.roles[0], idle_ns=idle_ns, waits=waits)
    return replace(load, roles=(role,))


def test_more_threads_than_cpus_share_them(small) -> None:
    working = small(closed(20_000.0, 100.0))
    two, eight = (throughput(working, "futex", threads) for threads in (2, 8))
    assert eight == pytest.approx(two, rel=0.1)


def test_threads_that_wait_for_work_leave_their_cpu_to_others(small) -> None:
    load = closed(20_000.0, 100.0)
    simulated = small(sleeping(load, 200_000.0))
    eight = throughput(simulated, "futex", 8)
    assert eight > 3 * 2 / 220_000
    rarely = small(sleeping(load, 200_000.0, waits=0.01))
    one = throughput(rarely, "futex", 1)
    assert one == pytest.approx(1 / 220_000, rel=0.2)


def test_the_time_to_wake_up_is_part_of_the_recorded_wait(small) -> None:
    simulated = small(sleeping(closed(20_000.0, 100.0), 30_000.0))
    assert throughput(simulated, "futex", 1) < 0.98 / 50_100
    better = simulated.of(calibrated(simulated, "futex", 1))
    assert throughput(better, "futex", 1) == pytest.approx(1 / 50_100, rel=0.01)


@pytest.fixture
def replay(tmp_path: Path, runs):
    """Return replay(load file), which runs the native program on it."""
    program = native.program("hasp-workloads")

    def run(text: str, *words: str) -> subprocess.CompletedProcess[str]:
        path = tmp_path / "a.load"
        path.write_text(text)
        return subprocess.run(
            [program, "replay", f"--load={path}", "--threads=1", *words],
            capture_output=True,
            text=True,
            timeout=30,
        )

    return run


def test_a_load_also_runs_natively(replay) -> None:
    text = described(nested(), 1, STEADY)
    done = replay(text, "--warm-up-ns=0", "--duration-ns=20000000")
    assert done.returncode == 0, done.stderr
    sites = json.loads(done.stdout)["sites"]
    assert sites[1]["acquisitions"] == pytest.approx(
        3 * sites[0]["acquisitions"], abs=3
    )


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("7\n", "6\n", "unknown version"),
        ("7\n", "x\n", "number 1 is missing"),
        ("1 0 1500", "2 0 1500", "describes 2 threads, not 1"),
        (" 1 1 3000\n", " 1 0 3000\n", "site 0 contains an earlier one"),
    ],
)
def test_a_wrong_load_is_refused_with_the_reason(replay, old, new, words) -> None:
    text = described(nested(), 1, STEADY)
    assert old in text
    done = replay(text.replace(old, new, 1))
    assert done.returncode == 2
    assert words in done.stderr


def test_a_missing_load_is_a_usage_error(replay) -> None:
    program = native.program("hasp-workloads")
    for words in (["replay"], ["one-lock", "--load=x"], ["one-lock", "--rwlock=x"]):
        done = subprocess.run([program, *words], capture_output=True, text=True)
        assert done.returncode == 2
        assert "takes" in done.stderr
