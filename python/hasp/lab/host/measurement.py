# SPDX-License-Identifier: MIT
"""The measurement: rounds of short steps whose bursts are collected for the results.

Every round measures everything briefly, so that a temporary disturbance affects a few
samples of every figure instead of all samples of one.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from hasp.base.energy.host_meter import find as find_meter
from hasp.lab.host import pairs as plan
from hasp.lab.host.samples import figure_of
from hasp.lab.host.target import Row, Target

SCHEMA = "hasp.machine/1"
STATES = ("modified", "owned", "exclusive", "shared", "invalid")
MINE = ("mine", "owned_mine", "shared_mine")
TAKEN = "taken"  # loaded after another CPU had modified it
OPERATIONS = ("load", "store", "cas", "fai", "tas", "swap")
CONTENDED = ("cas", "cas-fai", "fai", "tas", "swap")
PATTERNS = ("one-way", "round-trip", "client-server")
WAYS = ("active", "pausing", "parked")
ABSENT_THIRD = "needs a third CPU"

KIB, MIB = 1 << 10, 1 << 20
# Each burst uses new pages, and latency depends on where a line resides: with few pairs
# of CPUs there is time to sample more lines.
PAIR_BURSTS = 8
# Length of a contended run. Simulated runs are undisturbed, so shorter ones suffice.
DURATION_NS, DURATION_SIMULATED_NS = 20_000_000, 500_000
WAKEUPS_SECONDS = 0.4  # most of it are idle times
ENERGY_MS, ENERGY_SIMULATED_MS = 1000, 1
# Like SSYNC, pause after each operation for about as long as the line needs to return,
# so that its holder does not simply use it again.
PAUSE_FACTOR = 2


@dataclass(frozen=True)
class Step:
    """A piece of work that takes a fraction of a second."""

    words: str
    seconds: float  # estimate
    run: Callable[[], None]


class Session:
    """Collects bursts; rows.rows() turns them into results at any time."""

    def __init__(self, target: Target, rounds: int, chase_most: int) -> None:
        self.target = target
        self.rounds = 1 if target.simulated else rounds
        self.chase_most = chase_most
        self.casts = plan.casts(target.topology)
        self.bursts: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
        self.runs: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
        self.energy: list[Row] = []
        self.pause: int | None = None
        self.cycles_per_second = 0
        self.machine = ""

    def steps(self) -> Iterator[tuple[int, Step]]:
        """Yield all steps, each with the number of its round."""
        yield 0, Step("clock", 0.1, self._clock)
        for number in range(self.rounds):
            for step in self._round(number):
                yield number, step

    def seconds(self) -> float:
        """Estimate the duration of all steps."""
        rounds = range(self.rounds)
        steps = itertools.chain.from_iterable(self._round(number) for number in rounds)
        return sum(step.seconds for step in steps)

    def _round(self, number: int) -> Iterator[Step]:
        pairs = plan.pairs(self.target.topology)
        bursts = 1
        if not self.target.simulated:
            bursts = max(1, PAIR_BURSTS // max(1, sum(map(len, pairs.values()))))
        for holder, others in bursts * list(pairs.items()):
            seconds = 0.05 + 0.0008 * len(others)
            words = f"lines of CPU {holder} by {len(others)} others"
            yield Step(words, seconds, partial(self._pairs, holder, others))
        for cast in self.casts:
            words = f"lines of CPU {cast.holder} by CPU {cast.cpu}"
            yield Step(words, 0.1, partial(self._lines, cast))
        if self.casts:
            yield from self._crowds()
        yield from self._scheduling()
        if number < 3:
            yield from self._contended()
        if number == 0:
            yield from self._chases()
            yield from self._energy()

    def _clock(self) -> None:
        (row,) = self.target.bursts("clock")
        self.cycles_per_second = row["cycles_per_second"]
        self.machine = row["machine"]

    def _lines(self, cast: plan.Cast) -> None:
        cpus = [cast.cpu, cast.holder]
        cpus += [cast.sharer] if cast.sharer is not None else []
        words = ",".join(map(str, cpus))
        for row in self.target.bursts("coherence", "--cpus", words):
            sharers = tuple(row["sharers"])
            key = (row["operation"], row["state"], cast.cpu, cast.holder, sharers)
            self.bursts["line", key].append(row)

    def _pairs(self, holder: int, others: list[int]) -> None:
        lists = [word for cpu in others for word in ("--cpus", f"{cpu},{holder}")]
        for row in self.target.bursts("coherence", "--cases", "load:modified", *lists):
            self.bursts["pair", row["cpu"], holder].append(row)
        self.pause = None

    def _crowds(self) -> Iterator[Step]:
        cpu = self.casts[0].cpu
        for crowd in plan.crowds(self.target.topology, cpu):
            words = f"a line that {len(crowd)} CPUs share"
            yield Step(words, 0.1, partial(self._crowd, cpu, crowd))

    def _crowd(self, cpu: int, crowd: list[int]) -> None:
        cpus = ",".join(map(str, [cpu, *crowd]))
        cases = "load:shared,store:shared,cas:shared"
        for row in self.target.bursts("coherence", "--cases", cases, "--cpus", cpus):
            self.bursts["crowd", row["operation"], cpu, len(crowd)].append(row)

    def _scheduling(self) -> Iterator[Step]:
        numbers = [cpu.number for cpu in self.target.topology.cpus]
        cpu = str(numbers[0])
        named: list[tuple[str, tuple[object, ...], float]] = [
            ("atomic", ("atomic", "--cpus", cpu), 0.03),
            ("issue", ("issue", "--cpus", cpu), 0.03),
            ("timer", ("timer", "--cpus", cpu), 0.03),
            ("pause", ("pause", "--cpus", cpu), 0.03),
            ("call", ("call", "--cpus", cpu), 0.03),
        ]
        if len(numbers) > 1:
            pair = f"{numbers[0]},{numbers[-1]}"
            for name in ("wake", "waking"):
                named.append((name, (name, "--cpus", pair, "--samples", 30), 0.08))
        named.append(("switch", ("switch", "--cpus", cpu), 0.05))
        slices = ("slice", "--cpus", cpu, "--milliseconds", 150)
        named.append(("slice", slices, 0.2))
        for name, words, seconds in named:
            yield Step(name, seconds, partial(self._wait, name, words))
        if len(numbers) > 1:
            yield Step("wake-ups", WAKEUPS_SECONDS, partial(self._wakeups, pair))

    def _wait(self, name: str, words: tuple[object, ...]) -> None:
        # Programs run at ordinary priority, so measure that. What needs no system call
        # costs the same either way.
        self.bursts["wait", name] += self.target.bursts(
            *words, real_time=name in {"atomic", "issue", "timer", "pause"}
        )

    def _wakeups(self, pair: str) -> None:
        words = ("wakeups", "--cpus", pair, "--samples", 30)
        for row in self.target.bursts(*words, real_time=False):
            self.bursts["wakeup", row["part"], row["idle_us"]].append(row)

    def pause_cycles(self) -> int:
        """Return the pause after a contended operation; see PAUSE_FACTOR."""
        if self.pause is None:
            costs = [
                figure.cycles
                for key, bursts in self.bursts.items()
                if key[0] == "pair" and (figure := figure_of(bursts)) is not None
            ]
            self.pause = round(PAUSE_FACTOR * max(costs, default=0.0))
        return self.pause

    def _contended(self) -> Iterator[Step]:
        crews = plan.crews(self.target.topology)
        for operation in CONTENDED:
            for crew in crews:
                words = f"{operation} by {len(crew)} CPUs"
                yield Step(words, 0.06, partial(self._atomic, operation, crew))
        if len(crews) < 2:
            return
        for pattern in PATTERNS:
            crew = crews[-1] if pattern == "client-server" else crews[1]
            words = f"messages, {pattern}"
            yield Step(words, 0.06, partial(self._message, pattern, crew))

    def _run(self, workload: str, crew: list[int], *knobs: str) -> Row:
        cpus = ",".join(map(str, crew))
        duration = DURATION_SIMULATED_NS if self.target.simulated else DURATION_NS
        return self.target.workload(
            *("--workload", workload, "--threads", len(crew), "--cpus", cpus),
            *("--duration-ns", duration, "--warm-up-ns", duration // 4, *knobs),
        )

    def _atomic(self, operation: str, crew: list[int]) -> None:
        pause = self.pause_cycles()
        knobs = (f"operation={operation}", f"think_cycles={pause}")
        row = self._run("atomics", crew, *knobs)
        row["pause_cycles"] = pause
        self.runs["atomic", operation, tuple(crew)].append(row)

    def _message(self, pattern: str, crew: list[int]) -> None:
        row = self._run("messages", crew, f"pattern={pattern}")
        self.runs["message", pattern, tuple(crew)].append(row)

    def _chases(self) -> Iterator[Step]:
        for level, size in chase_sizes(self.target, self.chase_most):
            seconds = 0.1 + 5 * size / (1 << 30)
            words = f"loads from {level}"
            yield Step(words, seconds, partial(self._chase, level, size))

    def _chase(self, level: str, size: int) -> None:
        cpu = self.target.topology.cpus[0].number
        # Without real-time priority: filling that much memory would block a CPU for
        # seconds.
        words = ("chase", "--cpus", cpu, "--bytes", size)
        self.bursts["load", level, size] += self.target.bursts(
            *words, real_time=size <= MIB
        )

    def _energy(self) -> Iterator[Step]:
        if find_meter() is None and not self.target.simulated:
            return
        for way in WAYS:
            seconds = ENERGY_MS / 1000
            yield Step(f"energy, {way}", seconds, partial(self._wait_for, way))

    def _wait_for(self, way: str) -> None:
        """Measure the power of one way to wait, with simulated or real counters."""
        meter = None if self.target.simulated else find_meter()
        count = meter.begin() if meter else None
        cpus = [cpu.number for cpu in self.target.topology.cpus]
        milliseconds = ENERGY_SIMULATED_MS if self.target.simulated else ENERGY_MS
        (row,) = self.target.bursts(
            *("wait", "--cases", way, "--milliseconds", milliseconds),
            *("--cpus", ",".join(map(str, cpus))),
            real_time=False,
        )
        joules = count.joules() if count else None
        if row["energy_pj"] is not None:
            joules = row["energy_pj"] / 1e12
        if joules is None:
            return
        watts = round(joules / (row["ns"] / 1e9), 3)
        self.energy.append({"way": way, "cpus": len(cpus), "watts": watts})


def chase_sizes(target: Target, most: int) -> list[tuple[str, int]]:
    """Return names and sizes (bytes) that fit each level but not the one before."""
    if target.simulated:
        return []
    topology = target.topology
    caches = {cache.level: cache.bytes for cache in topology.cpus[0].caches}
    if not caches:
        caches = {1: 32 * KIB, 2: MIB, 3: 32 * MIB}
    levels = sorted(caches)
    sizes = []
    for index, level in enumerate(levels):
        inner = caches[levels[index - 1]] if index else 0
        size = (
            caches[level] // 2
            if not index
            else min(4 * inner, (inner + caches[level]) // 2)
        )
        name = f"L{level}" if level < 3 else "LLC"
        sizes.append((name, max(size, 4 * KIB)))
    largest = caches[levels[-1]]
    ram = min(4 * largest, most)
    if ram > 2 * largest:
        sizes.append(("RAM", ram))
    return sizes
