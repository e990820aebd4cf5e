# SPDX-License-Identifier: MIT
"""The whole of `hasp bench locks`: plan, measure with progress, report."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass

from hasp import host, output, version
from hasp.bench.cases import GLIBC, select_cases
from hasp.bench.judge import Verdict, judge
from hasp.bench.neighbours import Neighbours
from hasp.bench.rows import Row, make_rows
from hasp.bench.runner import COLLAPSE, OK, Runner
from hasp.bench.schedule import Samples, Step, run_rounds
from hasp.durations import format_duration
from hasp.errors import EXIT_FINDING, EXIT_FINE, Interrupted
from hasp.native import LockInfo
from hasp.study.children import interrupt_on_signals

# Rounds and seconds, when --runs does not say. Six rounds are the least for which a
# 95 % interval of medians can be right; more only make it narrower.
QUICK_ROUNDS = 9
QUICK_SECONDS = 19.0  # for each lock, at least two: 50 with start, hangs, statistics
QUICK_SECONDS_MOST = 90.0
ROUNDS = 15
SECONDS = 300.0
MUTEXES = 100_000
QUICK_MUTEXES = 20_000
FEW_ROUNDS = 6
BUSY_SHARE = 0.1  # of the CPUs; a quiet machine has less than 0.02


@dataclass(frozen=True)
class Options:
    """What the command line asked for."""

    locks: list[LockInfo]
    cases: str | None
    quick: bool
    runs: int | None
    check_targets: bool
    json: str | None


def measure_locks(options: Options) -> int:
    """Run the benchmark and print its report; the exit status."""
    if options.json:
        output.check_writable(options.json)
    cases = select_cases(options.cases)
    locks = [lock.name for lock in options.locks if lock.name != GLIBC]
    runner = Runner(locks, QUICK_MUTEXES if options.quick else MUTEXES)
    rounds = options.runs or (QUICK_ROUNDS if options.quick else ROUNDS)
    limit = None if options.runs else _limit_seconds(options.quick, len(locks))

    samples = Samples()
    neighbours = Neighbours()
    status = EXIT_FINE
    progress = Progress()
    interrupt_on_signals()
    try:
        progress.show(run_rounds(runner.measure, cases, locks, rounds, limit, samples))
    except Interrupted as interruption:
        status = interruption.exit_status
    finally:
        progress.clear()
    if status:
        output.note("interrupted; what follows was measured until then")

    in_order = {lock.name for lock in options.locks if lock.parks and lock.fifo}
    rows = make_rows(samples, cases, locks, in_order)
    verdicts = []
    if options.check_targets:
        verdicts = judge(rows, options.locks, biased=release_is_biased(runner, locks))
    others = neighbours.share()
    report(rows, verdicts, options, others)
    for remark in remarks(rows, others):
        output.note(remark)
    if status == EXIT_FINE and any(not verdict.met for verdict in verdicts):
        return EXIT_FINDING
    return status


def _limit_seconds(quick: bool, locks: int) -> float:
    if not quick:
        return SECONDS
    return min(QUICK_SECONDS * max(2, locks), QUICK_SECONDS_MOST)


def report(
    rows: list[Row], verdicts: list[Verdict], options: Options, others: float | None
) -> None:
    """JSON lines where they were asked for; tables unless those go to stdout."""
    from hasp.bench.report import print_rows, print_summary, print_verdicts

    if options.json:
        circumstances = {
            "others_cpu_share": others,
            "version": version(),
            "host": host.facts().as_json(),
        }
        output.write_json(
            ({**row.record(), **circumstances} for row in rows), options.json
        )
    # The verdicts are for people in any case, and must not end up among JSON lines.
    json_on_stdout = options.json == output.STDOUT
    console = output.console(sys.stderr if json_on_stdout else sys.stdout)
    if not json_on_stdout:
        print_rows(console, rows)
        print_summary(console, rows)
    if options.check_targets:
        print_verdicts(console, verdicts)


def remarks(rows: list[Row], others: float | None) -> Iterable[str]:
    """What to keep in mind about this measurement."""
    few = [
        row for row in rows if row.runs < FEW_ROUNDS and row.outcome in (OK, COLLAPSE)
    ]
    if few:
        yield (
            f"{len(few)} of {len(rows)} rows rest on fewer than {FEW_ROUNDS} runs: "
            "their intervals are too narrow; name fewer locks or cases, or more --runs"
        )
    if others is not None and others > BUSY_SHARE:
        yield (
            f"other programs had {others:.0%} of these CPUs meanwhile: figures with "
            "several running threads are doubtful"
        )


def release_is_biased(runner: Runner, locks: list[str]) -> bool:
    """Whether the default lock may release with a plain store here (libhasp tells)."""
    if not locks:
        return True
    environment = {**runner.environments[locks[0]], "HASP_VERBOSE": "1"}
    told = subprocess.run(
        [runner.program, "--help"], env=environment, capture_output=True, check=False
    )
    return b"bias=off" not in told.stderr


class Progress:
    """One line on stderr with the time left: rewritten on a terminal."""

    def __init__(self) -> None:
        self.live = sys.stderr.isatty()
        self.shown_round = 0
        self.width = 0
        self.shown_at = 0.0

    def show(self, steps: Iterable[Step]) -> None:
        """Run through the steps, saying where they are."""
        for step in steps:
            words = (
                f"round {step.round_number} of {step.rounds}, "
                f"{format_duration(round(step.seconds_left))} left"
            )
            if self.live and time.monotonic() - self.shown_at > 0.1:
                self._rewrite(f"{words}: {step.case.name} {step.subject}")
            elif not self.live and step.round_number != self.shown_round:
                self.shown_round = step.round_number
                output.note(words)

    def _rewrite(self, text: str) -> None:
        self.shown_at = time.monotonic()
        line = text[: output.COLUMNS - 1]
        print(f"\r{line:<{self.width}}", end="", file=sys.stderr, flush=True)
        self.width = len(line)

    def clear(self) -> None:
        """Remove the line."""
        if self.live and self.width:
            print(f"\r{'':{self.width}}\r", end="", file=sys.stderr, flush=True)
