# SPDX-License-Identifier: MIT
"""`hasp profile` names the fault of a few servers whose faults no load can hide.

The whole corpus is run by tools/verdict_corpus.py.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from lock_list import BUILD, ROOT

sys.path.insert(0, str(ROOT / "tools"))

from verdict_truth import FOLDERS, Program, judge, programs
from verdict_words import verdict_of

Hasp = Callable[..., "subprocess.CompletedProcess[str]"]

QUICK = {"accounts": 2, "stream_parser": 4, "upload_slots": 4}
# With 4 threads; a busy machine changes the verdict on most others.
LONG = ("access_log", "early_return", "inode_table", "mail_spool")
TRIES = 3


def cases() -> list[object]:
    slow = [pytest.param(name, 4, marks=pytest.mark.slow) for name in LONG]
    return [*QUICK.items(), *slow]


@pytest.mark.parametrize(("name", "threads"), cases())
def test_names_the_fault(name: str, threads: int, hasp: Hasp, tmp_path: Path) -> None:
    program = next(program for program in programs() if program.name == name)
    verdicts = []
    for number in range(TRIES):
        trace = tmp_path / f"{number}.trace"
        verdicts.append(verdict(program, threads, hasp, trace))
        if all(vars(judge(program, threads, verdicts[-1], {})).values()):
            return
    pytest.fail(json.dumps(verdicts, indent=1))


def verdict(
    program: Program, threads: int, hasp: Hasp, trace: Path
) -> dict[str, object]:
    """The verdict of the report on one run."""
    folder = BUILD / FOLDERS[program.half].relative_to(ROOT)
    options = ["--threads", str(threads), "--seconds", "1"]
    command = [str(folder / program.program), *options]
    recorded = hasp("profile", "-o", trace, "--", *command)
    assert recorded.returncode == 0, recorded.stderr
    report = hasp("report", "--json", "-", trace)
    assert report.returncode == 0, report.stderr
    return verdict_of(json.loads(report.stdout))
