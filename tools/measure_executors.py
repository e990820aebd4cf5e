#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare the executors with the best lock on a simulated machine.

    PYTHONPATH=python tools/measure_executors.py  # docs/data/executor-scaling.json

As in RCL's publication, the address of a section's next line depends on the line
before. The results are the same on every host; the pages in docs/executors show them.
Takes about two minutes on two CPUs.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hasp.locks import native
from hasp.locks.kinds import EXECUTOR
from no_options import no_options

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs/data/executor-scaling.json"
MACHINE, THREADS = "opteron-48", 48
CONTENDED, RARE = 4000, 100_000  # cycles between a thread's sections
LOADS = ((CONTENDED, 1), (CONTENDED, 5), (RARE, 1))  # and lines


def simulate(think: int, lines: int, *words: str) -> Iterator[dict[str, Any]]:
    """Yield the records of a simulation."""
    command = [sys.executable, "-m", "hasp", "simulate", "--machine", MACHINE]
    command += ["--workload", "delegation", "--threads", str(THREADS), *words]
    command += ["--knob", f"think_cycles={think}", "--knob", f"cs_lines={lines}"]
    command += ["--knob", "chained=1"]
    done = subprocess.run([*command, "--json"], stdout=subprocess.PIPE, check=True)
    yield from map(json.loads, done.stdout.splitlines())


def records() -> Iterator[dict[str, Any]]:
    """Yield a record for each executor and load."""
    for think, lines in LOADS:
        locks = simulate(think, lines, "--locks", "all")
        best = max(locks, key=lambda record: float(record["throughput_mops"]))
        for executor in native.locks(EXECUTOR):
            words = ("--locks", "mcs", "--knob", f"executor={executor.name}")
            (found,) = simulate(think, lines, *words)
            holds = found.get("executor_holds")
            yield {
                "kind": EXECUTOR.name,
                "lock": executor.name,
                "machine": MACHINE,
                "threads": THREADS,
                "think_cycles": think,
                "lines": lines,
                "mops": found["throughput_mops"],
                "best_lock": best["lock"],
                "best_lock_mops": best["throughput_mops"],
                "sections_per_hold": found["executor_sections"] / holds if holds else 0,
            }


def main() -> int:
    """Simulate every executor, and write a line for each run."""
    no_options(__doc__)
    lines = [f"{json.dumps(record)}\n" for record in records()]
    DATA.write_text("".join(lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
