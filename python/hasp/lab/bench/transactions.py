# SPDX-License-Identifier: MIT
"""Carries out `hasp bench transactions`: Hasp's beside one lock and GCC's libitm."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hasp.base import host, output
from hasp.lab.bench import interleaved
from hasp.lab.bench.interleaved import OWN, Benchmark, Record, Subject
from hasp.lab.bench.peers_figure import Labels, draw_benchmark
from hasp.locks import native

PROGRAM = "hasp-bench-transactions"
LOCK = "lock"
LIBITM = "libitm"
TM2C = ("tm2c", "services=1")  # TM2C's messages, in their published form
DEFAULT_LOCK = "futex"
MILLISECONDS = 100
ROUNDS = 25
QUICK_ROUNDS = 7
# The causes of aborts, as the program names them, and as the table does.
CAUSES = {
    "load_locked": "load locked",
    "load_changed": "load changed",
    "commit_locked": "commit locked",
    "commit_changed": "commit changed",
    "closed": "closed",
}
# The same for transactions over messages: the later access, and the earlier one.
MESSAGE_CAUSES = {
    "read_after_write": "read after write",
    "write_after_read": "write after read",
    "write_after_write": "write after write",
}
# Contention managers, each with one server, that are measured.
OVER_MESSAGES = ("fair=1", "none=1")


@dataclass(frozen=True)
class Case:
    """A program, its size, and the percentage of its read-alls or updates."""

    name: str
    program: str
    elements: int
    percent: int

    @property
    def words(self) -> str:
        """The load in words."""
        if self.program == "mapreduce":
            return f"chunks of {self.elements} letters"
        if self.program == "bank":
            reads = f", {self.percent} % read all" if self.percent else ""
            return f"{self.elements} accounts{reads}"
        return f"{self.elements} keys, {self.percent} % updates"


CASES = (
    Case("bank", "bank", 1024, 0),
    Case("bank-few", "bank", 32, 0),
    Case("bank-read-all", "bank", 1024, 10),
    Case("list", "list", 128, 20),
    Case("table", "table", 1024, 20),
    Case("table-updates", "table", 1024, 100),
    Case("mapreduce", "mapreduce", 1024, 0),
)
BENCHMARK = Benchmark("transactions", "hasp.transaction/1", "mtps", CASES)


@dataclass(frozen=True)
class Options:
    """The options of `hasp bench transactions`. `locks`: those that are measured, each
    as the one lock of the program."""

    cases: str | None
    locks: tuple[str, ...]
    quick: bool
    runs: int | None
    json: str | None
    source: str | None = None
    plot: str | None = None


def bench_transactions(options: Options) -> int:
    """Measure, or read what was measured; print and draw it. Returns the status."""
    results = interleaved.Results(print_tables, options.json, options.plot, draw)
    return interleaved.carry_out(
        BENCHMARK.topic, BENCHMARK.schema, options.source, _measure(options), results
    )


def _subjects(program: str, locks: Sequence[str]) -> list[Subject]:
    subjects = [(OWN, ""), *((OWN, way) for way in OVER_MESSAGES)]
    subjects += [TM2C, *((LOCK, lock) for lock in locks or (DEFAULT_LOCK,))]
    if LIBITM in interleaved.built_subjects(program):
        subjects.append((LIBITM, ""))
    else:
        output.note("libitm is not measured: it needs GCC (libitm1) and a new build")
    return subjects


def _measure(options: Options) -> Iterator[Record]:
    program = str(native.program(PROGRAM))
    cases = interleaved.select(CASES, options.cases, BENCHMARK.topic)
    rounds = options.runs or (QUICK_ROUNDS if options.quick else ROUNDS)
    threads = min(int(host.facts().cpus), 32)

    def command(case: Case, subject: Subject) -> Iterator[str]:
        used = interleaved.threads_beside_servers(threads, subject)
        yield from (program, "--program", case.program, "--threads", str(used))
        yield from ("--elements", str(case.elements), "--percent", str(case.percent))
        yield from ("--milliseconds", str(MILLISECONDS))

    subjects = _subjects(program, options.locks)
    yield from interleaved.measure(cases, subjects, rounds, command)


def summarise_aborts(
    records: Sequence[Record], causes: Iterable[str] = CAUSES, way: str = ""
) -> list[tuple[str, list[float], int]]:
    """Return (case, aborts of each cause and transactions that ran alone, for each
    thousand transactions of Hasp's, most retries of one) for each case. `way` is one of
    OVER_MESSAGES, or empty for transactions in shared memory."""
    rows = []
    measured = [r for r in records if r["subject"] == OWN and r["lock"] == way]
    for case in CASES:
        own = [record for record in measured if record["case"] == case.name]
        if not own:
            continue
        thousands = sum(record["transactions"] for record in own) / 1000 or 1.0
        counts = [sum(record["aborts"][cause] for record in own) for cause in causes]
        counts.append(sum(record["alone"] for record in own))
        most = max(record["most_retries"] for record in own)
        rows.append((case.name, [count / thousands for count in counts], most))
    return rows


def print_tables(records: Sequence[Record]) -> None:
    """Print the speeds, the fastest first, and the aborts of Hasp's transactions."""
    rows = interleaved.summarise(BENCHMARK, records)
    interleaved.print_summaries(rows, "ATOMIC BY", "M TRANSACTIONS/S", 2)
    _print_aborts("ABORTS", CAUSES, [("", summarise_aborts(records))])
    ways = [way for way in OVER_MESSAGES if any(r["lock"] == way for r in records)]
    if ways:
        summaries = [
            (f" ({way})", summarise_aborts(records, MESSAGE_CAUSES, way))
            for way in ways
        ]
        _print_aborts("ABORTS OVER MESSAGES", MESSAGE_CAUSES, summaries)


def draw(records: Sequence[Record], path: Path) -> None:
    """Draw a panel for each case, with a row for each implementation."""
    labels = Labels(
        "Hasp's transactions beside one lock, GCC's libitm and TM2C's messages: "
        "millions a second, higher is better",
        "million transactions a second",
    )
    draw_benchmark(BENCHMARK, CASES, records, labels, path)


def _print_aborts(
    title: str,
    causes: Mapping[str, str],
    summaries: Iterable[tuple[str, list[tuple[str, list[float], int]]]],
) -> None:
    aborts = output.table(caption="for each thousand of Hasp's transactions")
    aborts.add_column(title, no_wrap=True)
    for heading in (*causes.values(), "ran alone", "most retries"):
        aborts.add_column(heading, justify="right")
    for way, rows in summaries:
        for case, counts, most in rows:
            cells = (f"{count:.2f}" for count in counts)
            aborts.add_row(f"{case}{way}", *cells, str(most))
    output.console().print(aborts)
