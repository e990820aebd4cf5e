# SPDX-License-Identifier: MIT
"""The goals of reader-writer locks, spin locks and barriers, and what was reached.

The limits of measured cases are those of hasp.lab.bench.targets, those of simulated
reader-writer locks those of measure_rwlocks.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lock_data import Data, Record
from lock_pages import number
from page_kinds import OTHERS, label
from page_markdown import table

REFERENCE = "glibc"
DEFAULTS = {
    "rwlock": "bravo+rw-futex",
    "spinlock": "spin-then-park",
    "barrier": "central",
}


@dataclass(frozen=True)
class Measured:
    """A limit of the default's ratio to glibc's in one case of a benchmark."""

    kind: str
    case: str
    threads: int
    words: str
    most: float | None = None  # of glibc's time
    least: float | None = None  # times glibc's throughput


MEASURED_GOALS = (
    Measured("rwlock", "read_pair", 2, "uncontended read lock and unlock", most=0.7),
    Measured("rwlock", "write_pair", 2, "uncontended write lock and unlock", most=1.0),
    Measured("rwlock", "reads_100", 2, "two readers at once", least=1.5),
    Measured("spinlock", "spin", 8, "spin lock, 8 threads on 2 CPUs", least=5.0),
    Measured("barrier", "barrier", 2, "barrier, 2 threads on 2 CPUs", most=0.5),
    Measured("barrier", "barrier", 8, "barrier, 8 threads on 2 CPUs", most=1.0),
)
READ_GOALS = {100: 10.0, 99: 5.0, 90: 2.0, 50: 1.0}  # share of reads: times glibc's
MACHINES = ("opteron-48", "xeon-80")
PHASE_GOAL, PHASE_THREADS = 0.2, 48

HEAD = """
## Goals

The table shows the goals of Hasp's reader-writer locks, [spin locks](spinlocks.md) and
[barriers](barriers.md), and the figures that they have reached. Measured figures are
those of the default algorithm on two CPUs, relative to glibc's in the same run;
simulated ones are those of the best algorithm of the list, relative to glibc's on the
same machine.
"""

DECISION = """
`hasp run --lock NAME` alone changes mutexes only. Reader-writer locks, spin locks and
barriers stay glibc's unless they are asked for (`--rwlock`, `--only`), because the
default reader-writer lock does not beat glibc's on every case. Its throughput relative
to glibc's (in brackets, the operations of the slowest thread over those of the fastest
one, glibc's and the default's):
"""
REASON = """
With more threads than CPUs, glibc's lock does not share the CPUs: a thread that runs
enters again and again while the others sleep, and so it is faster with 32 threads than
with two. Hasp's default gives writers their turn, and its threads progress together;
that costs hand-overs between CPUs. Two changes were tried and rejected, as neither
changed the throughput of the cases with 8 threads by more than the noise: up to 64
readers that overtake a sleeping writer, and waiters that sleep without spinning.
`c-rw-rp` has 0.96 to 1.4 times the throughput of glibc's lock with 8 threads, and 0.59
to 4 times with 32, but starves writers.
"""
MIXED_THREADS = (1, 2, 8, 32)


def goals(data: Data) -> Iterator[str]:
    """Yield the section with the table, and why the defaults are not used unasked."""
    measured = [_measured(goal, data) for goal in MEASURED_GOALS]
    rwlocks, others = measured[:3], measured[3:]
    simulated = [_reads(machine, data) for machine in MACHINES]
    rows = [*rwlocks, *simulated, _memory(data), *others, _phase(data)]
    yield HEAD
    yield from table(("case", "goal", "reached", "algorithm", "command"), rows)
    yield DECISION
    head = ("reads", *(_threads(count) for count in MIXED_THREADS))
    yield from table(head, [_mixed(share, data) for share in READ_GOALS])
    yield REASON


def _threads(count: int) -> str:
    return "1 thread" if count == 1 else f"{count} threads"


def _mixed(share: int, data: Data) -> list[str]:
    """Return the row of a share of reads: ratios to glibc's, fairness of both."""
    cells = []
    for threads in MIXED_THREADS:
        measured = [
            record
            for name in (REFERENCE, DEFAULTS["rwlock"])
            for record in data.bench.get(label({"kind": "rwlock"}, name), [])
            if (record["case"], record["threads"]) == (f"reads_{share}", threads)
        ]
        if len(measured) < 2:
            cells.append("-")
            continue
        fairness = ", ".join(f"{row['fairness']:.2f}" for row in measured)
        ratio = number(measured[1].get("ratio_to_glibc"))
        cells.append(ratio + ("" if threads == 1 else f" ({fairness})"))
    return [f"{share} %", *cells]


def _memory(data: Data) -> list[str]:
    """Return the row of never contended locks: the most bytes of any algorithm."""
    found = [record for records in data.memory.values() for record in records]
    most = max((record["bytes"] for record in found), default=None)
    worst = [f"`{record['lock']}`" for record in found if record["bytes"] == most]
    which = f"all {len(found)}, wrapped ones included" if not most else worst[0]
    return [
        "never contended lock: memory outside `pthread_rwlock_t`",
        "0 bytes",
        number(most),
        which if found else "-",
        "`PYTHONPATH=python tools/measure_rwlock_memory.py`",
    ]


def _measured(goal: Measured, data: Data) -> list[str]:
    name = DEFAULTS[goal.kind]
    benchmark = next(kind.benchmark for kind in OTHERS if kind.kind == goal.kind)
    ratios = [
        record.get("ratio_to_glibc")
        for record in data.bench.get(label({"kind": goal.kind}, name), [])
        if (record["case"], record["threads"]) == (goal.case, goal.threads)
    ]
    limit = (
        f"time: at most {goal.most:g} times"
        if goal.most
        else f"throughput: at least {goal.least:g} times"
    )
    reached = number(ratios[0] if ratios else None)
    return [goal.words, limit, reached, f"`{name}`", f"`hasp bench {benchmark}`"]


def _best(
    kind: str, data: Data, value: str, load: Record, *, less_is_better: bool = False
) -> tuple[float | None, str]:
    """Return the best ratio to glibc's of the runs with this load, and the lock."""
    found = {
        record["lock"]: record[value]
        for records in data.simulated.values()
        for record in records
        if record["kind"] == kind and record.items() >= load.items()
    }
    base = found.pop(REFERENCE, None)
    if not base or not found:
        return None, "-"
    best = (min if less_is_better else max)(found, key=lambda lock: found[lock])
    return found[best] / base, f"`{best}`"


def _reads(machine: str, data: Data) -> list[str]:
    best = [
        _best("rwlock", data, "mops", {"machine": machine, "reads": share, "knobs": []})
        for share in READ_GOALS
    ]
    shares = ", ".join(map(str, READ_GOALS))
    limits = ", ".join(f"{limit:g}" for limit in READ_GOALS.values())
    return [
        f"{shares} % reads, simulated `{machine}`, all cores",
        f"throughput: at least {limits} times",
        ", ".join(number(ratio) for ratio, _ in best),
        ", ".join(lock for _, lock in best),
        "`PYTHONPATH=python tools/measure_rwlocks.py`",
    ]


def _phase(data: Data) -> list[str]:
    ratio, lock = _best(
        *("barrier", data, "phase_ns"),
        {"machine": MACHINES[0], "threads": PHASE_THREADS},
        less_is_better=True,
    )
    return [
        f"barrier, {PHASE_THREADS} threads, simulated `{MACHINES[0]}`",
        f"time: at most {PHASE_GOAL:g} times",
        number(ratio),
        lock,
        "`PYTHONPATH=python tools/measure_barriers.py`",
    ]
