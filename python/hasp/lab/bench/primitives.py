# SPDX-License-Identifier: MIT
"""`hasp bench spinlocks` and `hasp bench barriers`: each algorithm beside glibc's."""

from __future__ import annotations

import json
import random
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass

from hasp.base import output
from hasp.base.errors import HaspError, Interrupted
from hasp.launch import interpose
from hasp.locks import native
from hasp.locks.given import algorithms
from hasp.locks.kinds import BARRIER, SPINLOCK, Kind
from hasp.locks.native import REFERENCE
from hasp.locks.selection import select
from hasp.statistics.ratio import median_ratio, ratio_of_medians

PROGRAM = "hasp-bench-primitives"
# The case and its number of threads. On two CPUs, 8 threads are more than there are.
CASES = {
    SPINLOCK.name: (("spin_pair", 2), ("spin", 2), ("spin", 8)),
    BARRIER.name: (("barrier", 2), ("barrier", 8)),
}
RUN_SECONDS, QUICK_SECONDS = 0.2, 0.05
ROUNDS, QUICK_ROUNDS = 9, 3


@dataclass(frozen=True)
class Options:
    """What to measure: algorithms of one kind, in how many rounds."""

    kind: Kind
    algorithms: str
    quick: bool = False
    runs: int | None = None
    json: str | None = None


def measure_primitives(options: Options) -> int:
    """Measure in rounds of random order, and print ratios to glibc's median."""
    names = [lock.name for lock in select(options.algorithms, options.kind)]
    if REFERENCE not in names:
        names.insert(0, REFERENCE)
    if options.json:
        output.check_writable(options.json)
    runs = _rounds(options, names)
    rows = [row for case in CASES[options.kind.name] for row in _rows(runs, *case)]
    if options.json:
        output.write_json(runs, options.json)
    if options.json != output.STDOUT:
        _print(rows)
    return 0


def _rounds(options: Options, names: Sequence[str]) -> list[dict[str, object]]:
    seconds = QUICK_SECONDS if options.quick else RUN_SECONDS
    rounds = options.runs or (QUICK_ROUNDS if options.quick else ROUNDS)
    environments = _environments(options.kind, names)
    runs: list[dict[str, object]] = []
    try:
        for number in range(rounds):
            for case, threads in CASES[options.kind.name]:
                for name in random.sample(names, len(names)):
                    record = _run(
                        options.kind, name, case, threads, seconds, environments[name]
                    )
                    runs.append({**record, "algorithm": name, "round": number})
    except (Interrupted, KeyboardInterrupt):
        output.note("interrupted; these are the results so far")
    return runs


def _environments(kind: Kind, names: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the environment of `hasp run` under each algorithm."""
    base = interpose.original_environment()
    command = [str(native.program(PROGRAM))]
    return {
        name: interpose.environment(
            algorithms([native.lock(name, kind)]), base, command
        )
        for name in names
    }


def _run(
    kind: Kind,
    name: str,
    case: str,
    threads: int,
    seconds: float,
    environment: dict[str, str],
) -> dict[str, object]:
    program = native.program(PROGRAM)
    completed = subprocess.run(
        [program, case, str(threads), str(seconds)],
        env=environment,
        capture_output=True,
        text=True,
    )
    if completed.returncode != 0:
        raise HaspError(
            f"{program.name} failed under {name}: {completed.stderr.strip()}",
            "report this with the output of `hasp doctor`",
        )
    record: dict[str, object] = json.loads(completed.stdout)
    return {**record, "kind": kind.name, "at": time.time()}


def _rows(
    runs: Sequence[dict[str, object]], case: str, threads: int
) -> list[tuple[str, ...]]:
    chosen = [run for run in runs if run["case"] == case and run["threads"] == threads]
    samples: dict[str, list[float]] = {}
    for run in chosen:
        samples.setdefault(str(run["algorithm"]), []).append(float(str(run["value"])))
    reference = samples.get(REFERENCE, [])
    rows: list[tuple[str, ...]] = []
    for name, sample in sorted(samples.items(), key=lambda item: item[0] != REFERENCE):
        pairs = min(len(sample), len(reference))
        if not pairs:
            continue
        unit = str(chosen[0]["unit"])
        value = sorted(sample)[len(sample) // 2]
        rows.append(
            (
                case,
                str(threads),
                name,
                f"{value:,.0f} {unit}",
                _ratio(sample, reference),
            )
        )
    return rows


def _ratio(sample: Sequence[float], reference: Sequence[float]) -> str:
    pairs = min(len(sample), len(reference))
    ratio = ratio_of_medians(sample[:pairs], reference[:pairs])
    text = f"{median_ratio(sample, reference):.2f}x"
    if ratio.low is None or ratio.high is None:
        return text
    return f"{text} [{ratio.low:.2f}, {ratio.high:.2f}]"


def _print(rows: Sequence[tuple[str, ...]]) -> None:
    table = output.table()
    for heading in ("CASE", "THREADS", "ALGORITHM", "MEDIAN", "TO GLIBC'S"):
        right = heading in ("THREADS", "MEDIAN")
        table.add_column(heading, justify="right" if right else "left")
    for row in rows:
        table.add_row(*row)
    output.console().print(table)
