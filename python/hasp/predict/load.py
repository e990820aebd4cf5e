# SPDX-License-Identifier: MIT
"""The load that a program puts on its locks, and its form for the simulator.

A program is a number of threads in different roles. A thread of a role works for some
time, acquires the lock of a site, holds it, sometimes acquires others inside, releases
them, and begins again. Times are means in ns of a thread that always has a CPU.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from hasp.locks.kinds import MUTEX, RWLOCK, Kind

VERSION = 7
SHAPE_VALUES = 128
WEIGHT_OF_ALL = 1 << 20
MILLION = 1_000_000
WEIGHED_MOST = 256  # locks with a weight of their own
PARTS_MOST = 4096  # parts of a lock's data
LINES_MOST = 1 << 18  # of the data of all locks of a site

Shape = tuple[int, ...]  # equally likely multiples of a mean, in permille
CONSTANT: Shape = (1000,) * SHAPE_VALUES


@dataclass(frozen=True)
class LoadSite:
    """The locks of one site."""

    number: int  # of the site in the profile
    name: str
    rwlock: bool
    locks: int
    weights: tuple[int, ...]  # of the locks acquired most; the others share `tail`
    tail: int
    shape: Shape  # of the hold times
    hold_ns: float  # mean of all threads, without sections inside
    inner: tuple[tuple[int, float], ...] = ()  # index of a later site, mean number
    each_worker: bool = False  # each thread has `locks` locks of its own
    misses: float | None = None  # cache misses in a section; None if not measured
    calls: float = 0.0  # share of the sections that make a system call or wait inside
    tries: float = 0.0  # share of the acquisitions by trylock
    meets: bool = False  # all threads that acquire it wait for each other there
    queues: bool = False  # its mutex guards a queue between threads
    slower: float = 1.0  # how much longer a section takes than recorded


@dataclass(frozen=True)
class Scheme:
    """How the program uses its mutexes, and how they are elided."""

    one_lock: bool = False  # all mutexes are the same recursive one
    trylock_nests: bool = False  # a trylock in an elided section elides, too
    nesting: int = 0  # levels of transactions; 0: those of the library


@dataclass(frozen=True)
class Role:
    """Threads that do the same."""

    name: str
    recorded: int  # threads in the recording
    scales: bool  # its threads are the ones that the user asks for
    gap_ns: float  # mean work between two outermost sections
    visits: tuple[tuple[int, float], ...]  # site index, share of outermost sections
    holds_ns: tuple[float, ...]  # by site, without sections inside
    reads: tuple[float, ...]  # by site: share of the sections that only read
    rate: float  # recorded outermost sections of one thread with a CPU per ns
    ran: float = 1.0  # share of the time it had a CPU of the time it could use one
    idle_ns: float = 0.0  # mean time that it sleeps between two outermost sections
    waits: float = 1.0  # how often it does so, of the outermost sections
    puts: tuple[tuple[int, float], ...] = ()  # site index, items put in a section
    takes: frozenset[int] = frozenset()  # sites: each outermost section takes an item
    gaps: Shape | None = None  # times between outermost sections; None: not known
    # Mean time in the kernel, of the work between sections and in them, from one
    # outermost section to the next; None: not known.
    kernel_ns: float | None = None

    @property
    def sleep(self) -> tuple[float, float]:
        """How long it sleeps, in ns, and before which share of the sections."""
        share = min(max(self.waits, 1 / MILLION), 1.0)
        return (self.idle_ns / share, share) if self.idle_ns else (0.0, 0.0)


@dataclass(frozen=True)
class Load:
    """All sites, so that inner ones follow outer ones, and all roles."""

    sites: tuple[LoadSite, ...]
    roles: tuple[Role, ...]  # those that scale come first

    @property
    def workers(self) -> int:
        """The recorded threads of the roles that scale."""
        return sum(role.recorded for role in self.roles if role.scales)

    @property
    def kind(self) -> Kind:
        """The kind of locks whose algorithms are compared: mutexes if there are any."""
        return RWLOCK if all(site.rwlock for site in self.sites) else MUTEX

    @property
    def others(self) -> int:
        """The threads of the roles that do not scale."""
        return sum(role.recorded for role in self.roles if not role.scales)

    @property
    def varied(self) -> str:
        """The times that are simulated as steady and as varying, in words."""
        if any(role.gaps is None for role in self.roles):
            return "steady and varying times between sections"
        idle = any(role.idle_ns for role in self.roles)
        return "steady and varying times of sleep" if idle else ""

    @property
    def rate(self) -> float:
        """The recorded outermost sections of all workers per ns."""
        return sum(role.recorded * role.rate for role in self.roles if role.scales)


@dataclass(frozen=True)
class Variant:
    """Values of what the recording leaves open, and a seed."""

    # Times between sections whose shape is not known, and times of sleep, vary
    # exponentially; else they are constant.
    varies: bool
    lines: int  # most cache lines that a section writes
    seed: int
    parts: int = 1  # of each lock's data; a section writes one, chosen at random


@cache
def exponential() -> Shape:
    """Return the means of equally likely parts of the exponential distribution.

    Their mean is 1, in permille.
    """

    def below(x: float) -> float:
        # integral of t exp(-t) from 0 to x
        return 1 - (1 + x) * math.exp(-x)

    edges = [-math.log1p(-i / SHAPE_VALUES) for i in range(SHAPE_VALUES)]
    sums = [*map(below, edges), 1.0]
    parts = pairwise(sums)
    return tuple(round(1000 * SHAPE_VALUES * (high - low)) for low, high in parts)


def lines_of(site: LoadSite, variant: Variant) -> int:
    """Return the cache lines that a section of a site writes.

    With measured misses, these are the lines. Otherwise a section of a few nanoseconds
    has no time for many; what counts is the time that it took when it was recorded.
    """
    if site.misses is not None:
        return max(1, min(round(site.misses), 64))
    return max(1, min(variant.lines, round(site.hold_ns / site.slower / 10)))


def parts_of(site: LoadSite, variant: Variant) -> int:
    """Return the parts of each lock's data: fewer than asked for if locks are many."""
    most = LINES_MOST // (site.locks * lines_of(site, variant))
    return min(variant.parts, PARTS_MOST, max(1, most))


def threads_by_role(load: Load, workers: int) -> list[int]:
    """Return the threads of each role if `workers` threads scale: in proportion."""
    scaling = [role for role in load.roles if role.scales]
    whole = sum(role.recorded for role in scaling)
    exact = [workers * role.recorded / whole for role in scaling]
    counts = [int(part) for part in exact]
    for place in sorted(range(len(exact)), key=lambda at: counts[at] - exact[at]):
        if sum(counts) < workers:
            counts[place] += 1
    return counts + [role.recorded for role in load.roles if not role.scales]


PLAIN = Scheme()


def described(
    load: Load, workers: int, variant: Variant, scheme: Scheme = PLAIN
) -> str:
    """Return the load of that many workers in the form of the simulator."""
    shapes = {CONSTANT: 0, exponential(): 1}
    for site in load.sites:
        shapes.setdefault(site.shape, len(shapes))
    for role in load.roles:
        shapes.setdefault(role.gaps or CONSTANT, len(shapes))
    switches = (int(scheme.one_lock), int(scheme.trylock_nests), scheme.nesting)
    lines = [str(VERSION), _line(*switches), str(len(shapes))]
    lines += [_line(*shape) for shape in shapes]
    lines.append(str(len(load.sites)))
    lines += [_site(site, shapes, variant) for site in load.sites]
    lines.append(str(len(load.roles)))
    for role, threads in zip(load.roles, threads_by_role(load, workers), strict=True):
        lines.append(_line(*_role(role, threads, shapes, variant)))
    return "\n".join(lines) + "\n"


def _line(*numbers: int) -> str:
    return " ".join(map(str, numbers))


def _site(site: LoadSite, shapes: dict[Shape, int], variant: Variant) -> str:
    lines, parts = lines_of(site, variant), parts_of(site, variant)
    kind = (int(site.rwlock), int(site.each_worker), site.locks)
    head = (*kind, lines, parts, shapes[site.shape])
    inner = [part for at, times in site.inner for part in (at, round(1000 * times))]
    return _line(
        *head,
        *(round(1000 * site.calls), round(1000 * site.tries)),
        *(int(site.meets), int(site.queues)),
        *(len(site.weights), *site.weights, site.tail),
        *(len(site.inner), *inner),
    )


def _role(
    role: Role, threads: int, shapes: dict[Shape, int], variant: Variant
) -> Iterator[int]:
    varying = int(variant.varies)
    gaps = shapes[role.gaps] if role.gaps else varying
    yield from (threads, int(not role.scales), round(role.gap_ns), gaps)
    sleep_ns, share = role.sleep
    yield from (round(sleep_ns), varying, round(share * MILLION))
    yield len(role.visits)
    for site, share in role.visits:
        yield from (site, max(1, round(share * WEIGHT_OF_ALL)))
    puts = dict(role.puts)
    for at, (hold_ns, reads) in enumerate(zip(role.holds_ns, role.reads, strict=True)):
        yield from (round(hold_ns), round(1000 * reads))
        yield from (round(1000 * puts.get(at, 0.0)), int(at in role.takes))


def weights_of(acquisitions: Sequence[int]) -> tuple[list[int], int]:
    """Return weights of the locks acquired most, and that of all others together."""
    ordered = sorted(acquisitions, reverse=True)
    scale = WEIGHT_OF_ALL / max(sum(ordered), 1)
    head = [max(1, round(one * scale)) for one in ordered[:WEIGHED_MOST]]
    rest = ordered[WEIGHED_MOST:]
    return head, max(1, round(sum(rest) * scale)) if rest else 0
