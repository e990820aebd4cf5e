# SPDX-License-Identifier: MIT
"""Programs keep every promise of their locks while they are recorded.

The programs of tests/preload, over glibc's own locks and over one of Hasp's.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from preload import matrix
from profiler.recorded import environment

pytestmark = pytest.mark.timeout(3 * matrix.TIME_LIMIT + 60)

# What the hooks could break: forks, cancellations, kinds and errors, old symbols.
FEW = frozenset(
    {"ancient_condvars", "c11", "cancel_cond", "cond_timed", "fork_cond"}
    | {"fork_mutex", "kinds", "neighbours", "old_symbols", "robust"}
)
# They count their memory, and the recorder's is not theirs. (It stays the same from a
# thousand threads on: their records are used again.)
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
