# SPDX-License-Identifier: MIT
"""Carries out `hasp bench hash-table`: Hasp's hash table beside others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hasp.base import host, output
from hasp.lab.bench import interleaved
from hasp.lab.bench.interleaved import OWN, Benchmark, Record, Subject
from hasp.lab.bench.peers_figure import Labels, draw_benchmark
from hasp.locks import native

PROGRAM = "hasp-bench-tables"
BYTES = "hasp-bytes"  # with the functions for keys and values of any length
INSERTING = "hasp-insert"  # does not replace values, like clht
# Hasp's table with one server for changes, and with one that also reads.
SERVERS = ("servers=1", "all-by=1")
MILLISECONDS = 30
ROUNDS = 15
QUICK_ROUNDS = 7
# What each peer needs when the program is built.
PEERS = {
    "clht": "",
    "tbb": "libtbb-dev",
    "libcuckoo": "libcuckoo-dev",
    "rculfhash": "liburcu-dev",
    "boost": "libboost-dev 1.83 or newer",
}


@dataclass(frozen=True)
class Case:
    """A load: entries, the share of updates in percent, and the skew of the keys."""

    name: str
    elements: int
    updates: int
    zipf: float = 0.0

    @property
    def words(self) -> str:
        """The load in words."""
        skew = ", Zipf" if self.zipf else ""
        return f"{self.elements:,} entries, {self.updates} % updates{skew}"


# The first three are CLHT's, the next four those of SSYNC: 512 or 12 buckets with 12 or
# 48 entries each, 80 % get, 10 % put, 10 % remove.
CASES = (
    Case("read", 1024, 0),
    Case("some-updates", 1024, 20),
    Case("updates", 1024, 100),
    Case("ssync-512x12", 512 * 12, 20),
    Case("ssync-512x48", 512 * 48, 20),
    Case("ssync-12x12", 12 * 12, 20),
    Case("ssync-12x48", 12 * 48, 20),
    Case("zipf", 1024 * 1024, 20, 0.99),
)
BENCHMARK = Benchmark("hash tables", "hasp.table/1", "mops", CASES, {"clht": INSERTING})


@dataclass(frozen=True)
class Options:
    """The options of `hasp bench hash-table`. `locks`: those that the table's writers
    are measured under, besides the bits of its buckets."""

    cases: str | None
    locks: tuple[str, ...]
    quick: bool
    runs: int | None
    json: str | None
    source: str | None = None
    plot: str | None = None
    threads: int | None = None


def bench_tables(options: Options) -> int:
    """Measure, or read what was measured; print and draw it. Returns the status."""
    results = interleaved.Results(print_tables, options.json, options.plot, draw)
    return interleaved.carry_out(
        BENCHMARK.topic, BENCHMARK.schema, options.source, _measure(options), results
    )


def _subjects(program: str) -> list[str]:
    built = interleaved.built_subjects(program)
    for name, package in PEERS.items():
        if name not in built:
            output.note(f"{name} is not measured: it needs {package} and a new build")
    return [OWN, INSERTING, BYTES, *(name for name in PEERS if name in built)]


def _measure(options: Options) -> Iterator[Record]:
    program = str(native.program(PROGRAM))
    cases = interleaved.select(CASES, options.cases, BENCHMARK.topic)
    rounds = options.runs or (QUICK_ROUNDS if options.quick else ROUNDS)
    threads = options.threads or min(int(host.facts().cpus), 32)
    subjects = [(name, "") for name in _subjects(program)]
    subjects += [(OWN, way) for way in (*SERVERS, *options.locks)]

    def command(case: Case, subject: Subject) -> Iterator[str]:
        used = interleaved.threads_beside_servers(threads, subject)
        yield from (program, "--threads", str(used))
        yield from ("--elements", str(case.elements), "--updates", str(case.updates))
        yield from ("--zipf", str(case.zipf), "--milliseconds", str(MILLISECONDS))

    yield from interleaved.measure(cases, subjects, rounds, command)


def print_tables(records: Sequence[Record]) -> None:
    """Print a row for each case and table, the fastest first."""
    rows = interleaved.summarise(BENCHMARK, records)
    note = f"\nof clht: {INSERTING} is, which replaces no values either"
    interleaved.print_summaries(rows, "TABLE", "M OPERATIONS/S", 1, note)


def draw(records: Sequence[Record], path: Path) -> None:
    """Draw a panel for each case, with a row for each table."""
    axis = "million operations a second"
    labels = Labels(
        f"Hasp's hash table beside others: {axis}, higher is better",
        axis,
        f"; clht is compared with {INSERTING}, which replaces no values either",
    )
    draw_benchmark(BENCHMARK, CASES, records, labels, path)
