# SPDX-License-Identifier: MIT
"""Real programs with known lock faults: their rows, and the judge of their verdicts."""

from __future__ import annotations

import re
import sys

import pytest
from lock_list import ROOT

sys.path.insert(0, str(ROOT / "tools"))


import verdict_real
from verdict_real import RealProgram, real_programs
from verdict_truth import CAUSES, HEALTHY


def named(name: str) -> RealProgram:
    """The program of that name."""
    return next(program for program in real_programs() if program.name == name)


@pytest.mark.parametrize("program", real_programs(), ids=lambda program: program.name)
def test_row_is_complete(program: RealProgram) -> None:
    assert program.needs
    assert program.threads
    assert program.origin
    assert {program.cause, *program.also} <= CAUSES
    assert "{threads}" in program.command or program.threads == (1,)
    if program.cause not in HEALTHY:
        assert program.remedies
        re.compile(program.lock)
    # The load comes beside the shell, which has to become the program.
    assert "exec " in program.command


def test_eight_causes_or_more() -> None:
    assert len({program.cause for program in real_programs()}) >= 8


@pytest.mark.parametrize(
    ("lock", "cause", "remedy", "right"),
    [
        ("librocksdb.so+0x3", "tiny-section", "spread-keys", (True, True, True)),
        ("librocksdb.so+0x3", "tiny-section", "use-atomic", (True, True, False)),
        ("librocksdb.so+0x3", "convoy", "spread-keys", (True, False, True)),
        ("libc.so+0x3", "tiny-section", "spread-keys", (False, True, True)),
        (None, "not-locks", "none", (False, False, False)),
    ],
)
def test_faulty_program_is_judged(
    lock: str | None, cause: str, remedy: str, right: tuple[bool, bool, bool]
) -> None:
    verdict = {"lock": lock, "cause": cause, "remedy": remedy}
    judgement = named("rocksdb_one_shard").judge(verdict)
    assert (judgement.lock, judgement.cause, judgement.remedy) == right


def test_healthy_program_has_no_lock_to_name() -> None:
    judgement = named("pbzip2").judge({"lock": None, "cause": "not-locks"})
    assert judgement.lock
    assert judgement.cause
    assert not named("pbzip2").judge({"lock": "pbzip2+0x7", "cause": "herd"}).lock


def test_program_that_lacks_something_is_not_run() -> None:
    absent = RealProgram(**{**vars(named("pbzip2")), "needs": ("no-such-program",)})
    assert absent.missing() == ["no-such-program"]
    assert not verdict_real.prepare(absent)


def test_figure_is_what_the_metric_finds() -> None:
    program = RealProgram(**{**vars(named("pbzip2")), "metric": r"rate: (\d+)"})
    assert verdict_real.figure(program, "echo rate: {threads}", 4) == 4
    with pytest.raises(ValueError, match="printed no"):
        verdict_real.figure(program, "echo", 4)
    with pytest.raises(ValueError, match="failed"):
        verdict_real.figure(program, "exit 3", 4)
