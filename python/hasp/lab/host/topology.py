# SPDX-License-Identifier: MIT
"""Which CPUs share what, as hwloc says: cores, caches, packages, NUMA nodes."""

from __future__ import annotations

import os
import shutil
import subprocess
import xml.etree.ElementTree as xml
from collections.abc import Sequence
from dataclasses import dataclass, field

LSTOPO = ("lstopo-no-graphics", "lstopo")
CORE = "same core"
PACKAGE = "same package"
OTHER = "other package"
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Cache:
    """One cache, and who has it."""

    level: int
    bytes: int
    cpus: frozenset[int]


@dataclass(frozen=True)
class Cpu:
    """One hardware thread, and what it is part of."""

    number: int  # the system's
    core: int  # numbers of our own from here on, in hwloc's order
    package: int
    node: int
    caches: tuple[Cache, ...] = ()  # from near to far


@dataclass(frozen=True)
class Topology:
    """The CPUs that may be used."""

    cpus: tuple[Cpu, ...]
    nodes: int = 1
    node_distances: tuple[tuple[int, ...], ...] = field(default=())
    known: bool = True  # False: hwloc is not there, and nothing is known but numbers

    def cpu(self, number: int) -> Cpu:
        """The CPU of that number."""
        return next(cpu for cpu in self.cpus if cpu.number == number)

    def relation(self, first: int, second: int) -> str:
        """The innermost thing that both are part of, in words."""
        if not self.known:
            return UNKNOWN
        one, other = self.cpu(first), self.cpu(second)
        if one.core == other.core:
            return CORE
        for cache in one.caches:
            if second in cache.cpus:
                return f"shared L{cache.level}"
        if one.package == other.package:
            return PACKAGE
        distance = self.node_distance(one.node, other.node)
        return OTHER if distance is None else f"{OTHER}, distance {distance}"

    def node_distance(self, first: int, second: int) -> int | None:
        """What the firmware says, with 10 for a node itself."""
        if first < len(self.node_distances) and second < len(self.node_distances):
            return self.node_distances[first][second]
        return None

    def relations(self) -> list[str]:
        """All that occur between two CPUs, from near to far."""
        numbers = [cpu.number for cpu in self.cpus]
        found = {
            self.relation(one, other)
            for place, one in enumerate(numbers)
            for other in numbers[place + 1 :]
        }
        return sorted(found, key=nearness)

    def cache(self, level: int) -> Cache | None:
        """The first CPU's cache of that level; the farthest one for level 0."""
        caches = self.cpus[0].caches
        if level == 0:
            return caches[-1] if caches else None
        return next((cache for cache in caches if cache.level == level), None)


def nearness(relation: str) -> tuple[int, int]:
    """What to sort relations by, from near to far."""
    if relation.startswith("shared L"):
        return (1, int(relation.removeprefix("shared L")))
    if relation.startswith(OTHER):
        digits = relation.rpartition(" ")[2]
        return (3, int(digits) if digits.isdecimal() else 0)
    return ({CORE: 0, PACKAGE: 2}.get(relation, 4), 0)


def of_this_machine(allowed: Sequence[int] | None = None) -> Topology:
    """What hwloc says of the CPUs that may be used; bare numbers without hwloc."""
    numbers = sorted(os.sched_getaffinity(0) if allowed is None else allowed)
    text = _lstopo()
    if text is not None:
        topology = parse(text, numbers)
        if {cpu.number for cpu in topology.cpus} == set(numbers):
            return topology
    bare = tuple(Cpu(number, number, 0, 0) for number in numbers)
    return Topology(bare, known=False)


def _lstopo() -> str | None:
    for name in LSTOPO:
        path = shutil.which(name)
        if not path:
            continue
        try:
            done = subprocess.run(
                [path, "--of", "xml", "--no-io"],
                capture_output=True,
                text=True,
                timeout=30,
            )
        except (OSError, subprocess.SubprocessError):
            continue
        if done.returncode == 0:
            return done.stdout
    return None


@dataclass
class _Place:
    """Where a walk through hwloc's tree stands."""

    core: int = -1
    package: int = 0
    node: int = 0
    caches: tuple[Cache, ...] = ()


def parse(text: str, allowed: Sequence[int]) -> Topology:
    """The allowed CPUs of an XML description by hwloc, version 2."""
    root = xml.fromstring(text)
    found: dict[int, Cpu] = {}
    counts = {"Core": 0, "Package": 0}
    nodes: list[str] = []

    def walk(element: xml.Element, place: _Place) -> None:
        kind = element.get("type", "")
        place = _Place(place.core, place.package, place.node, place.caches)
        if kind == "Package":
            place.package = counts["Package"]
            counts["Package"] += 1
        elif kind == "Core":
            place.core = counts["Core"]
            counts["Core"] += 1
        elif kind.endswith("Cache") and element.get("cache_type") in ("0", "1"):
            cache = Cache(
                int(element.get("depth", 0)),
                int(element.get("cache_size", 0)),
                cpus_of(element.get("cpuset", "")),
            )
            place.caches = (cache, *place.caches)
        elif kind == "PU":
            number = int(element.get("os_index", -1))
            found[number] = Cpu(
                number, place.core, place.package, place.node, place.caches
            )
        # Memory hangs beside what is next to it: those CPUs are on that node.
        for child in element.findall("object"):
            if child.get("type") == "NUMANode":
                nodes.append(child.get("os_index", "0"))
                place.node = len(nodes) - 1
        for child in element.findall("object"):
            walk(child, place)

    for element in root.findall("object"):
        walk(element, _Place())
    cpus = tuple(found[number] for number in sorted(allowed) if number in found)
    return Topology(cpus, max(1, len(nodes)), _distances(root, len(nodes)))


def cpus_of(mask: str) -> frozenset[int]:
    """The numbers in a mask such as `0x00000003` or `0xff,0x0`, high words first."""
    bits = 0
    for word in mask.split(","):
        bits = bits << 32 | int(word or "0", 16)
    return frozenset(place for place in range(bits.bit_length()) if bits >> place & 1)


def _distances(root: xml.Element, nodes: int) -> tuple[tuple[int, ...], ...]:
    for element in root.findall("distances2"):
        if element.get("type") != "NUMANode":
            continue
        values = [
            int(word)
            for part in element.findall("u64values")
            for word in (part.text or "").split()
        ]
        if len(values) == nodes * nodes:
            return tuple(
                tuple(values[row * nodes : (row + 1) * nodes]) for row in range(nodes)
            )
    return ()
