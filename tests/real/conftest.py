# SPDX-License-Identifier: MIT
"""Runs real programs: each test in this folder runs once under each lock.

`glibc`, the first lock of the list, runs the program without Hasp; a failure there is
a fault of the workload. In `make test`, a test with `quick_locks(...)` runs under the
named locks only, or without names under one lock of each structure; it is `real_slow`
under the others. Tests with `every_third_lock(...)` share the locks among them.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from lock_list import records, representatives, wrapped_records
from real.programs import TURNS, Launcher, Lock, free_ports

PORTS = free_ports()


def every_lock() -> list[Lock]:
    """Return the locks that the build lists, in the same order; `delegate` is last."""
    locks = [Lock(record["name"], record["parks"]) for record in records()]
    return [*locks, Lock("delegate", parks=True)]


def every_algorithm(kind: str) -> Iterator[object]:
    """Return the algorithms of a kind, wrapped ones included, as parameters.

    Of the rwlocks made of a mutex there is one of each structure.
    """
    few = {f"mutex:{name}" for name in representatives()}
    for record in (*records(kind), *wrapped_records(kind)):
        name = record["name"]
        if name.startswith("mutex:") and name not in few:
            continue
        lock = Lock(name, record["parks"], kind)
        slow = not (record["default"] or lock.is_native)
        marks = [pytest.mark.real_slow] if slow else []
        yield pytest.param(lock, id=name, marks=marks)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "lock" not in metafunc.fixturenames:
        return
    kind = getattr(metafunc.function, "kind", None)
    if kind is not None:
        metafunc.parametrize("lock", list(every_algorithm(kind)))
        return
    quick = getattr(metafunc.function, "quick_locks", None)
    turn = getattr(metafunc.function, "turn", None)
    if quick == () or turn is not None:
        quick = ("glibc", *representatives())
    parameters = []
    for number, lock in enumerate(every_lock()):
        slow = quick is not None and lock.name not in quick
        slow = slow and number % TURNS != turn
        slow = slow or lock.name == "delegate"
        marks = [pytest.mark.real_slow] if slow else []
        parameters.append(pytest.param(lock, id=lock.name, marks=marks))
    metafunc.parametrize("lock", parameters)


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a world-readable folder in memory, which is deleted after the test."""
    parent = "/dev/shm" if Path("/dev/shm").is_dir() else None
    path = Path(tempfile.mkdtemp(prefix="hasp-test-", dir=parent))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def launch(
    native_env: Callable[..., dict[str, str]], lock: Lock, folder: Path
) -> Iterator[Launcher]:
    """Return a launcher for the lock of the test; it kills all programs at the end."""
    launcher = Launcher(native_env, lock, folder)
    yield launcher
    launcher.close()


@pytest.fixture
def port() -> int:
    """Return a free local port."""
    return next(PORTS)
