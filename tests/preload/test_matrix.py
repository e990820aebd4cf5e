# SPDX-License-Identifier: MIT
"""Runs every program under every lock, and without Hasp, where it must pass as well."""

from __future__ import annotations

import pytest
from lock_list import slow_if_not_representative
from preload import matrix

# Two cases may hang until their time limit, and gdb then prints their backtraces.
pytestmark = pytest.mark.timeout(3 * matrix.TIME_LIMIT + 60)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    pairs = []
    for program in matrix.programs():
        for lock in matrix.locks():
            marks = []
            if program in matrix.ANY_LOCK_WILL_DO | matrix.LONG:
                marks = slow_if_not_representative(lock.name)
            name = f"{program}-{lock.label}"
            pairs.append(pytest.param(program, lock, id=name, marks=marks))
    metafunc.parametrize(("program", "lock"), pairs)


def test_program(program: str, lock: matrix.Lock) -> None:
    outcomes = matrix.run_program(program, lock)
    matrix.fail_if_any(outcomes, f"{program} under {lock.label}")
    if all(outcome.status == "skipped" for outcome in outcomes):
        pytest.skip(outcomes[0].text.strip())
