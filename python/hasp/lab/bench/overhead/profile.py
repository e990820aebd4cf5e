# SPDX-License-Identifier: MIT
"""Carries out `hasp bench profile`: measures with progress, reports."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hasp import version
from hasp.base import host, output
from hasp.base.durations import format_duration
from hasp.base.errors import EXIT_FINDING, EXIT_FINE, HaspError
from hasp.lab.bench.locks import BUSY_SHARE, FEW_ROUNDS, counted
from hasp.lab.bench.neighbours import Neighbours
from hasp.lab.bench.overhead.cases import (
    CPU_CASE,
    CPU_OVERHEAD,
    MEMCACHED,
    MODES,
    OVERHEADS,
    select,
)
from hasp.lab.bench.overhead.figures import Figure, figures_of, load
from hasp.lab.bench.overhead.measure import Runner
from hasp.lab.bench.overhead.report import print_figures, print_targets
from hasp.lab.bench.progress import carry_out
from hasp.lab.bench.rows import make_rows
from hasp.lab.bench.schedule import Samples, expected_seconds, run_rounds

ROUNDS = 15
QUICK_ROUNDS = 6  # a 95 % interval of medians needs at least six


@dataclass(frozen=True)
class Options:
    """The options of `hasp bench profile`."""

    cases: str | None
    quick: bool
    runs: int | None
    check_targets: bool
    json: str | None
    command: str


def measure_profiling(options: Options) -> int:
    """Run all cases with and without the recorder, and print the slowdowns."""
    if options.json:
        output.check_writable(options.json)
    overheads = select(options.cases)
    if options.cases is None and len(overheads) < len(OVERHEADS):
        output.note(
            "memcached is skipped: apt-get install memcached libmemcached-tools"
        )
    cases = [overhead.case for overhead in overheads]
    rounds = options.runs or (QUICK_ROUNDS if options.quick else ROUNDS)
    seconds = rounds * expected_seconds(cases, MODES)
    output.note(
        f"{counted(len(cases), 'case')} without, with full and with sampled profiling, "
        f"{counted(rounds, 'round')}: about {format_duration(round(seconds))}"
    )
    samples = Samples()
    neighbours = Neighbours()
    with tempfile.TemporaryDirectory(prefix="hasp-bench-") as folder:
        runner = Runner(overheads, Path(folder), samples)
        status = carry_out(
            run_rounds(runner.measure, cases, MODES, rounds, None, samples)
        )
    if any(case.name == MEMCACHED for case in cases):
        overheads = [*overheads, CPU_OVERHEAD]
        cases = [*cases, CPU_CASE]
    rows = make_rows(samples, cases, MODES)
    figures = figures_of(rows, overheads, runner.told)
    others = neighbours.share()
    how = {
        "others_cpu_share": others,
        "version": version(),
        "command": options.command,
        "host": host.facts().as_json(),
    }
    found = _report(figures, options, how)
    if any(figure.runs < FEW_ROUNDS for figure in figures):
        output.note(f"fewer than {FEW_ROUNDS} rounds: the intervals are too narrow")
    if others is not None and others > BUSY_SHARE:
        output.note(
            f"other programs used {others:.0%} of these CPUs: figures with several "
            "running threads are doubtful"
        )
    return status or found


def show_again(options: Options, source: Path) -> int:
    """Show the tables and verdicts of an earlier run; return the exit status."""
    found = load(source)
    if options.cases is not None:
        names = {word.strip() for word in options.cases.split(",")}
        found = [pair for pair in found if pair[0].case in names]
    if not found:
        raise HaspError(f"{source} contains no such rows", "leave out --cases")
    if options.json:
        output.write_json((record for _, record in found), options.json)
    return _shown([figure for figure, _ in found], options)


def _report(figures: list[Figure], options: Options, how: dict[str, Any]) -> int:
    if options.json:
        output.write_json(({**f.record(), **how} for f in figures), options.json)
    return _shown(figures, options)


def _shown(figures: list[Figure], options: Options) -> int:
    # Verdicts are for people, so they must not end up among JSON lines.
    json_on_stdout = options.json == output.STDOUT
    console = output.console(sys.stderr if json_on_stdout else sys.stdout)
    if not json_on_stdout:
        print_figures(console, figures)
    if not options.check_targets:
        return EXIT_FINE
    print_targets(console, figures)
    missed = any(figure.met is False for figure in figures)
    return EXIT_FINDING if missed else EXIT_FINE
