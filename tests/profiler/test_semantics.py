# SPDX-License-Identifier: MIT
"""Locks behave as specified while a program is recorded.

The tests run the programs of tests/preload with glibc's mutexes and with one of Hasp's.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from preload import matrix
from profiler.recorded import environment

pytestmark = pytest.mark.timeout(3 * matrix.TIME_LIMIT + 60)

# The programs that the hooks are most likely to break. They cover forks, cancellations,
# kinds, errors and old symbols.
FEW = frozenset(
    {"ancient_condvars", "c11", "cancel_cond", "cond_timed", "dlopen", "fork_cond"}
    | {"fork_mutex", "kinds", "neighbours", "old_symbols", "robust"}
)
# These programs check their memory use, to which the recorder's memory would add. (It
# does not grow beyond a thousand threads, because their records are reused.)
COUNT_MEMORY = {
    *(("lifetime", "many_mutexes"), ("threads", "in_sequence_waiting")),
    ("threads", "in_sequence_contended"),
}


def parameters() -> list[object]:
    return [
        pytest.param(
            program,
            lock,
            mode,
            id=f"{program}-{lock or 'glibc'}-{mode}",
            marks=[] if program in FEW and lock is None else [pytest.mark.slow],
        )
        for program in matrix.programs()
        for lock, mode in ((None, "full"), ("mcs-park", "sample"))
    ]


@pytest.mark.parametrize(("program", "lock", "mode"), parameters())
def test_program(program: str, lock: str | None, mode: str, tmp_path: Path) -> None:
    for case in matrix.cases(program):
        if (program, case) in COUNT_MEMORY:
            continue
        env = environment(lock, tmp_path / f"{case}.trace", mode)
        command = [matrix.PROGRAMS / program, case]
        status, text = matrix.run_command(command, env)
        assert status in (0, matrix.SKIPPED), f"{case}: {status}\n{text}"
