#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare the executors with the best lock on a simulated machine.

    PYTHONPATH=python tools/measure_executors.py  # docs/data/executor-scaling.json

As in RCL's publication, the address of a section's next line depends on the line
before. Figures are means over five seeds, from which the best executors and locks vary
by 3 %. The results are the same on every host; the pages in docs/executors show them.
Takes about five minutes on two CPUs.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import Any

from hasp.locks import native
from hasp.locks.kinds import EXECUTOR
from no_options import no_options

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs/data/executor-scaling.json"
MACHINE, THREADS = "opteron-48", 48
SEEDS = "1,2,3,4,5"
CONTENDED, RARE = 4000, 100_000  # cycles between a thread's sections
LOADS = ((CONTENDED, 1), (CONTENDED, 5), (RARE, 1))  # and lines


def simulate(think: int, lines: int, *words: str) -> dict[str, list[dict[str, Any]]]:
    """Return the records of each lock, one for each seed."""
    command = [sys.executable, "-m", "hasp", "simulate", "--machine", MACHINE]
    command += ["--workload", "delegation", "--threads", str(THREADS), *words]
    command += ["--knob", f"think_cycles={think}", "--knob", f"cs_lines={lines}"]
    command += ["--knob", "chained=1", "--seeds", SEEDS, "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    found = defaultdict(list)
    for record in map(json.loads, done.stdout.splitlines()):
        found[record["lock"]].append(record)
    return found


def mean_mops(runs: list[dict[str, Any]]) -> float:
    """Return the mean of their millions of sections a second."""
    return round(mean(float(run["throughput_mops"]) for run in runs), 4)


def records() -> Iterator[dict[str, Any]]:
    """Yield a record for each executor and load."""
    for think, lines in LOADS:
        locks = simulate(think, lines, "--locks", "all")
        mops = {lock: mean_mops(runs) for lock, runs in locks.items()}
        best = max(mops, key=mops.__getitem__)
        for executor in native.locks(EXECUTOR):
            words = ("--locks", "mcs", "--knob", f"executor={executor.name}")
            (runs,) = simulate(think, lines, *words).values()
            sections, holds = (
                sum(run.get(f"executor_{what}", 0) for run in runs)
                for what in ("sections", "holds")
            )
            yield {
                "kind": EXECUTOR.name,
                "lock": executor.name,
                "machine": MACHINE,
                "threads": THREADS,
                "think_cycles": think,
                "lines": lines,
                "mops": mean_mops(runs),
                "best_lock": best,
                "best_lock_mops": mops[best],
                "sections_per_hold": sections / holds if holds else 0,
            }


def main() -> int:
    """Simulate every executor, and write a line for each run."""
    no_options(__doc__)
    lines = [f"{json.dumps(record)}\n" for record in records()]
    DATA.write_text("".join(lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
