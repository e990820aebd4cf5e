# SPDX-License-Identifier: MIT
"""Carries out `hasp bench locks`, and the same for other kinds: plans, measures with
progress, reports."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hasp import version
from hasp.base import host, output
from hasp.base.durations import format_duration
from hasp.base.errors import EXIT_FINDING, EXIT_FINE, HaspError
from hasp.base.figures import check_figure
from hasp.lab.bench.cases import BATON, FLOOR, GLIBC, Case, select_cases
from hasp.lab.bench.figure import draw
from hasp.lab.bench.judge import Verdict, judge
from hasp.lab.bench.neighbours import Neighbours
from hasp.lab.bench.progress import carry_out
from hasp.lab.bench.records import load
from hasp.lab.bench.report import print_rows, print_summary, print_verdicts
from hasp.lab.bench.rows import Row, make_rows
from hasp.lab.bench.runner import COLLAPSE, OK, Runner
from hasp.lab.bench.schedule import Samples, expected_seconds, run_rounds
from hasp.locks.kinds import MUTEX, Kind
from hasp.locks.native import LockInfo

# Rounds and seconds without --runs. A 95 % interval of medians needs at least six
# rounds; more rounds only narrow it.
QUICK_ROUNDS = 9
QUICK_SECONDS = (
    19.0  # per lock, for at least two locks; 50 including start-up and hangs
)
QUICK_SECONDS_MOST = 90.0
QUICK_SECONDS_MANY = 4.0  # per lock, if greater: two rounds of all cases
ROUNDS = 15
SECONDS = 300.0
SECONDS_MANY = 20.0  # per lock, if greater: ten rounds of all cases
MUTEXES = 100_000
QUICK_MUTEXES = 20_000
FEW_ROUNDS = 6
BUSY_SHARE = 0.1  # of the CPUs; a quiet host stays below 0.02


@dataclass(frozen=True)
class Options:
    """The options of `hasp bench locks`."""

    locks: list[LockInfo]
    cases: str | None
    quick: bool
    runs: int | None
    check_targets: bool
    json: str | None
    plot: str | None
    command: str
    kind: Kind = MUTEX


@dataclass(frozen=True)
class Circumstances:
    """The conditions under which rows were measured."""

    others_cpu_share: float | None
    biased: bool  # whether the default lock could release with a plain store
    command: str
    host: dict[str, Any]

    def record(self) -> dict[str, Any]:
        """Return the fields that every row of a file has."""
        return {
            "others_cpu_share": self.others_cpu_share,
            "biased": self.biased,
            "version": version(),
            "command": self.command,
            "host": self.host,
        }


def measure_locks(options: Options) -> int:
    """Run the benchmark, print its report, and return the exit status."""
    check_outputs(options)
    cases = select_cases(options.cases, quick=options.quick, kind=options.kind)
    locks = [lock.name for lock in options.locks if lock.name != GLIBC]
    runner = Runner(locks, QUICK_MUTEXES if options.quick else MUTEXES, options.kind)
    rounds = options.runs or (QUICK_ROUNDS if options.quick else ROUNDS)
    limit = None if options.runs else limit_seconds(options.quick, len(locks))
    say_how_long(cases, locks, rounds, limit)

    samples = Samples()
    neighbours = Neighbours()
    status = carry_out(run_rounds(runner.measure, cases, locks, rounds, limit, samples))

    in_order = {lock.name for lock in options.locks if lock.parks and lock.fifo}
    rows = make_rows(samples, cases, locks, in_order)
    how = Circumstances(
        others_cpu_share=neighbours.share(),
        biased=options.kind is not MUTEX or release_is_biased(runner, locks),
        command=options.command,
        host=host.facts().as_json(),
    )
    found = report(rows, options, how)
    for remark in remarks(rows, how.others_cpu_share):
        output.note(remark)
    return status or found


def show_again(options: Options, source: Path) -> int:
    """Show the tables and verdicts of an earlier run; return the exit status."""
    check_outputs(options)
    results = load(source)
    chosen = {lock.name for lock in options.locks}
    kept = [
        row
        for row in results.rows
        if row.case.kind == options.kind.name
        and (row.lock in chosen or row.lock in (GLIBC, FLOOR, BATON))
    ]
    if options.cases is not None:
        names = {case.name for case in select_cases(options.cases, kind=options.kind)}
        kept = [row for row in kept if row.case.name in names]
    if not kept:
        raise HaspError(
            f"{source} contains no such rows of {options.kind.nouns}",
            "leave out --locks or --cases",
        )
    how = Circumstances(
        others_cpu_share=results.others_cpu_share,
        biased=results.biased,
        command=results.command,
        host=results.host,
    )
    return report(kept, options, how)


def check_outputs(options: Options) -> None:
    """Raise HaspError before the measurement if an output cannot be written."""
    if options.json:
        output.check_writable(options.json)
    check_figure(options.plot)


def limit_seconds(quick: bool, locks: int) -> float:
    """Return the time limit in seconds of a run without --runs."""
    if not quick:
        return max(SECONDS, SECONDS_MANY * locks)
    few = min(QUICK_SECONDS * max(2, locks), QUICK_SECONDS_MOST)
    return max(few, QUICK_SECONDS_MANY * locks)


def say_how_long(
    cases: list[Case], locks: list[str], rounds: int, limit: float | None
) -> None:
    """Print the estimated duration of the measurement."""
    seconds = rounds * expected_seconds(cases, locks)
    words = f"about {format_duration(round(seconds))}"
    if limit is not None and seconds > limit:
        words = f"ends after {format_duration(round(limit))}"
    if limit is None:
        words += ", longer if locks collapse"
    output.note(
        f"{counted(len(locks) + 1, 'lock')} in {counted(len(cases), 'case')}, at most "
        f"{counted(rounds, 'round')}: {words}"
    )


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 lock`, `2 locks`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def report(rows: list[Row], options: Options, how: Circumstances) -> int:
    """Write JSON lines if requested, and tables unless JSON goes to stdout.

    Returns the exit status: 1 if targets are checked and one is missed.
    """
    verdicts: list[Verdict] = []
    if options.check_targets:
        verdicts = judge(rows, options.locks, biased=how.biased)
    if options.json:
        circumstances = how.record()
        output.write_json(
            ({**row.record(), **circumstances} for row in rows), options.json
        )
    if options.plot:
        words = (
            f"{how.host.get('cpus_allowed', '?')} CPUs, "
            f"{how.host.get('cpu_model', 'unknown')}; at most "
            f"{counted(max(row.runs for row in rows), 'round')}"
        )
        draw(rows, options.locks, Path(options.plot), words, biased=how.biased)
    # Verdicts are for people, so they must not end up among JSON lines.
    json_on_stdout = options.json == output.STDOUT
    console = output.console(sys.stderr if json_on_stdout else sys.stdout)
    if not json_on_stdout:
        print_rows(console, rows)
        print_summary(console, rows)
    if options.check_targets:
        print_verdicts(console, verdicts)
    missed = any(not verdict.met for verdict in verdicts)
    return EXIT_FINDING if missed else EXIT_FINE


def remarks(rows: list[Row], others: float | None) -> Iterable[str]:
    """Yield remarks on the reliability of the measurement."""
    few = [
        row for row in rows if row.runs < FEW_ROUNDS and row.outcome in (OK, COLLAPSE)
    ]
    if few:
        yield (
            f"{len(few)} of {len(rows)} rows have fewer than {FEW_ROUNDS} runs, so "
            "their intervals are too narrow; select fewer locks or cases, or more runs"
        )
    if others is not None and others > BUSY_SHARE:
        yield (
            f"other programs used {others:.0%} of these CPUs: figures with several "
            "running threads are doubtful"
        )


def release_is_biased(runner: Runner, locks: list[str]) -> bool:
    """Return whether libhasp reports that the default lock releases with a store."""
    if not locks:
        return True
    environment = {**runner.environments[locks[0]], "HASP_VERBOSE": "1"}
    told = subprocess.run(
        [runner.program, "--help"], env=environment, capture_output=True, check=False
    )
    return b"bias=off" not in told.stderr
