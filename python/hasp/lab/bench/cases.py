# SPDX-License-Identifier: MIT
"""The cases that `hasp-bench-locks` can measure."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass

from hasp.base.errors import HaspError
from hasp.base.process import capture
from hasp.base.suggestion import did_you_mean
from hasp.locks import native

PROGRAM = "hasp-bench-locks"
GLIBC = native.REFERENCE
FLOOR = "floor"  # an inlined test-and-set byte: the lower bound for mutual exclusion
BATON = "baton"  # the subject of the reference case, which uses no lock
BATON_RING = "baton_ring"
STARTUP = "startup"
# The reference of this case is a baton ring of as many threads.
OVERSUBSCRIBED = "oversubscribed"


@dataclass(frozen=True)
class Case:
    """A case with a number of threads: one group of rows in a report."""

    name: str
    threads: int
    unit: str
    lower_is_better: bool
    seconds: float  # duration of a measurement
    has_floor: bool
    uses_lock: bool
    summary: str


def known_cases() -> list[Case]:
    """Return every case, in the order of reports.

    Raises HaspError if the native program does not run.
    """
    path = native.program(PROGRAM)
    listing = capture([str(path), "--list"], os.environ, timeout=10)
    if listing is None or listing.status != 0:
        raise HaspError(
            f"{path} does not run, so nothing can be measured",
            "install Hasp again for this machine (`pip install .`)",
        )
    found = []
    for line in listing.stdout.splitlines():
        record = json.loads(line)
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
            )
            for threads in record["threads"]
        ]
    return found


def select_cases(text: str | None) -> list[Case]:
    """Return the cases of a comma-separated list of names; None selects all.

    The baton ring is added to the case whose reference it is. Raises HaspError for an
    unknown name.
    """
    cases = known_cases()
    if text is None:
        return cases
    words = {word.strip() for word in text.split(",") if word.strip()}
    names = [case.name for case in cases]
    for word in sorted(words):
        if word not in names:
            offer = did_you_mean(word, names)
            known = ", ".join(dict.fromkeys(names))
            raise HaspError(f"there is no case {word!r}", f"{offer}cases: {known}")
    if not words:
        raise HaspError("no case is selected", "leave --cases out to measure all")
    if OVERSUBSCRIBED in words:
        words.add(BATON_RING)
    return [case for case in cases if case.name in words]
