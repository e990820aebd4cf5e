#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measure what `hasp profile` adds to a delegated section.

    PYTHONPATH=python tools/measure_recording.py [--write]

Compiles delegated_sections.c with `hasp config`. Runs it alternately by itself, under
`hasp profile`, and under `hasp profile --sample`. Prints a table of medians with
quartiles; --write also puts it into docs/delegation.md. Takes a minute and a half on a
quiet machine with two CPUs.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import median, quantiles

from page_section import write_section

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "tools/delegated_sections.c"
PAGE = ROOT / "docs/delegation.md"
BEGIN, END = "<!-- recording -->\n", "<!-- end of recording -->\n"
HASP = (sys.executable, "-m", "hasp")
LOADS = (("adaptive", 1), ("adaptive", 2), ("cc-synch", 1), ("cc-synch", 2))
FORMS = ("alone", "profiled", "sampled")
REPETITIONS, ROUNDS = 9, 2_000_000

Samples = dict[tuple[str, int, str], list[float]]  # ns of a section


def build(folder: Path) -> str:
    flags = subprocess.run(
        [*HASP, "config", "--cflags", "--libs"],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout.split()
    program = str(folder / "delegated_sections")
    subprocess.run(["cc", "-O2", str(PROGRAM), "-o", program, *flags], check=True)
    return program


def run(program: str, executor: str, threads: int, form: str, folder: Path) -> float:
    words = [program, executor, str(threads), str(ROUNDS // threads)]
    if form != "alone":
        trace = str(folder / "trace")
        options = ["--sample"] if form == "sampled" else []
        words = [*HASP, "profile", *options, "-o", trace, "--", *words]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return float(done.stdout.splitlines()[0])


def measure(program: str, folder: Path) -> Samples:
    samples: Samples = defaultdict(list)
    for _ in range(REPETITIONS):
        for executor, threads in LOADS:
            for form in FORMS:
                found = run(program, executor, threads, form, folder)
                samples[executor, threads, form].append(found)
    return samples


def row(samples: Samples, executor: str, threads: int) -> str:
    cells = []
    alone = samples[executor, threads, FORMS[0]]
    for form in FORMS:
        values = samples[executor, threads, form]
        low, _, high = quantiles(values, n=4)
        cells.append(f"{median(values):.0f} ({low:.0f} to {high:.0f})")
        if form != FORMS[0]:
            ratios = [a / b for a, b in zip(values, alone, strict=True)]
            cells.append(f"{median(ratios):.2f}")
    return f"| `{executor}` | {threads} | {' | '.join(cells)} |"


def table(samples: Samples) -> str:
    head = "| executor | threads | alone, ns | profiled, ns | ratio | sampled, ns "
    rows = [row(samples, executor, threads) for executor, threads in LOADS]
    return "\n".join((f"{head}| ratio |", "|---|--:|--:|--:|--:|--:|--:|", *rows))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="update the page")
    write = parser.parse_args().write
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = table(measure(build(folder), folder)) + "\n"
    print(text, end="")
    if write:
        write_section(PAGE, BEGIN, END, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
