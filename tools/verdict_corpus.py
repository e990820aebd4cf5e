#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run the servers with known lock faults, and count how many verdicts are right.

Each program is profiled with 1, 2, 4 and 8 threads. Verdicts that are in the results
file are not measured again, so an interrupted run continues where it stopped:

    tools/verdict_corpus.py --half tuning
    tools/verdict_corpus.py --fixes             the gain of each program's variants
    tools/verdict_corpus.py --half real         real programs instead of the servers

For the set-aside half, only the counts are printed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

import verdict_real
from verdict_real import RealProgram, real_programs
from verdict_truth import FOLDERS, ROOT, THREADS, Judgement, Program, judge, programs
from verdict_words import verdict_of

DATA = ROOT / "docs/data/verdicts.json"
SKIPPED = 77  # exit status of a program that lacks something that it needs
ROUNDS = 3
USUAL = "4"  # threads; gains with other numbers need not be measured
OPERATIONS = re.compile(r"ops/s: ([\d.]+)")
LIMIT = 120

console = Console(stderr=True)


@dataclass(frozen=True)
class Options:
    """The command line."""

    halves: tuple[str, ...]
    threads: tuple[int, ...]
    only: tuple[str, ...]
    state: str
    data: Path
    build: Path
    seconds: float
    tries: int
    fixes: bool
    again: bool

    @property
    def chosen(self) -> list[Program | RealProgram]:
        """Return the programs that were asked for."""
        return [
            program
            for program in everything()
            if program.half in self.halves
            and (not self.only or program.name in self.only)
        ]

    @property
    def jobs(self) -> list[tuple[Program | RealProgram, int]]:
        """Return each program with each number of threads that it runs with.

        All programs come with the first number, then all with the next one.
        """
        found = [
            (program, threads)
            for program in self.chosen
            for threads in program.runs_with(self.threads)
        ]
        order = {threads: at for at, threads in enumerate(self.threads)}
        return sorted(found, key=lambda job: order.get(job[1], len(order)))

    def command(self, program: Program | RealProgram, threads: int) -> list[str]:
        """Return the command to profile; nothing if it cannot run here."""
        if isinstance(program, RealProgram):
            ready = verdict_real.prepare(program)
            return verdict_real.words(program, threads) if ready else []
        executable = self.executable(program)
        seconds = f"{self.seconds:g}"
        options = ["--threads", str(threads), "--seconds", seconds]
        return [str(executable), *options] if executable else []

    def executable(self, program: Program) -> Path | None:
        """Return the program's file; None if it is not built here."""
        folder = self.build / FOLDERS[program.half].relative_to(ROOT)
        path = folder / program.program
        return path if path.exists() else None


def everything() -> tuple[Program | RealProgram, ...]:
    """Return the servers and the real programs."""
    return (*programs(), *real_programs())


def read_data(path: Path) -> dict[str, Any]:
    """Return the results: verdicts by state, and gains."""
    if not path.exists():
        return {"schema": "hasp.verdicts/1", "states": {}, "gains": {}}
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return data


def write_data(path: Path, data: dict[str, Any]) -> None:
    """Replace the file with these results."""
    beside = path.with_name(path.name + ".new")
    text = json.dumps(data, indent=1, sort_keys=True) + "\n"
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def profile(command: list[str]) -> dict[str, Any] | None:
    """Return the verdict on one run; None if the program cannot run here."""
    with tempfile.TemporaryDirectory() as folder:
        trace = str(Path(folder, "t.trace"))
        hasp = [sys.executable, "-m", "hasp"]
        ran = _run([*hasp, "profile", "-o", trace, "--", *command])
        if ran.returncode == SKIPPED:
            return None
        report = _run([*hasp, "report", "--json", "-", trace])
        if ran.returncode != 0 or report.returncode != 0:
            text = (ran.stderr + report.stderr)[-300:]
            return {"sentence": f"failed: {text}", "cause": "", "remedy": ""}
        return verdict_of(json.loads(report.stdout))


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)


def profile_under_load(
    command: list[str], program: Program | RealProgram
) -> dict[str, Any] | None:
    """Return the verdict on one run, with the load that a real server needs."""
    if not isinstance(program, RealProgram):
        return profile(command)
    with verdict_real.loaded(program):
        return profile(command)


def run_profiles(options: Options) -> None:
    """Profile what is missing in the results, which are written after each run."""
    for program, threads in track(options.jobs, "profiling", console=console):
        data = read_data(options.data)
        state = data["states"].setdefault(options.state, {})
        results = state.setdefault(program.name, {})
        if str(threads) in results and not options.again:
            continue
        command = options.command(program, threads)
        if not command:
            continue
        verdict = profile_under_load(command, program)
        for _ in range(options.tries - 1):
            if verdict is not None and verdict.get("confidence") == "low":
                verdict = profile_under_load(command, program)
        if verdict is not None:
            results[str(threads)] = verdict
            write_data(options.data, data)


def throughput(executable: Path, threads: int, fix: str) -> float:
    """Return the operations per second of one short run, at least 0.1."""
    command = [str(executable), "--threads", str(threads), "--seconds", "0.4"]
    found = OPERATIONS.search(_run([*command, "--fix", fix]).stdout)
    return max(float(found[1]) if found else 0.0, 0.1)


def measure_gains(executable: Path, program: Program, threads: int) -> dict[str, float]:
    """Return the ratio of throughput to the faulty variant, for each remedy.

    The median of interleaved rounds.
    """
    ratios: dict[str, list[float]] = {fix: [] for fix in program.fixes}
    for _ in range(ROUNDS):
        faulty = throughput(executable, threads, "none")
        for fix, found in ratios.items():
            found.append(throughput(executable, threads, fix) / faulty)
    return {fix: round(statistics.median(found), 3) for fix, found in ratios.items()}


def run_fixes(options: Options) -> None:
    """Measure the gains that are missing in the results."""
    jobs = [
        (program, threads)
        for program, threads in options.jobs
        if program.has_gains() and threads in program.threads
    ]
    for program, threads in track(jobs, "measuring fixes", console=console):
        data = read_data(options.data)
        gains = data["gains"].setdefault(program.name, {})
        if str(threads) in gains and not options.again:
            continue
        if isinstance(program, RealProgram):
            found = verdict_real.measure_gain(program, threads, ROUNDS)
        elif executable := options.executable(program):
            found = measure_gains(executable, program, threads)
        else:
            continue
        gains[str(threads)] = found
        write_data(options.data, data)


@dataclass(frozen=True)
class Result:
    """One verdict, and the aspects in which it is right."""

    program: Program | RealProgram
    threads: int
    verdict: dict[str, Any]
    judgement: Judgement


def results(data: dict[str, Any], state: str) -> Iterator[Result]:
    """Yield all verdicts of a state, judged."""
    found = data["states"].get(state, {})
    for program in everything():
        gains = data["gains"].get(program.name, {})
        for threads in program.runs_with(THREADS):
            verdict = found.get(program.name, {}).get(str(threads))
            if verdict is not None:
                known = gains.get(str(threads)) or gains.get(USUAL, {})
                judgement = (
                    program.judge(verdict)
                    if isinstance(program, RealProgram)
                    else judge(program, threads, verdict, known)
                )
                yield Result(program, threads, verdict, judgement)


def count(judged: Iterable[Result]) -> Counter[str]:
    """Return the number of verdicts, and how many are right in each respect."""
    counts: Counter[str] = Counter()
    for item in judged:
        right = item.judgement
        counts["all"] += 1
        counts.update(
            {"lock": right.lock, "cause": right.cause, "remedy": right.remedy}
        )
    return counts


def print_results(options: Options) -> None:
    """Print the counts and, except for the set-aside half, what is wrong."""
    data = read_data(options.data)
    names = {program.name for program in options.chosen}
    for half in options.halves:
        judged = [
            item
            for item in results(data, options.state)
            if item.program.half == half and item.program.name in names
        ]
        counts = count(judged)
        console.print(
            f"{half}: {counts['all']} verdicts; right: lock {counts['lock']},"
            f" cause {counts['cause']}, remedy {counts['remedy']}"
        )
        if half != "set-aside":
            console.print(_missed(judged))


def _missed(judged: list[Result]) -> Table:
    table = Table("program", "threads", "expected", "verdict", "remedy", "wrong")
    for item in judged:
        right = item.judgement
        wrong = [
            name for name in ("lock", "cause", "remedy") if not getattr(right, name)
        ]
        if wrong:
            table.add_row(
                item.program.name,
                str(item.threads),
                " | ".join(item.program.causes(item.threads)),
                item.verdict.get("cause") or "-",
                item.verdict.get("remedy") or "-",
                ", ".join(wrong),
            )
    return table


def parse() -> Options:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    halves = (*FOLDERS, "both", verdict_real.HALF)
    parser.add_argument("--half", choices=halves, default="tuning")
    parser.add_argument("--threads", default="1,2,4,8", help="[1,2,4,8]")
    parser.add_argument("--only", default="", metavar="NAME,...", help="these programs")
    parser.add_argument("--state", default="after", help="name of the results [after]")
    parser.add_argument("--json", type=Path, default=DATA, metavar="FILE", dest="data")
    parser.add_argument("--build", type=Path, default=None, help="build folder [build]")
    parser.add_argument("--seconds", type=float, default=1.0, help="of each run [1]")
    parser.add_argument(
        "--tries", type=int, default=1, help="runs while the confidence is low [1]"
    )
    parser.add_argument("--fixes", action="store_true", help="measure the variants")
    parser.add_argument(
        "--again", action="store_true", help="run what is there already"
    )
    parser.add_argument("--print", action="store_true", help="only print the results")
    given = parser.parse_args()
    build = given.build or os.environ.get("HASP_NATIVE_DIR") or ROOT / "build"
    return Options(
        halves=tuple(FOLDERS) if given.half == "both" else (given.half,),
        threads=() if given.print else tuple(map(int, given.threads.split(","))),
        only=tuple(filter(None, given.only.split(","))),
        state=given.state,
        data=given.data,
        build=Path(build).resolve(),
        seconds=given.seconds,
        tries=given.tries,
        fixes=given.fixes,
        again=given.again,
    )


def main() -> int:
    """Run the requested programs, and print the counts."""
    options = parse()
    try:
        if options.fixes:
            run_fixes(options)
        else:
            run_profiles(options)
    except KeyboardInterrupt:
        console.print("stopped; the same command continues")
        return 130
    print_results(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
