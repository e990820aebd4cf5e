#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run the test programs of a cross build under qemu-user: every case under every lock.

    run_programs_under_qemu.py BUILD [--locks a,b] [--jobs N]

A case that already fails without Hasp shows a limit of qemu-user (it knows no robust
mutexes, for instance) and is left out; the closing line says how many were.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

QEMU = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]
TIMEOUT_SECONDS = 120
SKIPPED = 77


@dataclass(frozen=True)
class Outcome:
    status: int | None  # None: it hung
    output: str

    @property
    def passed(self) -> bool:
        return self.status == 0


def run(command: list[str], variables: dict[str, str]) -> Outcome:
    options = [word for item in variables.items() for word in ("-E", "=".join(item))]
    try:
        done = subprocess.run(
            [*QEMU, *options, *command],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIMEOUT_SECONDS,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return Outcome(None, f"hung: stopped after {TIMEOUT_SECONDS} s")
    return Outcome(done.returncode, done.stdout + done.stderr)


def is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK) and ".so" not in path.name


def cases(build: Path) -> list[tuple[Path, str]]:
    """Every (program, case) of the build's test programs."""
    found = []
    for program in filter(is_program, sorted((build / "tests/programs").iterdir())):
        listing = run([str(program), "--list"], {})
        if not listing.passed:
            continue  # not one of the programs with cases: started by another test
        found += [(program, name) for name in listing.output.split()]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("--locks", help="names, separated by commas; default: all")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    build = arguments.build.resolve()

    library = next(build.rglob("libhasp.so"))
    listed = run([str(next(build.rglob("hasp-locks")))], {}).output.splitlines()
    locks = [json.loads(line)["name"] for line in listed]
    if arguments.locks:
        locks = arguments.locks.split(",")
    locks = [lock for lock in locks if lock != "glibc"]  # the run without Hasp is that

    left_out: list[str] = []
    failed: list[str] = []
    passed = 0

    def check(case: tuple[Path, str]) -> None:
        nonlocal passed
        program, name = case
        title = f"{program.name} {name}"
        reference = run([str(program), name], {})
        if not reference.passed:
            left_out.append(title)
            return
        for lock in locks:
            variables = {"LD_PRELOAD": str(library), "HASP_LOCK": lock}
            outcome = run([str(program), name], variables)
            if outcome.passed or outcome.status == SKIPPED:
                passed += 1
            else:
                failed.append(f"{title} under {lock}: {outcome.output.strip()}")
                print(f"FAIL {failed[-1]}", flush=True)

    with ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(check, cases(build)))
    if left_out:
        print("without Hasp these fail or skip under qemu: " + ", ".join(left_out))
    print(f"aarch64: {passed} passed, {len(failed)} failed, {len(left_out)} left out")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
