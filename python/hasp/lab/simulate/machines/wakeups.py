# SPDX-License-Identifier: MIT
"""What it costs to wake a thread, by how long its CPU has been idle.

The table is optional. Without it, the simulator charges `scheduler.futex_wake` and
`scheduler.waking`, however long that was.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from hasp.base.document import Document

TABLE = "wakeups"
KEYS = ("idle_us", "futex_wake", "waking")
LEAST = {"idle_us": 0, "futex_wake": 1, "waking": 0}  # as the simulator reads them
MOST_ROWS = 32
MOST = 10_000_000  # microseconds, or cycles


@dataclass(frozen=True)
class Wakeup:
    """What it costs from an idle time on, up to the next one's."""

    idle_us: int
    futex_wake: int  # cycles
    waking: int


def read(document: Document) -> tuple[Wakeup, ...]:
    """Return the wake-ups of a machine file, in order; none if it has no table.

    Raises HaspError with file, line and key.
    """
    table: Any = document.get((TABLE,))
    if table is None:
        return ()
    if not isinstance(table, dict):
        document.fail((TABLE,), "must be a table", f"write [{TABLE}]")
    lists = [_numbers(document, key, table.get(key)) for key in KEYS]
    idle = lists[0]
    for key, numbers in zip(KEYS, lists, strict=True):
        if len(numbers) != len(idle):
            words = f"{len(numbers)} numbers, but idle_us has {len(idle)}"
            document.fail((TABLE, key), words, "give one for each idle time")
    if idle[0]:
        words = f"the first idle time is {idle[0]}"
        document.fail((TABLE, "idle_us"), words, "begin with 0: the CPU was busy")
    if any(next_ <= last for last, next_ in pairwise(idle)):
        words = "the idle times do not increase"
        document.fail((TABLE, "idle_us"), words, "order them, and give each once")
    return tuple(Wakeup(*row) for row in zip(*lists, strict=True))


def _numbers(document: Document, key: str, value: Any) -> list[int]:
    keys = (TABLE, key)
    remedy = "write a list of whole numbers, one for each idle time"
    if value is None:
        document.fail(keys, "missing", remedy)
    if not isinstance(value, list) or not value:
        document.fail(keys, "must be a list of numbers", remedy)
    if len(value) > MOST_ROWS:
        document.fail(keys, f"{len(value)} numbers", f"give at most {MOST_ROWS}")
    for number in value:
        if not isinstance(number, int) or isinstance(number, bool):
            document.fail(keys, f"{number!r} is not a whole number", remedy)
        if not LEAST[key] <= number <= MOST:
            bounds = f"write numbers from {LEAST[key]} to {MOST}"
            document.fail(keys, f"{number} is out of bounds", bounds)
    return value
