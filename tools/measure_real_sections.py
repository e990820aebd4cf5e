#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measure real programs whose sections are rewritten, with every executor.

    PYTHONPATH=python tools/measure_real_sections.py --build FOLDER
    PYTHONPATH=python tools/measure_real_sections.py --turns 9 --only hmmer2 FOLDER
    PYTHONPATH=python tools/measure_real_sections.py --write

--build fetches Debian's sources of memcached, MAFFT and HMMER 2 into a new folder,
rewrites and builds them, which takes five minutes. --turns runs each form of each
program in turns, in an order that differs from turn to turn, checks its output, and
adds the rates to docs/data/real-sections.jsonl; a turn takes a minute. Do nothing else
on the machine meanwhile. --write puts the table into docs/delegating.md.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from hasp.statistics.ratio import ratio_of_medians
from page_section import write_section
from real_sections import ORIGINAL, PROGRAMS, Program, build, forms

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs/data/real-sections.jsonl"
PAGE = ROOT / "docs/delegating.md"
BEGIN, END = "<!-- real sections -->\n", "<!-- end of real sections -->\n"

Rates = dict[str, dict[int, float]]  # by form and turn


def turn(program: Program, folder: Path, number: int) -> None:
    """Run each form of a program once, and write down its rate."""
    names = forms()
    random.Random(number).shuffle(names)
    for form in names:
        product = folder / program.package / form / Path(program.product).name
        with tempfile.TemporaryDirectory() as empty:
            source = folder / program.package / "source"
            rate = program.load(product, source, Path(empty))
        record = {
            "program": program.package,
            "form": form,
            "turn": number,
            "rate": round(rate, 5),
        }
        with DATA.open("a") as data:
            data.write(f"{json.dumps(record)}\n")


def read() -> dict[str, Rates]:
    """Return the rates of each program."""
    rates: dict[str, Rates] = defaultdict(lambda: defaultdict(dict))
    if DATA.exists():
        for line in DATA.read_text().splitlines():
            found = json.loads(line)
            rates[found["program"]][found["form"]][found["turn"]] = found["rate"]
    return rates


def cell(rates: Rates, form: str) -> str:
    """Return how many times the original's rate a form has, with its interval."""
    turns = sorted(rates[form].keys() & rates[ORIGINAL].keys())
    ratio = ratio_of_medians(
        [rates[form][number] for number in turns],
        [rates[ORIGINAL][number] for number in turns],
    )
    if ratio.low is None or ratio.high is None:
        return f"{ratio.value:.2f}"
    return f"{ratio.value:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"


def table() -> Iterator[str]:
    """Yield the lines of the table."""
    rates = read()
    heads = (f"{program.package}, {program.unit}" for program in PROGRAMS)
    yield f"| | {' | '.join(heads)} |"
    yield f"|---|{'--:|' * len(PROGRAMS)}"
    turns = (str(len(rates[program.package][ORIGINAL])) for program in PROGRAMS)
    yield f"| turns | {' | '.join(turns)} |"
    medians = (
        sorted(rates[program.package][ORIGINAL].values()) for program in PROGRAMS
    )
    cells = (f"{float(f'{values[len(values) // 2]:.3g}'):,g}" for values in medians)
    yield f"| the original | {' | '.join(cells)} |"
    for form in forms():
        if form != ORIGINAL:
            cells = (cell(rates[program.package], form) for program in PROGRAMS)
            yield f"| `{form}` | {' | '.join(cells)} |"


def main() -> int:
    """Build, measure or write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--build", action="store_true")
    parser.add_argument("--turns", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="update the page")
    parser.add_argument("--only", metavar="PACKAGE", help="one of the programs")
    options = parser.parse_args()
    programs = [each for each in PROGRAMS if options.only in (None, each.package)]
    if not options.folder and (options.build or options.turns):
        parser.error("which folder?")
    if options.build:
        for program in programs:
            build(program, options.folder.resolve() / program.package, forms())
    for _ in range(options.turns):
        for program in programs:
            done = max(read()[program.package][ORIGINAL], default=0)
            turn(program, options.folder.resolve(), done + 1)
    if options.write:
        write_section(PAGE, BEGIN, END, "".join(f"{line}\n" for line in table()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
