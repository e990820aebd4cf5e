#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run the test programs of a cross build under qemu-user, under every lock.

    run_programs_under_qemu.py BUILD [--locks a,b] [--programs a,b] [--jobs N]

Locks that park run every case. Those that only spin run the programs in FOR_SPINNING:
an emulator with more threads than CPUs is their worst case.

A case that already fails without Hasp shows a limit of qemu-user (which lacks robust
mutexes, for instance) and is skipped; the last line reports the number of skipped
cases.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

QEMU = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]
TIMEOUT_SECONDS = 60
SKIPPED = 77
FOR_SPINNING = {"exclusion", "ownership", "timed_queue"}
# As in tests/preload/matrix.py: loops are shorter under a lock that only spins.
SPINNING_DIVISOR = "20"
# Cases that only Hasp can fail here: qemu-user accepts MADV_WIPEONFORK and ignores it,
# so a child that ran no fork handlers goes unnoticed.
NOT_EMULATED = {("fork_variants", "by_system_call")}
# Programs that need arguments or an environment of their own.
RUN_ELSEWHERE = frozenset(
    (Path(__file__).parents[1] / "tests/programs/run_elsewhere.txt").read_text().split()
)


@dataclass(frozen=True)
class Outcome:
    status: int | None  # None if it hung
    output: str

    @property
    def passed(self) -> bool:
        return self.status == 0


def run(command: list[str], variables: dict[str, str]) -> Outcome:
    options = [word for item in variables.items() for word in ("-E", "=".join(item))]
    process = subprocess.Popen(
        [*QEMU, *options, *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,  # so that its children can be ended with it
    )
    try:
        output, _ = process.communicate(timeout=TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return Outcome(None, f"hung: stopped after {TIMEOUT_SECONDS} s")
    return Outcome(process.returncode, output)


def is_program(path: Path) -> bool:
    wanted = "." not in path.name and path.name not in RUN_ELSEWHERE
    return wanted and path.is_file() and os.access(path, os.X_OK)


def cases(build: Path, names: set[str]) -> list[tuple[Path, str]]:
    """Every (program, case) of the build's test programs; of these names, if any."""
    found = []
    for program in filter(is_program, sorted((build / "tests/programs").iterdir())):
        if names and program.name not in names:
            continue
        listing = run([str(program), "--list"], {})
        if not listing.passed:
            continue  # a program without cases, which another test starts
        found += [(program, name) for name in listing.output.split()]
    return found


def variables_for(lock: dict[str, Any], library: Path) -> dict[str, str]:
    result = {"LD_PRELOAD": str(library), "HASP_LOCK": lock["name"]}
    if not lock["parks"]:
        result["CHECK_ROUNDS_DIVISOR"] = SPINNING_DIVISOR
    if lock["fifo"]:
        result["CHECK_FIFO"] = "1"
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("--locks", default="", help="names, separated by commas")
    parser.add_argument("--programs", default="", help="names, separated by commas")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    build = arguments.build.resolve()

    library = next(build.rglob("libhasp.so"))
    listed = run([str(next(build.rglob("hasp-locks")))], {}).output.splitlines()
    locks = [json.loads(line) for line in listed]
    wanted = set(filter(None, arguments.locks.split(",")))
    locks = [lock for lock in locks if not wanted or lock["name"] in wanted]
    # Each case runs with the pass-through first anyway.
    locks = [lock for lock in locks if lock["name"] != "glibc"]
    locks = [lock for lock in locks if lock["kind"] == "mutex"]

    left_out: list[str] = []
    failed: list[str] = []
    passed = 0

    def check(case: tuple[Path, str]) -> None:
        nonlocal passed
        program, name = case
        title = f"{program.name} {name}"
        reference = run([str(program), name], {})
        if not reference.passed or (program.name, name) in NOT_EMULATED:
            left_out.append(title)
            return
        for lock in locks:
            if not lock["parks"] and program.name not in FOR_SPINNING:
                continue
            outcome = run([str(program), name], variables_for(lock, library))
            if outcome.passed or outcome.status == SKIPPED:
                passed += 1
            else:
                failed.append(f"{title} under {lock['name']}: {outcome.output.strip()}")
                print(f"FAIL {failed[-1]}", flush=True)

    names = set(filter(None, arguments.programs.split(",")))
    with ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(check, cases(build, names)))
    if left_out:
        print("left out, because of limits of qemu-user: " + ", ".join(left_out))
    print(f"aarch64: {passed} passed, {len(failed)} failed, {len(left_out)} left out")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
