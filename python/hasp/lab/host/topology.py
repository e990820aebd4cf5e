# SPDX-License-Identifier: MIT
"""The topology that hwloc reports: cores, caches, packages, NUMA nodes."""

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
    """One cache, and the CPUs that share it."""

    level: int
    bytes: int
    cpus: frozenset[int]


@dataclass(frozen=True)
class Cpu:
    """One hardware thread, with its core, package, node and caches."""

    number: int  # the system's number
    core: int  # from here on numbered in hwloc's order
    package: int
    node: int
    caches: tuple[Cache, ...] = ()  # from near to far


@dataclass(frozen=True)
class Topology:
    """The CPUs that may be used, and their relations."""

    cpus: tuple[Cpu, ...]
    nodes: int = 1
    node_distances: tuple[tuple[int, ...], ...] = field(default=())
    known: bool = True  # False: without hwloc only the numbers are known

    def cpu(self, number: int) -> Cpu:
        """Return a CPU by the system's number."""
        return next(cpu for cpu in self.cpus if cpu.number == number)

    def relation(self, first: int, second: int) -> str:
        """Return the name of the innermost unit that contains both CPUs."""
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
        """Return the firmware's distance of two nodes (10: the same), or None."""
        if first < len(self.node_distances) and second < len(self.node_distances):
            return self.node_distances[first][second]
        return None

    def relations(self) -> list[str]:
        """Return all relations between two CPUs that occur, nearest first."""
        numbers = [cpu.number for cpu in self.cpus]
        found = {
            self.relation(one, other)
            for index, one in enumerate(numbers)
            for other in numbers[index + 1 :]
        }
        return sorted(found, key=nearness)

    def cache(self, level: int) -> Cache | None:
        """Return the first CPU's cache of a level; level 0 is its last level."""
        caches = self.cpus[0].caches
        if level == 0:
            return caches[-1] if caches else None
        return next((cache for cache in caches if cache.level == level), None)


def nearness(relation: str) -> tuple[int, int]:
    """Return a sort key that orders relations from near to far."""
    if relation.startswith("shared L"):
        return (1, int(relation.removeprefix("shared L")))
    if relation.startswith(OTHER):
        digits = relation.rpartition(" ")[2]
        return (3, int(digits) if digits.isdecimal() else 0)
    return ({CORE: 0, PACKAGE: 2}.get(relation, 4), 0)


def of_this_machine(allowed: Sequence[int] | None = None) -> Topology:
    """Return hwloc's topology of the allowed CPUs; bare numbers without hwloc."""
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
    """The enclosing units during a walk through hwloc's tree."""

    core: int = -1
    package: int = 0
    node: int = 0
    caches: tuple[Cache, ...] = ()


def parse(text: str, allowed: Sequence[int]) -> Topology:
    """Parse an XML description by hwloc 2, restricted to the allowed CPUs."""
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
        # hwloc lists a NUMA node beside the unit it is attached to.
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
    """Return the CPUs in a mask such as `0x3` or `0xff,0x0` (high words first)."""
    bits = 0
    for word in mask.split(","):
        bits = bits << 32 | int(word or "0", 16)
    return frozenset(index for index in range(bits.bit_length()) if bits >> index & 1)


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
