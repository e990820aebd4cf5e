# SPDX-License-Identifier: MIT
"""Runs the programs for reader-writer locks under each algorithm and under glibc's."""

from __future__ import annotations

from typing import Any

import pytest
from lock_list import Record, records, wrapped_records
from preload import matrix

PROGRAMS = (
    *("rw_cancel", "rw_crowded", "rw_cxx", "rw_exclusion", "rw_fork"),
    *("rw_lifetime", "rw_results", "rw_turns"),
)

# A batch of writers bounds how often these are overtaken, not a count per thread.
GATED = ("c-rw-wp", "bravo+c-rw-wp")

# The largest batch of writers of the locks in GATED.
BATCH = 64

# Their threads enter in the order in which they came, except readers of a phase.
IN_ORDER = ("rw-ticket", "phase-fair")

# `make test` runs these wrapped locks and the default, `make test-all` all of them.
QUICK = {"bravo+rw-futex", "bravo+phase-fair", "mutex:futex", "mutex:mcs"}

# Two cases may hang until their time limit, and gdb then prints their backtraces.
pytestmark = pytest.mark.timeout(3 * matrix.TIME_LIMIT + 60)


def rwlocks() -> tuple[Record, ...]:
    """Return the record of every reader-writer lock, glibc's first.

    Those made of a mutex share their code, so only a few of them are returned.
    """
    few = {"mutex:futex", "mutex:mcs", "mutex:ticket", "mutex:c-ptl-tkt"}
    others = wrapped_records("rwlock")
    chosen = [r for r in others if r["category"] != "mutex" or r["name"] in few]
    return (*records("rwlock"), *chosen)


def environment(lock: Record) -> dict[str, str]:
    env = {"HASP_RWLOCK": lock["name"]}
    plain = lock["name"].removeprefix("bravo+")
    if lock["parks"]:
        env["CHECK_SLEEPS"] = "1"
    else:
        env["CHECK_ROUNDS_DIVISOR"] = str(matrix.SPINNING_DIVISOR)
    if lock["category"] == "mutex":
        env["CHECK_EXCLUSIVE"] = "1"
    elif lock["bypass_bound"] >= 0 or lock["name"] in GATED:
        env["CHECK_BOUNDED"] = "1"
    if lock["name"] in GATED:
        env["CHECK_BATCH"] = str(BATCH)
    if plain in IN_ORDER:
        env["CHECK_IN_ORDER"] = "1"
    return env


def quick_or_slow() -> list[Any]:
    own = {record["name"] for record in records("rwlock")}
    return [
        pytest.param(
            lock,
            id=str(lock["name"]),
            marks=()
            if lock["name"] in own | QUICK or lock["default"]
            else pytest.mark.slow,
        )
        for lock in rwlocks()
    ]


@pytest.mark.parametrize("lock", quick_or_slow())
@pytest.mark.parametrize("program", PROGRAMS)
def test_program(program: str, lock: Record) -> None:
    path = f"rwlocks/{program}"
    if not (matrix.PROGRAMS / path).exists():
        pytest.skip(f"{program} was not built: there is no C++ compiler")
    outcomes = matrix.run_program(path, matrix.PASS_THROUGH, environment(lock))
    matrix.fail_if_any(outcomes, f"{program} under {lock['name']}")


# Cases with many kinds of contention, or that unmap memory as early as possible.
PERTURBED = (
    ("rw_exclusion", "half_writes"),
    ("rw_fork", "storm"),
    ("rw_lifetime", "unmapped_by_a_reader_after_a_writer"),
    ("rw_lifetime", "unmapped_by_a_writer_after_a_reader"),
    ("rw_results", "waiters_that_give_up_leave_no_trace"),
    ("rw_turns", "recursive_reader"),
)


def perturbed_locks() -> list[Record]:
    """Return the locks with code of their own, and the default."""
    own = [record for record in records("rwlock") if record["name"] != "glibc"]
    default = [r for r in wrapped_records("rwlock") if r["default"]]
    return [*own, *default]


@pytest.mark.parametrize("lock", perturbed_locks(), ids=lambda lock: str(lock["name"]))
def test_with_delays_between_any_two_steps(lock: Record) -> None:
    slow = environment(lock) | {"CHECK_ROUNDS_DIVISOR": str(matrix.SPINNING_DIVISOR)}
    outcomes = [
        matrix.run_case(
            f"rwlocks/{program}",
            case,
            matrix.PASS_THROUGH,
            slow,
            interposer=matrix.library().with_name("libhasp-perturbed.so"),
        )
        for program, case in PERTURBED
    ]
    title = f"delays under {lock['name']}"
    matrix.fail_if_any(outcomes, title, matrix.NOT_PASSED)


@pytest.mark.parametrize("lock", quick_or_slow())
def test_memory_outside_the_locks(lock: Record) -> None:
    """A lock that was never contended needs no memory outside."""
    outcome = matrix.run_case(
        "rwlocks/very_many_locks",
        "100000",
        matrix.PASS_THROUGH,
        environment(lock) | {"CHECK_BYTES": "0"},
    )
    assert outcome.status == "passed", outcome.text


@pytest.mark.slow
@pytest.mark.parametrize("lock", perturbed_locks(), ids=lambda lock: str(lock["name"]))
def test_a_million_locks(lock: Record) -> None:
    """The memory of the library, a million blocks, is for contended locks."""
    outcome = matrix.run_case(
        "rwlocks/very_many_locks", "1000000", matrix.PASS_THROUGH, environment(lock)
    )
    assert outcome.status == "passed", outcome.text


def test_every_program_is_run() -> None:
    folder = matrix.PROGRAMS / "rwlocks"
    built = {path.name for path in folder.iterdir() if path.name.startswith("rw_")}
    assert {name for name in built if not name.endswith(".p")} <= set(PROGRAMS)
