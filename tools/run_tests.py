#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run both kinds of tests, also if the first kind has failures.

    run_tests.py BUILD [MESON_OPTION...] [-- PYTEST_OPTION...]

BUILD is the build directory, relative to the project. pytest has the last word. If
tests of Meson have failed, their names and the ends of their messages follow it, as the
rest of a long log may be cut. The status is that of the first kind that failed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

# Tests of programs that wait leave a third of the time of two CPUs to a third worker.
PYTEST = ("pytest", "-n", "3", "--dist", "worksteal")
MESON = ("test", "--no-rebuild", "--print-errorlogs")
LINES_SHOWN = 6  # of each failed test of Meson


def failures(log: Path) -> list[str]:
    """What to print of the tests in a testlog.json of Meson that failed."""
    shown = []
    for line in log.read_text().splitlines():
        test = json.loads(line)
        if not test["is_fail"]:
            continue
        messages = (test.get("stdout", "") + test.get("stderr", "")).splitlines()
        shown.append(f"{test['result']}: {test['name']}")
        shown += [f"    {message}" for message in messages[-LINES_SHOWN:]]
    return shown


def main(words: list[str]) -> int:
    if not words:
        print(__doc__, file=sys.stderr)
        return 2
    build, *meson = words
    pytest = []
    if "--" in meson:
        pytest = meson[meson.index("--") + 1 :]
        meson = meson[: meson.index("--")]
    tools = Path(sys.executable).parent
    first = subprocess.call([tools / "meson", *MESON, "-C", build, *meson])
    second = subprocess.call([sys.executable, "-m", *PYTEST, *pytest])
    if first:
        log = Path(build) / "meson-logs" / "testlog.json"
        failed = failures(log) if log.exists() else ["see its messages above"]
        print("\nTests of Meson that failed:", *failed, sep="\n", flush=True)
    return first or second


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
