# SPDX-License-Identifier: MIT
"""Runs every program under every lock, and without Hasp, where it must pass as well."""

from __future__ import annotations

import pytest
from lock_list import slow_if_not_representative
from preload import matrix

# Two cases may hang until their time limit, and gdb then prints their backtraces.
pytestmark = pytest.mark.timeout(3 * matrix.TIME_LIMIT + 60)


PARKING = [lock for lock in matrix.locks() if lock.parks]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.function is not test_program:
        return
    pairs = []
    for program in matrix.programs():
        for lock in matrix.locks():
            marks = []
            if program in matrix.ANY_LOCK_WILL_DO | matrix.LONG:
                marks = slow_if_not_representative(lock.name)
            name = f"{program}-{lock.label}"
            pairs.append(pytest.param(program, lock, id=name, marks=marks))
    metafunc.parametrize(("program", "lock"), pairs)


# Divisor for the rounds in `make test` of locks that do not spin.
BRIEF_DIVISOR = 4


def test_program(program: str, lock: matrix.Lock) -> None:
    brief = {"CHECK_ROUNDS_DIVISOR": str(BRIEF_DIVISOR)} if lock.parks else {}
    judge(program, lock, matrix.run_program(program, lock, brief))


@pytest.mark.slow
@pytest.mark.parametrize("lock", PARKING, ids=lambda lock: lock.label)
@pytest.mark.parametrize("program", matrix.programs())
def test_all_rounds(program: str, lock: matrix.Lock) -> None:
    judge(program, lock, matrix.run_program(program, lock))


def judge(program: str, lock: matrix.Lock, outcomes: list[matrix.Outcome]) -> None:
    matrix.fail_if_any(outcomes, f"{program} under {lock.label}")
    if all(outcome.status == "skipped" for outcome in outcomes):
        pytest.skip(outcomes[0].text.strip())
