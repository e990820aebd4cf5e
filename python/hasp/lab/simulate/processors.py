# SPDX-License-Identifier: MIT
"""The speed of a processor, by a table of published scores (processors.toml)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

from hasp.base.document import Document
from hasp.lab.simulate.machines.speed import Speed

FILE = Path(__file__).with_name("processors.toml")
# Of the names in /proc/cpuinfo: "Intel(R) Xeon(R) Gold 6226 CPU @ 2.70GHz", "AMD EPYC
# 7763 64-Core Processor", "AMD Opteron(TM) Processor 6272".
NOISE = re.compile(
    r"\((?:r|tm)\)|\bcpu\b|\bprocessor\b|\b\d+-core\b|@.*", re.IGNORECASE
)


@dataclass(frozen=True)
class Generation:
    """Processors with the same cores, whose clocks differ."""

    name: str
    processor: str  # its part of base.host.processor()
    source: str
    scores: dict[str, float]  # by the processor's name


@cache
def generations() -> tuple[str, tuple[Generation, ...]]:
    """Return the benchmark and the table's generations."""
    document = Document.read(FILE)
    tables: Any = document.get(("generation",))
    sources: Any = document.get(("sources",))
    made = (
        Generation(one["name"], one["processor"], sources[one["source"]], one["scores"])
        for one in tables
    )
    return str(document.get(("benchmark",))), tuple(made)


def speed_of(processor: str) -> Speed | None:
    """Return the speed of a processor as `base.host.processor()` names it.

    It is an estimate if only the generation is known; None if not even that is.
    """
    found = _find(processor)
    if found is None:
        return None
    benchmark, _ = generations()
    generation, listed = found
    if listed:
        score = generation.scores[listed]
        return Speed(benchmark, score, score, score, False, listed)
    scores = sorted(generation.scores.values())
    middle = float(median(scores))
    return Speed(benchmark, middle, scores[0], scores[-1], True, generation.name)


def source_of(processor: str) -> str:
    """Return where the speed of a processor that has one was published."""
    found = _find(processor)
    assert found
    return found[0].source


def _find(processor: str) -> tuple[Generation, str] | None:
    """Return its generation, and its name there; that is empty if it is not listed."""
    _, known = generations()
    name, _, kind = processor.partition(", ")
    for one in known:
        for listed in one.scores:
            if _plain(listed) == _plain(name):
                return one, listed
    for one in known:
        if one.processor in (kind, name):
            return one, ""
    return None


def _plain(name: str) -> str:
    """Return a processor's name without what does not distinguish it."""
    return " ".join(NOISE.sub(" ", name).split()).lower()
