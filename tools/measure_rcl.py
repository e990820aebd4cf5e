#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare the simulated micro-benchmark of Remote Core Locking with its publication.

Prints a Markdown table of the figures of Lozi, David, Thomas, Lawall and Muller,
"Remote core locking", USENIX ATC 2012 (figure 7c: cycles of a critical section, 47
clients on a 48-core Opteron; figure 13: the gain from a second server), the figures of
the same experiment on the simulated machine, and how many agree within 25 %; then the
shares of time in sections from which RCL is faster (figure 8).

    PYTHONPATH=python tools/measure_rcl.py
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

MACHINE, MHZ, CLIENTS = "opteron-48", 2100, 47
HIGH, LOW = 100, 2_000_000  # cycles between two sections of a client
DURATION = {HIGH: "12ms", LOW: "30ms"}
BETWEEN = "8ms"  # the duration of other delays
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
TWO_SERVERS = 1.52  # 28.7 to 18.9 transactions a second, figure 13


@dataclass(frozen=True)
class Row:
    """A published figure and the simulated one."""

    claim: str
    published: float
    simulated: float

    @property
    def agrees(self) -> bool:
        return abs(self.simulated / self.published - 1.0) <= TOLERANCE


@cache
def run(subject: str, delay: int, knobs: tuple[str, ...] = ()) -> dict[str, float]:
    """Return the record of a simulation.

    As in the paper, 47 cores run clients, and one runs the server; with two servers, 46
    cores run clients.
    """
    threads = CLIENTS + subject.startswith("rcl")
    lock = subject.removeprefix("lock:") if subject.startswith("lock:") else "mcs"
    chosen = [f"think_cycles={delay}", *knobs]
    if not subject.startswith("lock:"):
        chosen.append(f"executor={subject}")
    if subject == COMBINING.subject:
        chosen.append("read_ahead=0")  # as published
    words = [sys.executable, "-m", "hasp", "simulate", "--machine", MACHINE]
    words += ["--workload", "delegation", "--threads", str(threads)]
    duration = DURATION.get(delay, BETWEEN)
    words += ["--locks", lock, "--duration", duration, "--json", "-"]
    for knob in chosen:
        words += ["--knob", knob]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    record: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return record


def cycles(subject: str, delay: int, lines: int = 1) -> float:
    """Return the cycles from a request until its section has been executed.

    At high contention by Little's law: a mean over completed sections would leave out
    starving clients, whereas in the paper each client executes 5,000 sections.
    """
    record = run(subject, delay, (f"cs_lines={lines}",))
    if delay == LOW:
        return record["operation_mean_ns"] * MHZ / 1000
    return CLIENTS * MHZ / record["throughput_mops"] - delay


def rows() -> Iterator[Row]:
    """Yield the numeric claims."""
    for name, subject, high, low in FIGURE_7C:
        yield Row(f"{name}, high contention, cycles", high, cycles(subject, HIGH))
        yield Row(f"{name}, low contention, cycles", low, cycles(subject, LOW))
    rcl = cycles(RCL.subject, HIGH)
    for name, subject, high, _ in COMPARED:
        ratio = cycles(subject, HIGH) / rcl
        yield Row(f"{name} to RCL, high contention", high / RCL.high, ratio)
    one = run("rcl", HIGH, ("locks=2",))["throughput_mops"]
    two = run("rcl", HIGH, ("locks=2", "servers=2"))["throughput_mops"]
    yield Row("two servers to one, two busy objects", TWO_SERVERS, two / one)


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
    """Print figure 13 for two busy objects: rates, and objects that move themselves."""
    print("\n| servers | sections, M/s | use rate | false serialisation |")
    print("|---|--:|--:|--:|")
    for words, subject, servers in (
        ("one", "rcl", 1),
        ("two, an object each", "rcl", 2),
        ("two, objects move", "rcl-moving", 2),
    ):
        record = run(subject, HIGH, ("locks=2", f"servers={servers}"))
        use = record["executor_sections"] / record["server_lines"]
        falsely = record["server_serialised"] / record["executor_holds"]
        cells = [words, f"{record['throughput_mops']:.2f}", f"{use:.0%}"]
        print(f"| {' | '.join([*cells, f'{falsely:.0%}'])} |")


def answer(value: bool) -> str:
    return "yes" if value else "no"


def order(delay: int) -> str:
    """Return the names, from the fastest, as published and as simulated."""
    published = sorted(
        FIGURE_7C, key=lambda bar: bar.high if delay == HIGH else bar.low
    )
    simulated = sorted(FIGURE_7C, key=lambda bar: cycles(bar.subject, delay))
    names = [", ".join(bar.name for bar in each) for each in (published, simulated)]
    return f"published: {names[0]}; simulated: {names[1]}"


def main() -> int:
    found = list(rows())
    print("| | published | simulated | within 25 % |\n|---|---|---|---|")
    for row in found:
        published, simulated = (
            f"{value:,.0f}" if value >= 100 else f"{value:.2f}"
            for value in (row.published, row.simulated)
        )
        agrees = answer(row.agrees)
        print(f"| {row.claim} | {published} | {simulated} | {agrees} |")
    agree = sum(row.agrees for row in found)
    print(f"\n{agree} of {len(found)} figures agree ({agree / len(found):.0%}).")
    print(f"\nFrom the fastest, at high contention: {order(HIGH)}.")
    print(f"At low contention: {order(LOW)}.")
    print_thresholds()
    print_servers()
    return 0


if __name__ == "__main__":
    sys.exit(main())
