# SPDX-License-Identifier: MIT
"""tools/run_tests.py: both kinds of tests run, and failures of the first come last."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from lock_list import ROOT

TESTS = [
    {"name": "unit - good", "result": "OK", "is_fail": False, "stdout": "fine\n"},
    {"name": "unit - bad", "result": "FAIL", "is_fail": True, "stderr": "a.c:1: no\n"},
    {"name": "unit - slow", "result": "TIMEOUT", "is_fail": True},
]


def run(tmp_path: Path, meson: int, pytest: int) -> subprocess.CompletedProcess[str]:
    tools = tmp_path / "bin"
    for name, status in ("meson", meson), ("python", pytest):
        script = tools / name
        script.parent.mkdir(exist_ok=True)
        script.write_text(f'#!/bin/sh\necho {name} "$@"\nexit {status}\n')
        script.chmod(0o755)
    log = tmp_path / "build/meson-logs/testlog.json"
    log.parent.mkdir(parents=True)
    log.write_text("".join(json.dumps(test) + "\n" for test in TESTS))
    start = (
        "import runpy, sys; sys.executable = sys.argv[1]; sys.argv = sys.argv[2:];"
        "runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    words = ["build", "--no-suite", "slow", "--", "-k", "a or b"]
    tool = ROOT / "tools/run_tests.py"
    return subprocess.run(
        [sys.executable, "-c", start, tools / "python", tool, *words],
        cwd=tmp_path,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_pytest_has_the_last_word(tmp_path: Path) -> None:
    done = run(tmp_path, 0, 0)
    assert done.returncode == 0
    first, last = done.stdout.splitlines()
    assert first.startswith("meson test") and first.endswith("-C build --no-suite slow")
    assert last.startswith("python -m pytest") and last.endswith("-k a or b")


def test_a_failure_of_meson_is_told_again(tmp_path: Path) -> None:
    done = run(tmp_path, 2, 0)
    assert done.returncode == 2
    told = done.stdout[done.stdout.index("Tests of Meson that failed") :].splitlines()
    assert told[1:] == ["FAIL: unit - bad", "    a.c:1: no", "TIMEOUT: unit - slow"]


def test_a_failure_of_pytest_is_the_status(tmp_path: Path) -> None:
    assert run(tmp_path, 0, 1).returncode == 1
