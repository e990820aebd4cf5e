#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare the barriers with glibc's on simulated machines.

    PYTHONPATH=python tools/measure_barriers.py  # writes docs/data/barrier-scaling.json

The results are the same on every host; the pages in docs/barriers show them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from hasp.lab.simulate.machines.flat import flatten
from hasp.lab.simulate.machines.machine import load
from hasp.locks import native
from no_options import no_options

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs/data/barrier-scaling.json"
MACHINES = {"opteron-48": (2, 8, 48), "xeon-80": (2, 8, 80)}
PHASES = "20"


def main() -> int:
    """Simulate every barrier, and write a line for each run."""
    no_options(__doc__)
    program = native.program("hasp-simulate-barriers")
    lines = []
    for machine, threads in MACHINES.items():
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(flatten(load(machine)))
            file.flush()
            for count in threads:
                command = [str(program), file.name, str(count), PHASES]
                done = subprocess.run(
                    command, capture_output=True, text=True, check=True
                )
                for line in done.stdout.splitlines():
                    row = json.loads(line)
                    record = {
                        "kind": "barrier",
                        "lock": row["barrier"],
                        "machine": machine,
                        "threads": count,
                        "phase_ns": row["phase_ns"],
                    }
                    lines.append(f"{json.dumps(record)}\n")
    DATA.write_text("".join(lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
