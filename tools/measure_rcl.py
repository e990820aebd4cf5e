#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare the simulated micro-benchmark of Remote Core Locking with its publication.

Prints a Markdown table of the figures of Lozi, David, Thomas, Lawall and Muller,
"Remote core locking", USENIX ATC 2012 (figure 7c: cycles of a critical section, 47
clients on a 48-core Opteron; figure 13: the gain from a second server), the figures of
the same experiment on the simulated machine, and how many agree within 25 %; then the
shares of time in sections from which RCL is faster (figure 8), and figure 13's rates.

The locks and executors are the published ones (src/bench/published), which validates
the simulated machine; a column has Hasp's own.

As in the publication's program, clients are on cores 1 to 47, RCL's server is on core
0, the address of a section's next line depends on the line before, and a section has
further instructions, 72 when the program is compiled. With a long delay, clients begin
apart, and their delays vary by 1 %; a line has the figures if they begin at once, with
constant delays, as in the authors' program.

    PYTHONPATH=python tools/measure_rcl.py
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from hasp.lab.simulate.job import ENGINE, PUBLISHED_ENGINE, Job, Record
from hasp.lab.simulate.machines.flat import flatten
from hasp.lab.simulate.machines.machine import load as load_machine
from hasp.lab.simulate.pool import Pool
from no_options import no_options

MACHINE, MHZ, CLIENTS = "opteron-48", 2100, 47
HIGH, LOW = 100, 2_000_000  # cycles between two sections of a client
MS = 1_000_000
DURATION_NS = {HIGH: 12 * MS, LOW: 30 * MS}
AT_ONCE_NS = 100 * MS  # before counting, if all clients begin at once
BETWEEN_NS = 8 * MS  # the duration of other delays
STAGGER = {LOW: LOW // CLIENTS}  # in cycles; otherwise the workload's
# Without it, clients that have met once never meet again. From 1 to 20, the figures
# agree within 2 %.
DRIFT_PERCENT = "1"
SECTION_CYCLES = 30  # 72 instructions; local.code takes two cycles for five
SEEDS = (1, 2, 3)
DELAYS = (100_000, 70_000, *range(60_000, 0, -10_000))
# Figure 8: from this share of a client's time in sections on, waiting included, with
# POSIX locks, RCL is faster than POSIX locks, or than all locks.
THAN_POSIX, THAN_ALL = 0.2, 0.7
TOLERANCE = 0.25


class Published(NamedTuple):
    """A bar of figure 7c: its name, the lock or executor here, and its cycles."""

    name: str
    subject: str
    high: int
    low: int


RCL = Published("RCL", "rcl", 16_682, 1_494)
COMBINING = Published("Flat Combining", "flat-combining", 50_447, 15_060)
POSIX = Published("POSIX", "lock:futex", 73_024, 1_826)
COMPARED = (
    POSIX,
    Published("MCS", "lock:mcs", 63_553, 1_457),
    COMBINING,
)
FIGURE_7C = (Published("Spinlock", "lock:spinlock", 672_889, 1_288), *COMPARED, RCL)
# Figure 13, Berkeley DB. The pause is the one with which one server has the published
# use rate; neither the lengths of sections nor how pauses vary are published.
TWO_SERVERS = 1.52  # 28.7 to 18.9 transactions a second
USE_RATE = 0.81
LENGTHS, VARIATIONS = (1_000, 5_000, 20_000), (50, 100)  # cycles, percent
LINES = 3  # of a section's data; the publication says at most
SEARCHES_NS = 8_000  # before counting, for each cycle of a section: 300 searches


@dataclass(frozen=True)
class Row:
    """A published figure and the simulated one."""

    claim: str
    published: float
    simulated: float
    own: float = 0.0  # with Hasp's own lock or executor

    @property
    def agrees(self) -> bool:
        return abs(self.simulated / self.published - 1.0) <= TOLERANCE


@cache
def laboratory() -> tuple[Pool, str]:
    """Return a pool, and the flattened file of the machine."""
    folder = Path(tempfile.mkdtemp(prefix="hasp-rcl-"))
    file = folder / MACHINE
    file.write_text(flatten(load_machine(MACHINE)))
    return Pool(), str(file)


@cache
def run(
    subject: str,
    delay: int,
    knobs: tuple[str, ...] = (),
    engine: str = PUBLISHED_ENGINE,
    seed: int = 1,
    warm_up_ns: int = 0,
) -> Record:
    """Return the record of a simulation.

    As in the paper, 47 cores run clients, and one runs the server; with two servers, 46
    cores run clients.
    """
    pool, machine = laboratory()
    is_lock = subject.startswith("lock:")
    cpus = range(CLIENTS + 1) if subject.startswith("rcl") else range(1, CLIENTS + 1)
    wanted = {"think_cycles": str(delay), "cs_cycles": str(SECTION_CYCLES)}
    wanted["chained"] = "1"  # unless `knobs` say otherwise
    if delay in STAGGER:
        wanted["stagger_cycles"] = str(STAGGER[delay])
        wanted["jitter_percent"] = DRIFT_PERCENT
    if not is_lock:
        wanted["executor"] = subject
    wanted |= dict(knob.split("=") for knob in knobs)
    return pool.submit(
        Job(
            machine=machine,
            workload="delegation",
            lock=subject.removeprefix("lock:") if is_lock else "mcs",
            threads=len(cpus),
            cpus=tuple(cpus),
            seed=seed,
            warm_up_ns=warm_up_ns or MS,
            duration_ns=2 * warm_up_ns or DURATION_NS.get(delay, BETWEEN_NS),
            knobs=tuple(sorted(wanted.items())),
            engine=engine,
        )
    ).result()


def cycles(
    subject: str,
    delay: int,
    lines: int = 1,
    engine: str = PUBLISHED_ENGINE,
    seeds: Sequence[int] = (1,),
    chained: bool = True,
) -> float:
    """Return the cycles from a request until its section has been executed.

    At high contention by Little's law: a mean over completed sections would leave out
    starving clients, whereas in the paper each client executes 5,000 sections.
    """
    found: list[float] = []
    for seed in seeds:
        knobs = (f"cs_lines={lines}", f"chained={chained:d}")
        record = run(subject, delay, knobs, engine, seed)
        if delay == LOW:
            found.append(record["operation_mean_ns"] * MHZ / 1000)
        else:
            found.append(CLIENTS * MHZ / record["throughput_mops"] - delay)
    return statistics.median(found)


def measured(subject: str, delay: int, engine: str) -> float:
    return cycles(subject, delay, engine=engine, seeds=SEEDS)


def both(subject: str, delay: int) -> tuple[float, float]:
    """Return the cycles of the published form, and of Hasp's own."""
    return (
        measured(subject, delay, PUBLISHED_ENGINE),
        measured(subject, delay, ENGINE),
    )


def at_once(bar: Published) -> str:
    """Return the cycles if clients begin at once, and the long delays are constant."""
    knobs = ("cs_lines=1", "jitter_percent=0", "stagger_cycles=1")
    runs = (run(bar.subject, LOW, knobs, seed=i, warm_up_ns=AT_ONCE_NS) for i in SEEDS)
    found = statistics.median(each["operation_mean_ns"] for each in runs)
    return f"{bar.name} {found * MHZ / 1000:,.0f}"


def rows() -> Iterator[Row]:
    """Yield the numeric claims of figure 7c, and its ratios that the text names."""
    for name, subject, high, low in FIGURE_7C:
        yield Row(f"{name}, high contention, cycles", high, *both(subject, HIGH))
        yield Row(f"{name}, low contention, cycles", low, *both(subject, LOW))
    rcl = both(RCL.subject, HIGH)
    for name, subject, high, _ in COMPARED:
        ratios = (a / b for a, b in zip(both(subject, HIGH), rcl, strict=True))
        yield Row(f"{name} to RCL, high contention", high / RCL.high, *ratios)


class Sections(NamedTuple):
    """Sections of two objects: their cycles, and how much pauses vary, in percent."""

    length: int
    variation: int


def served(
    sections: Sections,
    pause: int,
    servers: int,
    subject: str = "rcl",
    engine: str = ENGINE,
) -> Record:
    knobs = {
        "locks": 2,
        "servers": servers,
        "cs_lines": LINES,
        "cs_cycles": sections.length,
        "jitter_percent": sections.variation,
    }
    words = tuple(f"{name}={value}" for name, value in knobs.items())
    warm_up_ns = SEARCHES_NS * sections.length
    return run(subject, pause, words, engine, warm_up_ns=warm_up_ns)


def rates(record: Record) -> tuple[float, float]:
    """Return a server's use rate, and its rate of false serialisation."""
    return (
        record["executor_sections"] / record["server_lines"],
        record["server_serialised"] / record["executor_holds"],
    )


@cache
def pause_of(sections: Sections) -> int:
    """Return the pause with which one server has the published use rate."""
    least, most = HIGH, 60 * (sections.length + 1_000)
    while most - least > 10:
        pause = (least + most) // 2
        if rates(served(sections, pause, 1))[0] > USE_RATE:
            least = pause
        else:
            most = pause
    return least


def gain(sections: Sections, subject: str = "rcl", engine: str = ENGINE) -> float:
    """Return the throughput with two servers, relative to RCL with one."""
    pause = pause_of(sections)
    one = served(sections, pause, 1, engine=engine)
    two = served(sections, pause, 2, subject, engine)
    return float(two["throughput_mops"] / one["throughput_mops"])


def second_server() -> Row:
    """Return figure 13's gain, with sections of medium length and the pauses that vary
    most."""
    sections = Sections(LENGTHS[1], VARIATIONS[-1])
    gains = (gain(sections, engine=engine) for engine in (PUBLISHED_ENGINE, ENGINE))
    return Row("two servers to one, two busy objects", TWO_SERVERS, *gains)


@dataclass(frozen=True)
class Load:
    """A delay between sections, and RCL's throughput relative to others' with it."""

    delay: int  # in cycles
    share: float  # of a client's time in sections, waiting included, with POSIX locks
    to_posix: float
    to_locks: float  # to the fastest of the locks
    to_combining: float


def load(delay: int) -> Load:
    """Simulate all subjects with a delay.

    As in the paper, a client's time in sections is that of its calls: all of its time
    except the delays.
    """
    mops = {bar.name: run(bar.subject, delay)["throughput_mops"] for bar in FIGURE_7C}
    locks = (bar.name for bar in FIGURE_7C if bar.subject.startswith("lock:"))
    rcl = mops[RCL.name]
    return Load(
        delay,
        share=1 - mops[POSIX.name] * delay / (CLIENTS * MHZ),
        to_posix=rcl / mops[POSIX.name],
        to_locks=rcl / max(mops[name] for name in locks),
        to_combining=rcl / mops[COMBINING.name],
    )


def holds(loads: Sequence[Load]) -> tuple[bool, bool]:
    """Return whether RCL is faster than POSIX locks, and than all locks, with all loads
    from the two thresholds on."""
    return (
        all(each.to_posix > 1 for each in loads if each.share >= THAN_POSIX),
        all(each.to_locks > 1 for each in loads if each.share >= THAN_ALL),
    )


def print_thresholds() -> None:
    """Print figure 8's two thresholds beside RCL's ratios at several loads."""
    loads = [load(delay) for delay in DELAYS]
    print("\n| delay | time in sections | to POSIX | to the best lock | to combining |")
    print("|--:|--:|--:|--:|--:|")
    for each in loads:
        ratios = (each.to_posix, each.to_locks, each.to_combining)
        cells = [f"{each.delay:,}", f"{each.share:.0%}", *(f"{x:.2f}" for x in ratios)]
        print(f"| {' | '.join(cells)} |")
    than_posix, than_all = map(answer, holds(loads))
    print(f"\nFrom {THAN_POSIX:.0%} on, RCL is faster than POSIX: {than_posix}.")
    print(f"From {THAN_ALL:.0%} on, RCL is faster than all locks: {than_all}.")


def print_servers() -> None:
    """Print figure 13: rates with one server and two, and gains, also of objects that
    move themselves."""
    print(
        "\n| cycles of a section | pauses vary by | pause | use rate, one server "
        "| false serialisation | use rate, two | false serialisation | gain "
        "| objects move: gain |"
    )
    print("|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    print(f"| published | | | {USE_RATE:.0%} | 91% | 5% | < 1% | {TWO_SERVERS} | |")
    for length in LENGTHS:
        for variation in VARIATIONS:
            sections = Sections(length, variation)
            pause = pause_of(sections)
            shares = [
                f"{rate:.0%}"
                for servers in (1, 2)
                for rate in rates(served(sections, pause, servers))
            ]
            gains = [f"{gain(sections, name):.2f}" for name in ("rcl", "rcl-moving")]
            cells = [f"{length:,}", f"{variation}%", f"{pause:,}", *shares, *gains]
            print(f"| {' | '.join(cells)} |")


def answer(value: bool) -> str:
    return "yes" if value else "no"


def order(delay: int, engine: str) -> str:
    """Return the names, from the fastest, as published and as simulated."""
    published = sorted(
        FIGURE_7C, key=lambda bar: bar.high if delay == HIGH else bar.low
    )
    simulated = sorted(FIGURE_7C, key=lambda bar: measured(bar.subject, delay, engine))
    names = [", ".join(bar.name for bar in each) for each in (published, simulated)]
    return f"published: {names[0]}; simulated: {names[1]}"


def print_row(row: Row) -> None:
    figures = (
        f"{value:,.0f}" if value >= 100 else f"{value:.2f}"
        for value in (row.published, row.simulated, row.own)
    )
    published, simulated, own = figures
    cells = (row.claim, published, simulated, answer(row.agrees), own)
    print(f"| {' | '.join(cells)} |")


def start_all() -> None:
    """Start the runs of the table, several at a time."""
    with ThreadPoolExecutor() as threads:
        for bar in FIGURE_7C:
            for delay in (HIGH, LOW):
                for engine in (PUBLISHED_ENGINE, ENGINE):
                    threads.submit(measured, bar.subject, delay, engine)


def main() -> int:
    no_options(__doc__)
    start_all()
    found, second = list(rows()), second_server()
    print("| | published | simulated | within 25 % | Hasp's own |")
    print("|---|--:|--:|---|--:|")
    for row in (*found, second):
        print_row(row)
    agree = sum(row.agrees for row in found)
    print(f"\nFigure 7c: {agree} of {len(found)} agree ({agree / len(found):.0%}).")
    agree += second.agrees
    print(f"With figure 13: {agree} of {len(found) + 1}.")
    for delay, name in ((HIGH, "high"), (LOW, "low")):
        print(f"\nFrom the fastest, {name}: {order(delay, PUBLISHED_ENGINE)}.")
    print(f"If clients begin at once, low: {', '.join(map(at_once, FIGURE_7C))}.")
    print_thresholds()
    print_servers()
    return 0


if __name__ == "__main__":
    sys.exit(main())
