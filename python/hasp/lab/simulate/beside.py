# SPDX-License-Identifier: MIT
"""Runs the same workloads on this host and on its simulation, side by side.

Both are compiled from the same sources. Natively, a workload runs in short bursts, in
rounds of random order. A burst is dropped, and counted, if a worker had no operation
for much longer than the lock explains: its thread had lost its CPU. Where threads share
CPUs, bursts and simulations last for several time slices, and a burst is dropped if
other programs used the CPUs. The locks know the cost of parking, as under `hasp run`.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from statistics import median

from hasp.base import output
from hasp.base.durations import three_digits
from hasp.base.errors import HaspError, Interrupted
from hasp.base.interference import interference
from hasp.base.output import STDOUT, note, write_json
from hasp.base.signals import interrupt_on_signals
from hasp.lab.simulate.job import OK, Job, Record
from hasp.lab.simulate.options import Options
from hasp.lab.simulate.pool import run_jobs
from hasp.lab.simulate.simulation import flattened, plan, workload_of
from hasp.launch.calibration import park_ns
from hasp.locks import native
from hasp.statistics.ratio import Ratio, ratio_of_medians

SCHEMA = "hasp.simulate.native/1"
PROGRAM = "hasp-workloads"
BURST_NS, WARM_UP_NS = 3_000_000, 300_000
SHARED_BURST_NS, SHARED_WARM_UP_NS = 60_000_000, 10_000_000  # several time slices
LONGEST_GAP_NS = 300_000  # below a time slice, above the wait for a few threads
OTHERS_SHARE = 0.1  # of all CPUs; starting a burst is part of it
ROUNDS = 30  # where threads share CPUs, also of simulations, each with another seed
FACTOR = 1.5


@dataclass
class Row:
    """One lock at one number of threads."""

    job: Job
    simulations: list[float]
    native: list[float] = field(default_factory=list)
    dropped: int = 0

    @property
    def simulated(self) -> float:
        """Return the median of the simulations."""
        return median(self.simulations)

    @property
    def ratio(self) -> Ratio | None:
        """Return simulated over native throughput; None if no burst was kept."""
        if not self.native:
            return None
        samples = self.simulations * (ROUNDS // len(self.simulations))
        return ratio_of_medians(samples[: len(self.native)], self.native)


def _cpu_time() -> float:
    """Return the CPU seconds of this process and of those that it started."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    started = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + started.ru_utime + started.ru_stime


def _measure(row: Row, cpus: list[int]) -> None:
    words = [str(native.program(PROGRAM)), "--workload", row.job.workload]
    if row.job.lock is not None:
        words += ["--lock", row.job.lock]
    words += ["--threads", str(row.job.threads), "--timeout", "20"]
    shares = row.job.cpus is None
    chosen = "any" if shares else ",".join(map(str, cpus[: row.job.threads]))
    warm_up = SHARED_WARM_UP_NS if shares else WARM_UP_NS
    duration = SHARED_BURST_NS if shares else BURST_NS
    words += ["--cpus", chosen]
    words += ["--warm-up-ns", str(warm_up), "--duration-ns", str(duration)]
    cost = park_ns() if row.job.lock is not None else None
    if cost is not None:
        words += ["--park-ns", str(cost)]
    words += [f"{name}={value}" for name, value in row.job.knobs]
    before, ours = interference(cpus), _cpu_time()
    ended = subprocess.run(words, capture_output=True, text=True)
    if ended.returncode:
        raise HaspError(ended.stderr.strip(), f"the command was: {' '.join(words)}")
    record = json.loads(ended.stdout)
    others = (interference(cpus) - before).other_share(_cpu_time() - ours)
    disturbed = others > OTHERS_SHARE
    if not shares:
        disturbed = record["longest_gap_ns"] > LONGEST_GAP_NS
    if disturbed:
        row.dropped += 1
    else:
        row.native.append(record["throughput_mops"])


def _rows(jobs: Iterable[Job], records: Iterable[Record]) -> list[Row]:
    rows: dict[tuple[str | None, int], Row] = {}
    for job in jobs:
        rows.setdefault((job.lock, job.threads), Row(job, []))
    for record in records:
        if record["outcome"] != OK:
            raise HaspError(
                f"{record['lock']}: {record['detail']}", "leave that lock out"
            )
        row = rows[record["lock"], record["threads"]]
        row.simulations.append(record["throughput_mops"])
    return list(rows.values())


def beside_native(options: Options) -> int:
    """Simulate, measure, and report both with their ratios. Returns the exit status."""
    cpus = sorted(os.sched_getaffinity(0))
    counts = options.threads or [count for count in (1, 2) if count <= len(cpus)]
    shares = workload_of(options.workload).unpinned
    if max(counts) > len(cpus) and not shares:
        raise HaspError(
            f"this host has {len(cpus)} CPUs, too few for {max(counts)} threads",
            "leave that number out of --threads, or use `--workload oversubscribed`, "
            "where threads share CPUs",
        )
    options = replace(options, threads=counts, seeds=options.seeds[:1])
    if shares:
        first = options.seeds[0]
        options = replace(
            options,
            seeds=list(range(first, first + ROUNDS)),
            warm_up_ns=SHARED_WARM_UP_NS,
            duration_ns=SHARED_BURST_NS,
        )
    with flattened(options.machine) as machine_file:
        jobs = plan(options, machine_file)
        rows = _rows(jobs, list(run_jobs(jobs, options.jobs)))
    interrupt_on_signals()
    shuffle = random.Random(0)
    try:
        for _ in range(ROUNDS):
            for row in shuffle.sample(rows, len(rows)):
                _measure(row, cpus)
    except Interrupted:
        _report(options, rows)
        raise
    return _report(options, rows)


def _record(row: Row) -> Record:
    ratio = row.ratio
    return {
        "schema": SCHEMA,
        "workload": row.job.workload,
        "knobs": dict(row.job.knobs),
        "lock": row.job.lock,
        "threads": row.job.threads,
        "simulated_mops": row.simulated,
        "simulations": len(row.simulations),
        "native_mops": median(row.native) if row.native else None,
        "ratio": ratio.value if ratio else None,
        "ratio_low": ratio.low if ratio else None,
        "ratio_high": ratio.high if ratio else None,
        "bursts": len(row.native),
        "bursts_dropped": row.dropped,
    }


def _report(options: Options, rows: list[Row]) -> int:
    records = [_record(row) for row in rows]
    if options.json:
        write_json(records, options.json)
    if options.json == STDOUT:
        return 0
    console = output.console()
    knobs = "".join(f", {name} {value}" for name, value in options.knobs.items())
    console.print(f"{options.machine.name}, simulated, beside this host", style="bold")
    console.print(f"Million operations a second, {options.workload}{knobs}:")
    table = output.table()
    for heading in ("lock", "threads", "simulated", "native", "ratio", "95 %", "kept"):
        table.add_column(heading, justify="left" if heading == "lock" else "right")
    for row, record in zip(rows, records, strict=True):
        ratio = row.ratio
        bounded = ratio is not None and ratio.low is not None and ratio.high is not None
        table.add_row(
            row.job.lock or row.job.workload,
            str(row.job.threads),
            three_digits(row.simulated),
            three_digits(record["native_mops"]) if row.native else "-",
            f"{ratio.value:.2f}" if ratio else "-",
            f"{ratio.low:.2f}-{ratio.high:.2f}" if ratio and bounded else "-",
            f"{len(row.native)} of {len(row.native) + row.dropped}",
        )
    console.print(table)
    known = [row.ratio.value for row in rows if row.ratio is not None]
    within = sum(1 / FACTOR <= value <= FACTOR for value in known)
    console.print(f"Within a factor of {FACTOR}: {within} of {len(rows)}.")
    if len(known) < len(rows):
        note("this host is too busy: every burst of some rows was dropped")
    return 0
