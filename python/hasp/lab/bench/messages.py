# SPDX-License-Identifier: MIT
"""`hasp bench messages`: channels, the rings of others, and the transfer of a line."""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean, median

from hasp.base import output
from hasp.base.errors import HaspError
from hasp.base.progress import Display
from hasp.lab.bench import interleaved
from hasp.lab.bench.interleaved import Record, output_of, ratio_text
from hasp.lab.bench.peers_figure import (
    Form,
    Panel,
    Picture,
    draw_picture,
    heading_of,
    standing,
)
from hasp.locks import native
from hasp.statistics.ratio import Ratio, interval_of_median, median_of_ratios

PATTERNS = {
    "round-trip": "a message and its answer",
    "one-way": "a message of a stream, one a call",
    "batch": "a message of a stream, up to 32 a call",
    "large": "a message of 4096 bytes",
}
REFERENCE, LARGE_REFERENCE = "hasp", "hasp-ring"
PROGRAM, PEERS = "hasp-bench-messages", "hasp-bench-messages-peers"
PEER_PACKAGES = {"ck": "libck-dev", "dpdk": "libdpdk-dev"}
LOAD = "load:modified"
MESSAGES, ROUNDS, QUICK_ROUNDS = 512, 31, 7  # MESSAGES: in one burst
LINE = "line"
SCHEMA = "hasp.messages/1"


@dataclass(frozen=True)
class Implementation:
    """A way to send messages, the program that measures it, and its patterns."""

    name: str
    program: Path
    patterns: tuple[str, ...]


@dataclass(frozen=True)
class Options:
    """What `hasp bench messages` measures."""

    quick: bool = False
    runs: int | None = None
    json: str | None = None
    source: str | None = None
    plot: str | None = None


def measure_messages(options: Options) -> int:
    """Measure all implementations in rounds of random order, or read what was measured;
    print and draw the medians.

    Returns the exit status. Raises HaspError if there is only one CPU.
    """
    rounds = options.runs or (QUICK_ROUNDS if options.quick else ROUNDS)
    results = interleaved.Results(print_tables, options.json, options.plot, draw)
    return interleaved.carry_out(
        "messages", SCHEMA, options.source, _rounds(rounds), results
    )


def _rounds(rounds: int) -> Iterator[Record]:
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise HaspError("messages need two CPUs", "allow this process a second one")
    programs = _programs()
    with Display() as display:
        for number in range(rounds):
            display.show("round", number, rounds, None)
            for run in _round(programs, (cpus[0], cpus[1])):
                yield {**run, "round": number}


def _programs() -> list[Implementation]:
    found: list[Implementation] = []
    for program in (PROGRAM, PEERS):
        try:
            path = native.program(program)
        except HaspError:
            if program == PROGRAM:
                raise
            continue
        listed = subprocess.run([path, "--list"], capture_output=True, text=True)
        for line in listed.stdout.splitlines():
            name, *patterns = line.split()
            found.append(Implementation(name, path, tuple(patterns)))
    return found


def _round(
    programs: Sequence[Implementation], cpus: tuple[int, int]
) -> Iterator[Record]:
    words = [str(cpu) for cpu in cpus]
    tasks = [(each, pattern) for each in programs for pattern in each.patterns]
    yield _line(words)
    for each, pattern in random.sample(tasks, len(tasks)):
        options = [each.name, pattern, str(MESSAGES), *words]
        text = output_of([str(each.program), *options])
        yield json.loads(text)
    yield _line(words)


def _line(cpus: Sequence[str]) -> Record:
    """Return the time of a load of a line that the other CPU has modified."""
    program = str(native.program("hasp-machine"))
    rate = json.loads(output_of([program, "clock", "--cpus", cpus[0]]).splitlines()[-1])
    text = output_of([program, "coherence", "--cases", LOAD, "--cpus", ",".join(cpus)])
    row = json.loads(text.splitlines()[-1])
    cycles = median(row["cycles"]) - median(row["overheads"])
    ns = cycles / row["batch"] * 1e9 / rate["cycles_per_second"]
    return {
        "schema": SCHEMA,
        "implementation": LINE,
        "pattern": LOAD,
        "ns": round(ns, 3),
    }


def _samples(runs: Sequence[Record], name: str, pattern: str) -> list[float]:
    return [
        float(run["ns"])
        for run in runs
        if (run["implementation"], run["pattern"]) == (name, pattern)
    ]


def _ratio(sample: Sequence[float], reference: Sequence[float]) -> Ratio:
    """Return the median of the ratios of the rounds; the last one can be incomplete."""
    rounds = min(len(sample), len(reference))
    return median_of_ratios(sample[:rounds], reference[:rounds])


def _reference(pattern: str) -> str:
    return LARGE_REFERENCE if pattern == "large" else REFERENCE


def _rows(runs: Sequence[Record]) -> Iterator[tuple[str, ...]]:
    loads = _samples(runs, LINE, LOAD)
    lines = [fmean(pair) for pair in zip(loads[::2], loads[1::2], strict=False)]
    if loads:
        yield ("modified line", "", f"{median(loads):.1f} ns", "", "")
    names = list(dict.fromkeys(run["implementation"] for run in runs))
    for pattern in PATTERNS:
        reference = _reference(pattern)
        own = _samples(runs, reference, pattern)
        for name in sorted(names, key=lambda name: (name != reference, name)):
            sample = _samples(runs, name, pattern)
            if not sample:
                continue
            transfers = ""
            if lines:
                transfers = f"{_ratio(sample, lines).value:.1f}"
            ratio = ratio_text(_ratio(sample, own)) if name != reference else ""
            yield pattern, name, f"{median(sample):.1f} ns", transfers, ratio


def print_tables(runs: Sequence[Record]) -> None:
    """Print a row for each pattern and implementation, and name missing ones."""
    table = output.table()
    for heading in ("PATTERN", "BY", "A MESSAGE", "LINES", "TO HASP'S"):
        right = heading in ("A MESSAGE", "LINES")
        table.add_column(heading, justify="right" if right else "left")
    for row in _rows(runs):
        table.add_row(*row)
    output.console().print(table)
    measured = {run["implementation"] for run in runs}
    missing = [name for name in PEER_PACKAGES if name not in measured]
    if missing:
        packages = " ".join(PEER_PACKAGES[name] for name in missing)
        output.note(f"not measured: {', '.join(missing)} (build with {packages})")


def draw(runs: Sequence[Record], path: Path) -> None:
    """Draw a panel for each pattern, with a row for each implementation."""
    panels = [panel for panel in map(partial(_panel, runs), PATTERNS) if panel.forms]
    rounds = len({run["round"] for run in runs})
    title = "Hasp's channels beside other rings: nanoseconds, lower is better"
    heading = heading_of(title, rounds)
    marks = "a load of a line that the other CPU has modified"
    draw_picture(Picture(heading, "nanoseconds", panels, marks), path)


def _panel(runs: Sequence[Record], pattern: str) -> Panel:
    reference = _reference(pattern)
    own = _samples(runs, reference, pattern)
    forms = []
    for name in dict.fromkeys(run["implementation"] for run in runs):
        sample = _samples(runs, name, pattern)
        if sample:
            found = standing(name, _ratio(sample, own))
            forms.append(Form(name, median(sample), interval_of_median(sample), found))
    forms.sort(key=lambda form: (form.name != reference, form.median))
    loads = _samples(runs, LINE, LOAD)
    mark = median(loads) if loads else None
    return Panel(pattern, PATTERNS[pattern], forms, reference, mark)
