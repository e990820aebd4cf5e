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
    benchmark, known = generations()
    name, _, kind = processor.partition(", ")
    for one in known:
        for listed, score in one.scores.items():
            if _plain(listed) == _plain(name):
                return Speed(benchmark, score, score, score, False, listed)
    for one in known:
        if one.processor in (kind, name):
            scores = sorted(one.scores.values())
            middle = float(median(scores))
            return Speed(benchmark, middle, scores[0], scores[-1], True, one.name)
    return None


def source_of(processor: str) -> str:
    """Return where the speed of a processor that has one was published."""
    _, known = generations()
    name, _, kind = processor.partition(", ")
    return next(
        one.source
        for one in known
        if any(_plain(listed) == _plain(name) for listed in one.scores)
        or one.processor in (kind, name)
    )


def _plain(name: str) -> str:
    """Return a processor's name without what does not distinguish it."""
    return " ".join(NOISE.sub(" ", name).split()).lower()
