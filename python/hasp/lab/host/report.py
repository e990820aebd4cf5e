# SPDX-License-Identifier: MIT
"""Prints the measurements as tables of 80 columns, followed by the doubts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from hasp.base.durations import format_duration, three_digits
from hasp.base.output import table
from hasp.lab.host import heat
from hasp.lab.host.measurement import MINE, OPERATIONS, STATES
from hasp.lab.host.rows import loads_take_modified, of_kind
from hasp.lab.host.target import Row
from hasp.lab.simulate.processors import speed_of

if TYPE_CHECKING:
    from rich.console import Console

MOST_COLUMNS = 9  # of thread counts
WAITS = {
    "atomic": "an atomic operation on a line of the CPU's own",
    "issue": "a load or store beside an atomic operation, all cached",
    "timer": "an ordered reading of the cycle counter",
    "pause": "one pause instruction of a spinning thread",
    "call": "a futex wake while nobody sleeps",
    "switch": "two threads on one CPU, round trip",
    "wake": "from the futex wake to the woken thread running",
    "waking": "the futex wake itself, if it wakes a thread on another CPU",
    "slice": "time slice of a thread while another is ready",
}
WAKEUPS = {"wake": "until it runs", "waking": "the call itself"}
DASH = "-"
TAKES = "loads take lines that other CPUs have modified: stores to them are then local"


def show(out: Console, rows: Sequence[Row]) -> None:
    """Print every table for which there are rows."""
    first = rows[0]
    rate = first["cycles_per_second"] / 1e9
    cpus = len(of_kind(rows, "cpu"))
    name = first["machine"]
    if not first["simulated"]:
        name = first["host"]["cpu_model"]
    simulated = "simulated: " if first["simulated"] else ""
    count = f"{cpus} CPU{'' if cpus == 1 else 's'}"
    out.print(f"{simulated}{name}, {count}; {rate:.3f} cycles a ns", style="bold")
    if first.get("cohorts"):
        out.print(f"cohorts of NUMA-aware locks: {first['cohorts']}")
    speed = speed_of(first.get("processor") or "")
    if speed:
        whose = speed.words
        if speed.estimated:
            whose = f"median of {whose}, {speed.low:g} to {speed.high:g}"
        out.print(f"{speed.benchmark}, not measured: {speed.score:g} ({whose})")
    out.print()
    _levels(out, rows, rate)
    heat.show(out, rows)
    _lines(out, rows)
    _crowds(out, rows)
    _loads(out, rows)
    _waits(out, rows)
    _wakeups(out, rows)
    _atomics(out, rows)
    _messages(out, rows)
    _energy(out, rows)
    _doubts(out, rows)


def _levels(out: Console, rows: Sequence[Row], rate: float) -> None:
    levels = of_kind(rows, "level")
    if not levels:
        return
    out.print("a line modified by another CPU", style="bold")
    form = table()
    for heading in ("cycles", "ns", "from - to", "pairs"):
        form.add_column(heading, justify="right", no_wrap=True)
    form.add_column("relation reported by the system", overflow="fold")
    for level in levels:
        form.add_row(
            f"{level['cycles']:.0f}",
            three_digits(level["cycles"] / rate),
            f"{level['low']:.0f} - {level['high']:.0f}",
            str(len(level["pairs"])),
            ", ".join(level["relations"]),
        )
    out.print(form)
    out.print()


def _lines(out: Console, rows: Sequence[Row]) -> None:
    lines = of_kind(rows, "line")
    casts = dict.fromkeys(
        (row["cpu"], row["holder"]) for row in lines if row["holder"] is not None
    )
    for cpu, holder in casts:
        chosen = [
            row
            for row in lines
            if row["cpu"] == cpu and row["holder"] in (holder, None)
        ]
        relation = next(row["relation"] for row in chosen if row["relation"])
        states = [
            state
            for state in (*STATES, *MINE)
            if any(row["state"] == state for row in chosen)
        ]
        title = f"cycles of CPU {cpu}, line of CPU {holder} ({relation}), by state"
        out.print(title, style="bold")
        form = table()
        form.add_column("", no_wrap=True)
        for state in states:
            form.add_column(state.replace("_", "\n"), justify="right", no_wrap=True)
        for operation in OPERATIONS:
            cells = [_cell(chosen, operation, state) for state in states]
            form.add_row(operation, *cells)
        out.print(form)
        out.print(_caption(chosen))
        if loads_take_modified(chosen):
            out.print(TAKES)
        out.print()


def _cell(rows: Iterable[Row], operation: str, state: str) -> str:
    for row in rows:
        if (row["operation"], row["state"]) == (operation, state):
            if row["absent"]:
                return DASH
            return f"{row['cycles']:.0f} ±{row['spread_cycles']:.0f}"
    return DASH


def _caption(rows: Sequence[Row]) -> str:
    words = "± half the interquartile range of the samples"
    absent = {row["absent"] for row in rows if row["absent"]}
    if absent:
        words += f"; {DASH} {', '.join(sorted(absent))}"
    return words


def _crowds(out: Console, rows: Sequence[Row]) -> None:
    crowds = of_kind(rows, "crowd")
    if not crowds:
        return
    counts = sorted({row["sharers"] for row in crowds})[:MOST_COLUMNS]
    out.print("cycles for a line, by the number of CPUs that share it", style="bold")
    form = table()
    form.add_column("", no_wrap=True)
    for count in counts:
        form.add_column(str(count), justify="right", no_wrap=True)
    for operation in dict.fromkeys(row["operation"] for row in crowds):
        cells = {
            row["sharers"]: f"{row['cycles']:.0f}"
            for row in crowds
            if row["operation"] == operation
        }
        form.add_row(operation, *(cells.get(count, DASH) for count in counts))
    out.print(form)
    out.print()


def _loads(out: Console, rows: Sequence[Row]) -> None:
    loads = of_kind(rows, "load")
    if not loads:
        return
    out.print("dependent loads at random addresses, by memory size", style="bold")
    form = table()
    form.add_column("from", no_wrap=True)
    for heading in ("memory", "cycles", "ns"):
        form.add_column(heading, justify="right", no_wrap=True)
    for row in loads:
        form.add_row(
            row["level"],
            _size(row["bytes"]),
            three_digits(row["cycles"]),
            three_digits(row["ns"]),
        )
    out.print(form)
    out.print()


def _size(size: int) -> str:
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"


def _waits(out: Console, rows: Sequence[Row]) -> None:
    waits = of_kind(rows, "wait")
    if not waits:
        return
    out.print("waiting and context switches", style="bold")
    form = table()
    form.add_column("", no_wrap=True)
    form.add_column("time", justify="right", no_wrap=True)
    form.add_column("5 % - 95 % of samples", justify="right", no_wrap=True)
    form.add_column("meaning")
    for row in waits:
        scale = row["ns"] / row["cycles"] / 1e9 if row["cycles"] else 0.0
        bounds = (row["low_cycles"] * scale, row["high_cycles"] * scale)
        form.add_row(
            row["name"],
            format_duration(row["ns"] / 1e9),
            " - ".join(map(format_duration, bounds)),
            WAITS[row["name"]],
        )
    out.print(form)
    out.print()


def _wakeups(out: Console, rows: Sequence[Row]) -> None:
    wakeups = of_kind(rows, "wakeup")
    if not wakeups:
        return
    title = "waking a thread on another CPU, by how long that CPU had been idle"
    out.print(title, style="bold")
    form = table()
    for heading in ("idle", *WAKEUPS.values()):
        form.add_column(heading, justify="right", no_wrap=True)
    for idle_us in dict.fromkeys(row["idle_us"] for row in wakeups):
        cells = {
            row["name"]: format_duration(row["ns"] / 1e9)
            for row in wakeups
            if row["idle_us"] == idle_us
        }
        idle = format_duration(idle_us / 1e6)
        form.add_row(idle, *(cells.get(name, DASH) for name in WAKEUPS))
    out.print(form)
    out.print()


def _atomics(out: Console, rows: Sequence[Row]) -> None:
    atomics = of_kind(rows, "atomic")
    if not atomics:
        return
    counts = sorted({row["threads"] for row in atomics})
    if len(counts) > MOST_COLUMNS:
        counts = sorted({1, 2, 4, 8, *counts[-(MOST_COLUMNS - 4) :]} & set(counts))
    pause = atomics[-1]["pause_cycles"]
    out.print(
        "atomic operations on one line: millions per second, by threads", style="bold"
    )
    form = table()
    form.add_column("", no_wrap=True)
    for count in counts:
        form.add_column(str(count), justify="right", no_wrap=True)
    for operation in dict.fromkeys(row["operation"] for row in atomics):
        cells = {
            row["threads"]: three_digits(row["throughput_mops"])
            for row in atomics
            if row["operation"] == operation
        }
        form.add_row(operation, *(cells.get(count, DASH) for count in counts))
    out.print(form)
    out.print(f"threads pause {pause} cycles between operations, so the line moves")
    out.print()


def _messages(out: Console, rows: Sequence[Row]) -> None:
    messages = of_kind(rows, "message")
    if not messages:
        return
    out.print("messages of one cache line", style="bold")
    form = table()
    form.add_column("pattern", no_wrap=True)
    for heading in ("threads", "ns/message", "millions/s"):
        form.add_column(heading, justify="right", no_wrap=True)
    for row in messages:
        mops = row["throughput_mops"]
        form.add_row(
            row["pattern"],
            str(row["threads"]),
            three_digits(1e3 / mops) if mops else DASH,
            three_digits(mops),
        )
    out.print(form)
    out.print()


def _energy(out: Console, rows: Sequence[Row]) -> None:
    used = of_kind(rows, "energy")
    if not used:
        if not rows[0]["simulated"]:
            out.print("energy: not measured, this host exposes no RAPL counters")
            out.print()
        return
    out.print("power of all packages while all CPUs wait in one way", style="bold")
    form = table()
    form.add_column("", no_wrap=True)
    form.add_column("watts", justify="right", no_wrap=True)
    for row in used:
        form.add_row(row["way"], three_digits(row["watts"]))
    out.print(form)
    out.print()


def _doubts(out: Console, rows: Sequence[Row]) -> None:
    found = of_kind(rows, "doubt")
    if not found:
        return
    out.print("doubts", style="bold")
    by_words: dict[tuple[str, str], list[str]] = {}
    for row in found:
        by_words.setdefault((row["doubt"], row["words"]), []).append(row["about"])
    by_kind: dict[str, list[tuple[str, str]]] = {}
    for (kind, words), about in by_words.items():
        by_kind.setdefault(kind, []).append((about[0], words))
    style = "yellow" if not out.no_color else ""
    for kind, entries in by_kind.items():
        first, words = entries[0]
        more = f" (and {len(entries) - 1} similar)" if len(entries) > 1 else ""
        text = Text(f"! {kind.replace('_', ' ')}: ", style=style)
        out.print(text.append(f"{first}: {words}{more}", style="default"))
    out.print()
