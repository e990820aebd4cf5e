# SPDX-License-Identifier: MIT
"""Traces of each kind of lock, each misuse, and the order of locks."""

from __future__ import annotations

from pathlib import Path

import pytest
from preload import matrix
from profiler.recorded import Recorded, record

from hasp.profile.trace.format import (
    ChunkKind,
    LockFlag,
    LockKind,
    Operation,
    OrderMode,
)

pytestmark = pytest.mark.timeout(2 * matrix.TIME_LIMIT)

LOCKS = (None, "futex", "mcs-park")
under_locks = pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock or "glibc")


def some(use: dict[str, int], **wanted: int) -> None:
    """Assert these figures, and that all others of the listed kinds are zero."""
    keys = (
        *("acquisitions", "contended", "trylocks", "trylock_failures", "timeouts"),
        *("signals", "broadcasts"),
    )
    assert {key: use[key] for key in keys if use[key]} == wanted


# For each case: its locks, the operations on them, and their kind.
TAKEN = {
    "rwlocks": {
        ("rwlock", Operation.READ): {"acquisitions": 5, "contended": 1, "trylocks": 1},
        ("rwlock", Operation.WRITE): {
            "acquisitions": 3,
            "trylocks": 1,
            "trylock_failures": 1,
            "timeouts": 1,
        },
    },
    "spinlocks": {
        ("spinlock", Operation.LOCK): {
            "acquisitions": 7,
            "contended": 1,
            "trylocks": 1,
            "trylock_failures": 1,
        }
    },
    "barriers": {("barrier", Operation.BARRIER): {"acquisitions": 12}},
    "c11_names": {
        ("c11", Operation.LOCK): {
            "acquisitions": 4,
            "trylocks": 1,
            "trylock_failures": 1,
            "timeouts": 1,
        }
    },
}
KINDS = {
    "rwlock": LockKind.RWLOCK,
    "spinlock": LockKind.SPINLOCK,
    "barrier": LockKind.BARRIER_OBJECT,
    "c11": LockKind.MUTEX,
}


@under_locks
@pytest.mark.parametrize("case", TAKEN)
def test_uses(case: str, lock: str | None, tmp_path: Path) -> None:
    found = record("operations", case, lock, tmp_path / "trace")
    for (name, operation), wanted in TAKEN[case].items():
        some(found.use(name, operation), **wanted)
        entry = found.locks[found.number(name)]
        assert entry["kind"] == KINDS[name]
        assert entry["died"] > entry["born"] > 0
    assert found.events == []


@under_locks
def test_waits_of_readers_are_timed(lock: str | None, tmp_path: Path) -> None:
    found = record("operations", "rwlocks", lock, tmp_path / "trace")
    assert found.use("rwlock", Operation.READ)["wait_most"] > 0


@under_locks
def test_condition(lock: str | None, tmp_path: Path) -> None:
    found = record("operations", "conditions", lock, tmp_path / "trace")
    waits = found.use("condition", Operation.WAIT)
    # Spurious wake-ups are allowed; they count like other waits.
    assert waits["acquisitions"] >= 3
    assert (waits["timeouts"], waits["signals"], waits["broadcasts"]) == (2, 1, 2)
    again = found.use("mutex", Operation.RELOCK)
    assert again["acquisitions"] == waits["acquisitions"]
    # A thread does not hold the mutex while it waits on the condition variable.
    assert found.use("mutex", Operation.LOCK)["hold_most"] < waits["wait_most"]
    assert again["hold_most"] < waits["wait_most"]
    idle = found.trace.numbered(ChunkKind.THREADS)["idle_ticks"].sum()
    assert idle >= waits["wait_most"]
    assert found.events == []


@under_locks
def test_cancelled_wait(lock: str | None, tmp_path: Path) -> None:
    found = record("operations", "cancellation", lock, tmp_path / "trace")
    assert found.use("condition", Operation.WAIT)["acquisitions"] >= 1
    threads = found.trace.numbered(ChunkKind.THREADS)
    assert not threads["depth"].any()
    assert not threads["waiting_for"].any()
    assert found.events == []


@under_locks
def test_c11_conditions(lock: str | None, tmp_path: Path) -> None:
    found = record("operations", "c11_names", lock, tmp_path / "trace")
    waits = found.use("c11_condition", Operation.WAIT)
    assert waits["acquisitions"] >= 1
    assert (waits["timeouts"], waits["signals"], waits["broadcasts"]) == (1, 1, 1)
    assert found.locks[found.number("c11_condition")]["died"]


@under_locks
def test_old_names_and_versions(lock: str | None, tmp_path: Path) -> None:
    found = record("operations", "old_names", lock, tmp_path / "trace")
    assert found.use("mutex", Operation.LOCK)["acquisitions"] == 2
    assert found.use("rwlock", Operation.READ)["acquisitions"] == 1


BUGS = {
    "self_deadlock": ("SELF_DEADLOCK", "mutex", 1),
    "self_deadlock_of_rwlock": ("SELF_DEADLOCK", "rwlock", 1),
    "self_deadlock_of_spinlock": ("SELF_DEADLOCK", "spinlock", 1),
    "foreign_unlock": ("FOREIGN_UNLOCK", "mutex", 3),
    "unlock_refused": ("UNLOCK_REFUSED", "mutex", 1),
    "destroyed_held": ("DESTROYED_HELD", "mutex", 1),
    "initialised_held": ("INITIALISED_HELD", "mutex", 1),
    "exited_holding": ("EXITED_HOLDING", "mutex", 1),
    "held_at_exit": ("HELD_AT_EXIT", "mutex", 1),
    "destroyed_waited": ("DESTROYED_WAITED", "condition", 1),
    "destroyed_waited_of_barrier": ("DESTROYED_WAITED", "barrier", 1),
    "relock_refused": ("RELOCK_REFUSED", "mutex", 1),
    "relock_refused_of_rwlock": ("RELOCK_REFUSED", "rwlock", 1),
    "foreign_unlock_of_spinlock": ("FOREIGN_UNLOCK", "spinlock", 1),
    "unlock_of_free_spinlock": ("FOREIGN_UNLOCK", "spinlock", 1),
    "foreign_unlock_of_rwlock": ("FOREIGN_UNLOCK", "rwlock", 1),
}


@under_locks
@pytest.mark.parametrize("case", BUGS)
def test_bug(case: str, lock: str | None, tmp_path: Path) -> None:
    found = record("misuse", case, lock, tmp_path / "trace")
    assert found.events == [BUGS[case]]
    event = found.trace.all(ChunkKind.EVENTS)[0]
    assert event["thread"] and event["ticks"]


@under_locks
def test_destroyed_while_held_and_waited_for(lock: str | None, tmp_path: Path) -> None:
    found = record("misuse", "destroyed_waited_of_rwlock", lock, tmp_path / "trace")
    assert found.events == [
        ("DESTROYED_HELD", "rwlock", 1),
        ("DESTROYED_WAITED", "rwlock", 1),
    ]


@under_locks
@pytest.mark.parametrize("mode", ["full", "sample"])
def test_no_misuse(mode: str, lock: str | None, tmp_path: Path) -> None:
    assert record("misuse", "no_misuse", lock, tmp_path / "trace", mode).events == []


@under_locks
def test_order(lock: str | None, tmp_path: Path) -> None:
    found = record("order", "inversion", lock, tmp_path / "trace")
    assert found.lock_order == {("a", "b"): (200, False), ("b", "a"): (1, False)}
    stacks = found.trace.all(ChunkKind.LOCK_ORDER)["stack"]
    assert stacks.all() and stacks[0] != stacks[1]


def test_order_of_trylocks(tmp_path: Path) -> None:
    found = record("order", "by_try", None, tmp_path / "trace")
    assert found.lock_order == {("a", "b"): (2, False), ("a", "c"): (1, True)}


def test_order_of_chains(tmp_path: Path) -> None:
    found = record("order", "chains", None, tmp_path / "trace")
    assert set(found.lock_order) == {("a", "b"), ("b", "c"), ("c", "shelf")}


def test_order_of_very_many(tmp_path: Path) -> None:
    """A call site with very many pairs is sampled; other sites are complete."""
    found = record("order", "many_pairs", None, tmp_path / "trace")
    assert found.lock_order[("inner", "outer")] == (1, False)
    assert ("outer", "inner") in found.lock_order
    noted = sum(edge["count"] for edge in found.trace.all(ChunkKind.LOCK_ORDER))
    assert 1024 <= noted < 4 * 64 * 64


def test_order_of_readers(tmp_path: Path) -> None:
    """Locks held or acquired for reading are marked, even on later acquisitions."""
    found = record("order", "readers", None, tmp_path / "trace")
    modes = {
        (found.names[edge["outer"]], found.names[edge["inner"]]): OrderMode(
            int(edge["modes"])
        )
        for edge in found.trace.all(ChunkKind.LOCK_ORDER)
    }
    assert modes == {
        ("shelf", "other_shelf"): OrderMode.BOTH_READ,
        ("other_shelf", "shelf"): OrderMode.BOTH_READ | OrderMode.INNER_READ,
        ("a", "shelf"): OrderMode.INNER_READ,
        ("shelf", "b"): OrderMode.OUTER_READ | OrderMode.BOTH_ALONE,
    }
    first = {
        name: bool(found.locks[found.number(name)]["flags"] & LockFlag.WRITERS_FIRST)
        for name in ("shelf", "other_shelf")
    }
    assert first == {"shelf": False, "other_shelf": True}


@under_locks
def test_order_of_waits(lock: str | None, tmp_path: Path) -> None:
    found = record("order", "waits", lock, tmp_path / "trace")
    assert set(found.lock_order) == {("a", "b"), ("b", "a")}


def test_callers_of_a_wrapper_are_distinguished(tmp_path: Path) -> None:
    found = record("operations", "wrappers", None, tmp_path / "trace")
    for names in (("one", "other"), ("early_one", "early_other")):
        one, other = (found.locks[found.number(name)] for name in names)
        assert one["created_stack"] and one["site"] != other["site"]


def test_sites_are_distinguished(tmp_path: Path) -> None:
    """Two locks created in one function are two sites with separate statistics."""
    found: Recorded = record("order", "chains", None, tmp_path / "trace")
    sites = {int(found.locks[found.number(name)]["site"]) for name in "abc"}
    assert len(sites) == 3
