#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Replays a stored study as races: does `hasp tune` find what exhaustive search finds?

    PYTHONPATH=python HASP_NATIVE_DIR=build .venv/bin/python tools/replay_tune.py \\
        docs/studies/two-cpus/store [--replays N]

prints the table of docs/hasp-tune.md. For each program, every run of the study under
every lock is the truth: a race draws its runs from them at random, and so does an
exhaustive search, which runs each candidate as often as the study did. The race gets a
quarter of its runs. Regret is by how much the best candidate of the study, by the
geometric mean of its runs, is better than the one that was found.
"""

from __future__ import annotations

import argparse
import math
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy

from hasp.compare.settings import Cell
from hasp.locks import native
from hasp.locks.native import REFERENCE
from hasp.statistics.race import Race
from hasp.study.samples import Store
from hasp.tune.similarity import similarity

METRIC = "throughput"
CLOSE = 0.05
SHARE = 4  # the exhaustive search has this many times the runs of the race

Array = Any


@dataclass(frozen=True)
class Program:
    """The runs of one program, with a row of logarithms for each candidate."""

    name: str
    cells: list[Cell]
    runs: Array

    @property
    def truth(self) -> Array:
        """The mean logarithm of each candidate."""
        return self.runs.mean(axis=1)

    def draw(self, which: int, source: numpy.random.Generator) -> float:
        """Return one of the candidate's runs."""
        return float(source.choice(self.runs[which]))


def programs(folder: Path) -> list[Program]:
    """Return the programs of a store with every size of each."""
    import polars

    known = {lock.name for lock in native.locks()}
    table = polars.read_parquet(Store(folder).samples / "*.parquet")
    table = table.filter(polars.col("metric") == METRIC).sort("run")
    found: dict[str, dict[Cell, list[float]]] = {}
    for row in table.iter_rows(named=True):
        if row["lock"] in known:
            cell = Cell(row["lock"], row["size"])
            found.setdefault(row["program"], {}).setdefault(cell, [])
            found[row["program"]][cell].append(math.log(row["value"]))
    result = []
    for name, cells in sorted(found.items()):
        fewest = min(map(len, cells.values()))
        runs = numpy.array([values[:fewest] for values in cells.values()])
        result.append(Program(name, list(cells), runs))
    return result


def race(program: Program, source: numpy.random.Generator, most: int) -> int:
    """Return the candidate that a race of at most `most` runs finds."""
    references = [
        which for which, cell in enumerate(program.cells) if cell.lock == REFERENCE
    ]
    contest = Race(
        similarity(program.cells, {}), reference=references[-1], first=references
    )
    left = most
    while left > 0:
        cells = contest.next_round()[:left]
        if not cells:
            break
        contest.record({which: program.draw(which, source) for which in cells})
        left -= len(cells)
    assert contest.leader is not None
    return contest.leader


def exhaustive(program: Program, source: numpy.random.Generator) -> int:
    """Return the candidate with the best mean when each runs as in the study."""
    number, runs = program.runs.shape
    picks = source.integers(0, runs, (number, runs))
    drawn = numpy.take_along_axis(program.runs, picks, axis=1)
    return int(drawn.mean(axis=1).argmax())


def line(program: Program, replays: int) -> tuple[str, float]:
    """Return the row of a program, and the median regret to the exhaustive search."""
    source = numpy.random.default_rng(1)
    truth, best = program.truth, float(program.truth.max())
    total = program.runs.size
    found = [race(program, source, total // SHARE) for _ in range(replays)]
    wide = [exhaustive(program, source) for _ in range(replays)]
    own = [math.expm1(best - truth[which]) for which in found]
    its = [math.expm1(best - truth[which]) for which in wide]
    behind = [math.expm1(truth[b] - truth[a]) for a, b in zip(found, wide, strict=True)]
    close = sum(value <= CLOSE for value in behind) / replays
    words = (
        f"| {program.name} | {total // SHARE} of {total} "
        f"| {100 * statistics.median(own):.1f} % "
        f"| {100 * statistics.median(its):.1f} % "
        f"| {100 * statistics.median(behind):+.1f} % | {100 * close:.0f} % |"
    )
    return words, statistics.median(behind)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Replay a study as races.")
    parser.add_argument("store", type=Path)
    parser.add_argument("--replays", type=int, default=200, metavar="N")
    options = parser.parse_args()
    print(
        "| program | runs | regret | regret of exhaustive search "
        "| behind it | within 5 % |"
    )
    print("|---|---:|---:|---:|---:|---:|")
    close = 0
    everything = programs(options.store)
    for program in everything:
        words, behind = line(program, options.replays)
        close += behind <= CLOSE
        print(words, flush=True)
    print(f"\nwithin 5 % of exhaustive search: {close} of {len(everything)} programs")


if __name__ == "__main__":
    main()
