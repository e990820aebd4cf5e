# SPDX-License-Identifier: MIT
"""Carries out `hasp machine`: from its options to its exit status."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hasp import version
from hasp.base import host, output
from hasp.base.durations import format_duration
from hasp.base.errors import EXIT_FINE, HaspError, Interrupted
from hasp.base.figures import check_figure
from hasp.base.interference import interference
from hasp.base.progress import Display
from hasp.base.signals import interrupt_on_signals
from hasp.lab.host import csv_file, doubts, report, toml_file
from hasp.lab.host.doubts import Doubt
from hasp.lab.host.figure import draw
from hasp.lab.host.measurement import SCHEMA, Session
from hasp.lab.host.rows import Results
from hasp.lab.host.target import Row, Target, ThisMachine, simulated
from hasp.launch.topology import cohorts

ROUNDS, QUICK_ROUNDS = 25, 5
LIMIT, QUICK_LIMIT = 110.0, 20.0  # seconds
# Bytes for pointer chasing: more than any cache, at most a quarter of the memory.
CHASE_MOST, CHASE_MOST_QUICK = 1 << 30, 1 << 28
CHASE_OF_MEMORY = 4


@dataclass(frozen=True)
class Options:
    """The options of `hasp machine`."""

    quick: bool = False
    cpus: tuple[int, ...] | None = None
    plot: str | None = None
    csv: str | None = None
    toml: str | None = None
    source: str | None = None
    simulate: str | None = None
    json: str | None = None
    command: str = "hasp machine"


def measure(options: Options) -> int:
    """Measure, or read earlier results, and show them; return the exit status."""
    _check_outputs(options)
    if options.source:
        _show(load(Path(options.source)), options)
        return EXIT_FINE
    with _target(options) as target:
        if options.toml and len(target.topology.cpus) < 2:
            toml_file.refuse_one_cpu()
        rows, status = _measured(target, options)
    if not rows:
        output.note("interrupted before anything was measured")
        return status
    _show(rows, options)
    return status


def _check_outputs(options: Options) -> None:
    for name in (options.json, options.csv, options.toml):
        if name:
            output.check_writable(name)
    check_figure(options.plot)
    if options.toml and options.simulate:
        raise HaspError(
            "--toml writes measurements of this host, not simulated ones",
            "leave out --toml or --simulate",
        )


@contextlib.contextmanager
def _target(options: Options) -> Iterator[Target]:
    if options.simulate:
        with simulated(options.simulate) as machine:
            yield machine
        return
    refuse_the_impossible(options.cpus, host.facts())
    yield ThisMachine(options.cpus)


def refuse_the_impossible(cpus: Sequence[int] | None, facts: host.Host) -> None:
    """Raise HaspError if the measurement is impossible on this host."""
    allowed = sorted(os.sched_getaffinity(0))
    forbidden = [cpu for cpu in cpus or () if cpu not in allowed]
    if forbidden:
        raise HaspError(
            f"--cpus: this process may not use CPU {forbidden[0]}",
            f"it may use {','.join(map(str, allowed))}; `taskset -p $$` shows the mask",
        )
    if facts.cpu_quota is not None and facts.cpu_quota < 1:
        raise HaspError(
            f"the CPU quota is {facts.cpu_quota:g} CPUs: every figure would include "
            "waiting for the quota",
            "measure outside this container, or raise its quota to at least one CPU",
        )
    wanted = len(cpus or allowed)
    if facts.cpu_quota is not None and facts.cpu_quota < min(wanted, 2):
        output.note(
            f"the CPU quota is {facts.cpu_quota:g} CPUs: two concurrent threads will "
            "be throttled at times"
        )
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {allowed[0]})
        os.sched_setaffinity(0, before)
    except OSError as problem:
        raise HaspError(
            f"threads cannot be pinned to a CPU ({problem.strerror})",
            "a sandbox forbids sched_setaffinity: measure outside it",
        ) from None


def _measured(target: Target, options: Options) -> tuple[list[Row], int]:
    """Return the rows and the exit status: that of an interruption, or 0."""
    facts = host.facts()
    chase_most = CHASE_MOST_QUICK if options.quick else CHASE_MOST
    session = Session(
        target,
        QUICK_ROUNDS if options.quick else ROUNDS,
        min(chase_most, facts.memory_bytes // CHASE_OF_MEMORY),
    )
    limit = QUICK_LIMIT if options.quick else LIMIT
    if target.simulated:
        limit = float("inf")
    seconds = min(session.seconds(), limit)
    count = len(target.topology.cpus)
    noun = "CPU" if count == 1 else "CPUs"
    if not target.simulated:
        output.note(f"{count} {noun}: about {format_duration(round(seconds + 1))}")
    before = interference()
    status = EXIT_FINE
    interrupt_on_signals()
    began = time.monotonic()
    try:
        with Display() as progress:
            for number, step in session.steps():
                elapsed = time.monotonic() - began
                # Always complete the first round, which measures every figure.
                if number and elapsed > limit:
                    break
                progress.show_time(step.words, elapsed, seconds - elapsed)
                step.run()
    except Interrupted as interruption:
        status = interruption.exit_status
    if status:
        output.note("interrupted; the results so far follow")
    more: list[Doubt] = []
    if not target.simulated:
        more += doubts.of_means(getattr(target, "real_time", False), count)
        more += doubts.of_load(facts.load_average, facts.cpus)
        more += doubts.of_interference(interference() - before)
    rows = Results(session).rows(more)
    if not rows:
        return [], status
    return [host_row(session, facts, options.command), *rows], status


def host_row(session: Session, facts: host.Host, command: str) -> Row:
    """Return the first row: which machine was measured, on which host, and how."""
    grouped = None if session.target.simulated else cohorts()
    return {
        "schema": SCHEMA,
        "kind": "host",
        "machine": session.machine,
        "simulated": session.target.simulated,
        "cycles_per_second": session.cycles_per_second,
        "real_time": getattr(session.target, "real_time", False),
        "version": version(),
        "command": command,
        "host": facts.as_json(),
        "processor": None if session.target.simulated else host.processor(),
        "cohorts": grouped and str(grouped),
    }


def load(path: Path) -> list[Row]:
    """Return the rows of a file written by --json.

    Raises HaspError if the file cannot be read or has other contents.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        rows: list[Row] = [json.loads(line) for line in lines]
        fits = bool(rows) and all(row["schema"] == SCHEMA for row in rows)
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise HaspError(
            f"{path} cannot be read as results ({problem})",
            "name a file that `hasp machine --json FILE` wrote",
        ) from None
    if not fits or rows[0]["kind"] != "host":
        raise HaspError(
            f"{path} contains no results of `hasp machine` ({SCHEMA})",
            "name a file that `hasp machine --json FILE` wrote",
        )
    return rows


def _show(rows: list[Row], options: Options) -> None:
    if options.json:
        output.write_json(rows, options.json)
    if options.csv:
        csv_file.write(rows, Path(options.csv))
    if options.toml:
        toml_file.write(rows, Path(options.toml))
    if options.plot:
        draw(rows, Path(options.plot))
    if options.json == output.STDOUT:
        return
    report.show(output.console(sys.stdout), rows)
