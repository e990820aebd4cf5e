# SPDX-License-Identifier: MIT
"""The programs whose slowdown is measured, with its limits, as data."""

from __future__ import annotations

import shutil
from dataclasses import dataclass

from hasp.base.errors import HaspError
from hasp.base.suggestion import did_you_mean
from hasp.lab.bench.cases import Case

FULL, SAMPLED = "full", "sample"  # modes of the recorder
MODES = (FULL, SAMPLED)

# With this many multiplications, lock and unlock take about a third of a 40 ns loop:
# far more locking than any useful program does.
BESIDE = 26

LOOP_SECONDS = 0.2
SERVER_SECONDS = 2.0  # starting and stopping it takes as long again

MEMCACHED = "memcached"
MEMCACHED_CPU = "memcached_cpu"
PACKAGES = {"memcached": "memcached", "memcaslap": "libmemcached-tools"}


@dataclass(frozen=True)
class Overhead:
    """A case with its workload and the slowdown that each mode may cause."""

    case: Case
    arguments: tuple[str, ...]  # for hasp-bench-locks; () for a server
    most: dict[str, float] | None  # mode -> slowdown; None: reported, not judged


def _loop(
    name: str,
    threads: int,
    summary: str,
    arguments: tuple[str, ...],
    most: dict[str, float] | None,
    *,
    unit: str = "ns",
) -> Overhead:
    case = Case(name, threads, unit, unit == "ns", LOOP_SECONDS, False, True, summary)
    return Overhead(case, (*arguments, f"--threads={threads}"), most)


_PAIR = ("uncontended",)
_BESIDE = (*_PAIR, f"--beside={BESIDE}")
_LOOP_TARGET = {FULL: 1.3, SAMPLED: 1.05}
_SERVER_TARGET = {FULL: 1.03, SAMPLED: 1.01}

OVERHEADS = (
    _loop("pair", 2, "lock and unlock, nothing else", _PAIR, _LOOP_TARGET),
    # With one thread glibc omits the atomic operations, so the pair takes a third of
    # the time and the recorder's share is larger.
    _loop("pair", 1, "the same with one thread in the process", _PAIR, None),
    _loop("beside", 2, "lock, unlock, some work: 40 ns", _BESIDE, _LOOP_TARGET),
    _loop("beside", 1, "the same with one thread in the process", _BESIDE, None),
    _loop(
        *("contended", 2, "one short critical section", ("contended",), None),
        unit="acquisitions/s",
    ),
    Overhead(
        Case(
            *(MEMCACHED, 4, "requests/s", False, 2 * SERVER_SECONDS, False, True),
            "memcached under memcaslap: throughput",
        ),
        (),
        _SERVER_TARGET,
    ),
)
# From the same runs; less sensitive to other programs on the same CPUs.
CPU_CASE = Case(
    *(MEMCACHED_CPU, 4, "us", True, 0.0, False, True),
    "the same: CPU time of the server per request",
)
CPU_OVERHEAD = Overhead(CPU_CASE, (), _SERVER_TARGET)


def select(text: str | None) -> list[Overhead]:
    """Return the cases of a comma-separated list; None: all that can run here."""
    missing = [program for program in PACKAGES if shutil.which(program) is None]
    if text is None:
        return [overhead for overhead in OVERHEADS if overhead.arguments or not missing]
    words = [word.strip() for word in text.split(",") if word.strip()]
    names = dict.fromkeys(overhead.case.name for overhead in OVERHEADS)
    for word in words:
        if word not in names:
            offer = did_you_mean(word, names)
            raise HaspError(
                f"there is no case {word!r}", f"{offer}cases: {', '.join(names)}"
            )
    if not words:
        raise HaspError("no case is selected", "leave --cases out to measure all")
    if MEMCACHED in words and missing:
        packages = " ".join(PACKAGES[program] for program in missing)
        raise HaspError(f"{missing[0]} is not installed", f"apt-get install {packages}")
    return [overhead for overhead in OVERHEADS if overhead.case.name in words]
