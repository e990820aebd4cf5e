# SPDX-License-Identifier: MIT
"""The cases that the native programs of `hasp bench` can measure."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hasp.base.errors import HaspError
from hasp.base.process import capture
from hasp.base.suggestion import did_you_mean
from hasp.locks import native
from hasp.locks.kinds import MUTEX, Kind

MUTEX_PROGRAM = "hasp-bench-locks"
PROGRAM_OF_OTHERS = "hasp-bench-primitives"
GLIBC = native.REFERENCE
FLOOR = "floor"  # an inlined test-and-set byte: the lower bound for mutual exclusion
BATON = "baton"  # the subject of the reference case, which uses no lock
BATON_RING = "baton_ring"
STARTUP = "startup"
# The reference of these cases is a baton ring of as many threads.
OVERSUBSCRIBED = "oversubscribed"
THINK_TIME = "think_time"
# The one think time that summaries and quick runs include: about as short as a section,
# so that the lock matters most without being taken again at once.
SHORT_THINK_NS = 100


@dataclass(frozen=True)
class Case:
    """A case with a load: one group of rows in a report."""

    name: str
    threads: int
    unit: str
    lower_is_better: bool
    seconds: float  # duration of a measurement
    has_floor: bool
    uses_lock: bool
    summary: str
    think_ns: int | None = None  # work outside the section; None: the case has none
    pinned: bool = False  # for cases with a think time: threads stay on one CPU
    kind: str = MUTEX.name  # of the locks that it measures

    @property
    def load(self) -> str:
        """Return the load in words: `8 threads, pinned, think time 100 ns`."""
        words = "1 thread" if self.threads == 1 else f"{self.threads} threads"
        if self.think_ns is None:
            return words
        place = ", pinned" if self.pinned else ""
        micro = self.think_ns >= 1000
        think = f"{self.think_ns / 1000:g} us" if micro else f"{self.think_ns} ns"
        return f"{words}{place}, think time {think}"

    def think_fields(self) -> dict[str, int | bool]:
        """Return the fields of a row that tell think times apart, if it has one."""
        if self.think_ns is None:
            return {}
        return {"think_ns": self.think_ns, "pinned": self.pinned}

    @property
    def is_brief(self) -> bool:
        """Return whether summaries and quick runs include the case."""
        return self.think_ns is None or (
            self.pinned and self.think_ns == SHORT_THINK_NS
        )


def program_for(kind: Kind) -> str:
    """Return the name of the native program that measures a kind of locks."""
    return MUTEX_PROGRAM if kind is MUTEX else PROGRAM_OF_OTHERS


def known_cases(kind: Kind = MUTEX) -> list[Case]:
    """Return every case of a kind, in the order of reports.

    Raises HaspError if the native program does not run.
    """
    path = native.program(program_for(kind))
    listing = capture([str(path), "--list"], os.environ, timeout=10)
    if listing is None or listing.status != 0:
        raise HaspError(
            f"{path} does not run, so nothing can be measured",
            "install Hasp again for this machine (`pip install .`)",
        )
    found = []
    for line in listing.stdout.splitlines():
        record = json.loads(line)
        if record.get("kind", MUTEX.name) != kind.name:
            continue
        found += [
            Case(
                name=record["case"],
                threads=threads,
                unit=record["unit"],
                lower_is_better=record["better"] == "lower",
                seconds=record["seconds"],
                has_floor=record["floor"],
                uses_lock=record["lock"],
                summary=record["summary"],
                think_ns=think_ns,
                pinned=pinned,
                kind=kind.name,
            )
            for threads, pinned, think_ns in loads_of(record)
        ]
    return found


def loads_of(record: dict[str, Any]) -> Iterator[tuple[int, bool, int | None]]:
    """Yield threads, whether they are pinned, and the think time in ns, of a case."""
    thinks = record["think_ns"]
    places = (True, False) if thinks else (False,)
    for pinned, threads in itertools.product(places, record["threads"]):
        for think_ns in thinks or (None,):
            yield threads, pinned, think_ns


def select_cases(
    text: str | None, *, quick: bool = False, kind: Kind = MUTEX
) -> list[Case]:
    """Return the cases of a comma-separated list of names; None selects all.

    The baton ring is added to the cases whose reference it is. With `quick`, None
    selects few think times. Raises HaspError for an unknown name.
    """
    cases = known_cases(kind)
    if text is None:
        return [case for case in cases if case.is_brief or not quick]
    words = {word.strip() for word in text.split(",") if word.strip()}
    names = [case.name for case in cases]
    for word in sorted(words):
        if word not in names:
            offer = did_you_mean(word, names)
            known = ", ".join(dict.fromkeys(names))
            raise HaspError(f"there is no case {word!r}", f"{offer}cases: {known}")
    if not words:
        raise HaspError("no case is selected", "leave --cases out to measure all")
    if words & {OVERSUBSCRIBED, THINK_TIME}:
        words.add(BATON_RING)
    return [case for case in cases if case.name in words]
