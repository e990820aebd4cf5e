#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare predictions of `hasp report --what-if` with the changed program.

    tools/validate_what_if.py            measures, writes docs/data/what-if.json
    tools/validate_what_if.py --table    prints the table of docs/what-if.md from it

Each case is a program whose lock is described by its arguments (profile_what_if). The
program is recorded once, and its change predicted. Then the program and its changed
twin run without recording, interleaved.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
DATA = TOP / "docs/data/what-if.json"
PROGRAM = "tests/programs/profile/profile_what_if"


@dataclass(frozen=True)
class Case:
    """A program, a change, and the program so changed; times in microseconds."""

    threads: int
    before: str  # OUTSIDE HOLD [LOCKS [AFTER]]; s: sleeps
    change: str
    after: str


CASES = (
    Case(8, "s2000 s1000", "hold x0.5", "s2000 s500"),
    Case(8, "s2000 s1000", "outside 50%", "s2000 s500 1 s500"),
    Case(8, "s2000 s1000", "split 4", "s2000 s1000 4"),
    Case(4, "s4000 s400", "hold x0.5", "s4000 s200"),
    Case(4, "s2000 300", "remove", "s2000 0 1 300"),
    Case(2, "50 50", "hold x0.5", "50 25"),
    Case(2, "50 50", "outside 50%", "50 25 1 25"),
    Case(8, "20 80", "hold x0.25", "20 20"),
    Case(8, "20 80", "split 8", "20 80 8"),
    Case(8, "100 5", "remove", "100 0 1 5"),
    Case(4, "s1000 200 2", "hold x0.5", "s1000 100 2"),
    Case(16, "s3000 s300", "split 2", "s3000 s300 2"),
)


def rate(program: Path, threads: int, arguments: str, seconds: float) -> float:
    """Return operations per second without recording."""
    words = [str(program), str(threads), str(seconds), *arguments.split()]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[0])


def predicted(program: Path, case: Case, seconds: float) -> dict[str, float]:
    """Record the program, and return the prediction."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "hasp.trace"
        hasp = [sys.executable, "-m", "hasp"]
        words = [str(program), str(case.threads), str(seconds), *case.before.split()]
        subprocess.run(
            [*hasp, "profile", "-o", str(trace), "--", *words],
            capture_output=True,
            check=True,
        )
        change = f"stripe {case.change}"
        done = subprocess.run(
            [*hasp, "report", "--what-if", change, "--json", "-", str(trace)],
            capture_output=True,
            check=True,
        )
    said = json.loads(done.stdout)
    one = said["predictions"][0]
    return {key: one[key] for key in ("throughput", "low", "high")} | {
        "model_error": said["model_error"]
    }


def measured(
    program: Path, case: Case, seconds: float, rounds: int
) -> dict[str, float]:
    """Return the ratio of the rates of each round: the median, and the extremes."""
    ratios = []
    for _ in range(rounds):
        before = rate(program, case.threads, case.before, seconds)
        ratios.append(rate(program, case.threads, case.after, seconds) / before)
    return {
        "measured": statistics.median(ratios),
        "measured_low": min(ratios),
        "measured_high": max(ratios),
    }


def table(cases: list[dict[str, object]]) -> str:
    """Return the table in Markdown."""
    lines = [
        "| threads | outside, hold | change | predicted | range | measured | range |",
        "|---:|---|---|---:|---|---:|---|",
    ]
    row = (
        "| {threads} | {before} | {change} | {throughput:.2f} "
        "| {low:.2f} to {high:.2f} | {measured:.2f} "
        "| {measured_low:.2f} to {measured_high:.2f} |"
    )
    lines += [row.format(**one) for one in cases]
    return "\n".join(lines)


def main() -> int:
    """Measure and write, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", action="store_true", help="print the table")
    parser.add_argument("--seconds", type=float, default=2.0, help="of each run")
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    if not chosen.table:
        program = Path(os.environ.get("HASP_NATIVE_DIR", TOP / "build")) / PROGRAM
        cases = []
        for case in CASES:
            cases.append(
                vars(case)
                | predicted(program, case, chosen.seconds)
                | measured(program, case, chosen.seconds, chosen.rounds)
            )
            print(table(cases[-1:]).splitlines()[-1], file=sys.stderr)
        cpus = len(os.sched_getaffinity(0))
        found = {"command": "tools/validate_what_if.py", "cpus": cpus, "cases": cases}
        DATA.write_text(json.dumps(found, indent=1) + "\n")
    print(table(json.loads(DATA.read_text())["cases"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
