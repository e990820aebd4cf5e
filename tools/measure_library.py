#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measure what the library's mutexes cost beside pthread's and std::mutex.

    PYTHONPATH=python tools/measure_library.py --write

Compiles library_costs.cpp with `hasp config`. Runs it alternately by itself and, for
pthread_mutex_t, under `hasp run` with the same algorithms. Prints a table of medians;
--write also puts it into docs/library.md. Takes half a minute on a quiet machine.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import median, quantiles

from page_section import write_section

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "tools/library_costs.cpp"
PAGE = ROOT / "docs/library.md"
BEGIN, END = "<!-- costs -->\n", "<!-- end of costs -->\n"
PRELOADED = ("futex", "ttas", "ticket", "mcs", "mcs-park", "malthusian-park")
REPETITIONS, ROUNDS = 8, 3
PTHREAD = "pthread_mutex_t"

Samples = dict[tuple[str, int], list[float]]  # nanoseconds by kind and threads


def hasp(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "hasp", *words],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


def build(folder: Path) -> Path:
    program = folder / "library_costs"
    flags = hasp("config", "--cflags", "--libs").split()
    command = ["g++", "-std=c++17", "-O2", str(PROGRAM), "-o", str(program), *flags]
    subprocess.run(command, check=True)
    return program


def measure(program: Path) -> Samples:
    samples: Samples = defaultdict(list)

    def add(text: str, suffix: str = "") -> None:
        for line in text.splitlines():
            record = json.loads(line)
            key = record["kind"] + suffix, int(record["threads"])
            samples[key].append(float(record["ns"]))

    for _ in range(REPETITIONS):
        plain = [str(program), str(ROUNDS)]
        add(subprocess.run(plain, stdout=subprocess.PIPE, text=True, check=True).stdout)
        for lock in PRELOADED:
            words = ("run", "--lock", lock, "--", *plain, PTHREAD)
            add(hasp(*words), f" under hasp run --lock {lock}")
    return samples


def row(samples: Samples, kind: str) -> str:
    cells = []
    for threads in (1, 2):
        values = samples[kind, threads]
        low, _, high = quantiles(values, n=4)
        ratio = median(values) / median(samples[PTHREAD, threads])
        cells.append(f"{median(values):.1f} ({low:.1f} to {high:.1f}) | {ratio:.2f}")
    return f"| `{kind}` | {' | '.join(cells)} |"


def table(samples: Samples) -> str:
    kinds = list(dict.fromkeys(kind for kind, _ in samples))
    kinds.sort(key=lambda kind: ("under" in kind, not kind.startswith("p"), kind))
    head = "| mutex | 1 thread, ns | to pthread | 2 threads, ns | to pthread |\n"
    return (
        head
        + "|---|---|---|---|---|\n"
        + "\n".join(row(samples, kind) for kind in kinds)
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="update docs/library.md")
    write = parser.parse_args().write
    with tempfile.TemporaryDirectory() as folder:
        text = table(measure(build(Path(folder)))) + "\n"
    print(text, end="")
    if write:
        write_section(PAGE, BEGIN, END, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
