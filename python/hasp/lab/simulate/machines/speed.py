# SPDX-License-Identifier: MIT
"""How fast a machine runs one thread: its score in a published benchmark.

The ratio of two machines' scores in the same benchmark says how much longer computing
takes on one than on the other. The simulator does not use it: a machine file describes
what a lock costs, and `hasp predict` scales what a program computes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hasp.base.document import Document, Keys

TABLE = "speed"
KEYS = ("benchmark", "score", "low", "high")
MOST = 1e9


@dataclass(frozen=True)
class Speed:
    """The score of one thread; more is faster."""

    benchmark: str
    score: float
    low: float  # bounds of an estimate; the score itself if it is that of the processor
    high: float
    estimated: bool
    words: str  # what has the score: "Opteron 6272"


def read(document: Document, words: str) -> Speed | None:
    """Return the speed that a machine file gives; None if it gives none.

    Raises HaspError with file, line and key.
    """
    table: Any = document.get((TABLE,))
    if table is None:
        return None
    if not isinstance(table, dict):
        document.fail((TABLE,), "must be a table", f"write [{TABLE}]")
    benchmark = table.get("benchmark")
    if not isinstance(benchmark, str) or not benchmark.strip():
        key, remedy = (TABLE, "benchmark"), "name the benchmark in quotes"
        document.fail(key, "missing" if benchmark is None else "must be text", remedy)
    score = _positive(document, (TABLE, "score"), table.get("score"))
    low, high = (
        _positive(document, (TABLE, key), table.get(key, score))
        for key in ("low", "high")
    )
    if not low <= score <= high:
        key = (TABLE, "low" if low > score else "high")
        document.fail(key, "does not bound the score", "write low <= score <= high")
    estimates: Any = document.get(("estimates",))
    estimated = isinstance(estimates, dict) and not estimates.keys().isdisjoint(
        {TABLE, f"{TABLE}.score"}
    )
    return Speed(benchmark.strip(), score, low, high, estimated, words)


def _positive(document: Document, keys: Keys, value: Any) -> float:
    if value is None:
        document.fail(keys, "missing", "write a number: more is faster")
    if not isinstance(value, int | float) or isinstance(value, bool):
        document.fail(keys, f"{value!r} is not a number", "write a number")
    if not 0 < value <= MOST:
        remedy = f"write a number above 0, at most {MOST:,.0f}"
        document.fail(keys, f"{value} is out of bounds", remedy)
    return float(value)
