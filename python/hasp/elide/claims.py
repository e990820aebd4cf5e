# SPDX-License-Identifier: MIT
"""Measurements of Moore's thesis on a Core i7-4770, beside simulations.

The loads resemble those of the programs: short sections in many cells (fluidanimate),
sections that make a system call (dedup), and nested sections.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hasp.base.errors import EXIT_FINDING, EXIT_FINE
from hasp.base.output import STDOUT, check_writable, console, write_json
from hasp.base.signals import interrupt_on_signals
from hasp.elide.configurations import (
    ELIDE,
    ELIDE_GLOBAL,
    FINE,
    GLOBAL,
    Configuration,
)
from hasp.elide.predict import refuse_machine
from hasp.lab.simulate.machines.machine import Machine
from hasp.lab.simulate.simulation import flattened
from hasp.predict.load import CONSTANT, Load, LoadSite, Role, Scheme, Variant
from hasp.predict.report import number
from hasp.predict.runs import Case, Outcome, Runs
from hasp.profile.report.layout import print_table
from hasp.profile.report.text import say

SCHEMA = "hasp.elide.claims/1"
THREADS = 8
LOCK = "futex"
STEADY = Variant(varies=False, lines=1, seed=1)
CYCLES_NS = 1 / 3.4
DEEPER = 8  # levels of transactions that are begun, one more than the processor has


def _program(
    sites: Sequence[LoadSite], gap_ns: float, holds_ns: Sequence[float]
) -> Load:
    role = Role(
        "worker",
        THREADS,
        True,
        gap_ns,
        ((0, 1.0),),
        tuple(holds_ns),
        (0.0,) * len(sites),
        1.0,
    )
    return Load(tuple(sites), (role,))


def _site(number: int, locks: int, hold_ns: float, **more: Any) -> LoadSite:
    tail = 1 if locks > 1 else 0
    weights = () if locks > 1 else (1,)
    name = f"site {number}"
    return LoadSite(
        *(number, name, False, locks, weights, tail, CONSTANT, hold_ns), **more
    )


def light() -> Load:
    """Return a load of threads that enter short sections of 4,096 cells.

    The time between them is chosen so that one lock for all is as slow as the thesis
    measured. The other figures follow from it.
    """
    return _program([_site(1, 4096, 0.0)], 340 * CYCLES_NS, [0.0])


def calling() -> Load:
    """Return a load of threads whose sections make a system call."""
    ns = 2000 * CYCLES_NS
    return _program([_site(1, 4096, ns, calls=1.0)], ns, [ns])


def nested(levels: int) -> Load:
    """Return a load of threads that each hold so many locks of their own at once."""
    sites = [
        _site(n, 1, 10.0, each_worker=True, inner=((n, 1.0),) if n < levels else ())
        for n in range(1, levels + 1)
    ]
    return _program(sites, 1000.0, [10.0] * levels)


@dataclass(frozen=True)
class Claim:
    """One figure of the thesis, and the simulated one."""

    what: str
    section: str
    thesis: str
    simulated: float
    low: float
    high: float
    unit: str = "x"

    @property
    def holds(self) -> bool:
        """True if the simulated figure is within the limits."""
        return self.low <= self.simulated <= self.high

    @property
    def words(self) -> str:
        """The simulated figure as text."""
        if self.unit == "%":
            return f"{100 * self.simulated:.2f} %"
        return number(self.simulated)


Simulate = Callable[[Load, Sequence[Case]], Mapping[Case, Outcome]]


def _slowdowns(
    simulate: Simulate, load: Load, of: Sequence[Configuration]
) -> dict[Configuration, float]:
    """Return the time relative to that of the fine locks."""
    cases = {
        one: Case(one.lock(LOCK), THREADS, STEADY, scheme=one.scheme)
        for one in (FINE, *of)
    }
    done = simulate(load, list(cases.values()))
    base = done[cases[FINE]].throughput
    return {one: base / max(done[cases[one]].throughput, 1e-12) for one in of}


def claims(simulate: Simulate) -> Iterator[Claim]:
    """Yield the claims; `simulate` carries out the simulations of a load."""
    three = (GLOBAL, ELIDE, ELIDE_GLOBAL)
    found = _slowdowns(simulate, light(), three)
    text = "fluidanimate-like: "
    yield Claim(f"{text}global", "1.1", "6.62", found[GLOBAL], 5.3, 7.9)
    yield Claim(f"{text}elide", "1.1", "1.10", found[ELIDE], 1.0, 1.2)
    yield Claim(
        f"{text}elide-global", "5.4.1", "1.16, at most 1.2", found[ELIDE_GLOBAL], 0, 1.2
    )
    found = _slowdowns(simulate, calling(), three)
    text = "dedup-like: "
    yield Claim(f"{text}global", "5.4.1", "almost 5", found[GLOBAL], 4, 6)
    yield Claim(f"{text}elide", "5.4.1", "about 1", found[ELIDE], 0.9, 1.1)
    yield Claim(f"{text}elide-global", "5.4.1", "as global", found[ELIDE_GLOBAL], 4, 6)
    for levels, thesis, low, high in ((7, "99.99 %", 0.99, 1), (8, "0 %", 0, 0)):
        yield Claim(
            f"{levels} nested transactions commit",
            "5.1.1",
            thesis,
            _committed(simulate, levels),
            low,
            high,
            "%",
        )


def _committed(simulate: Simulate, levels: int) -> float:
    """Return the share of sections with so many levels that commit as one."""
    case = Case(ELIDE.lock(LOCK), 1, STEADY, scheme=Scheme(nesting=DEEPER))
    outer = simulate(nested(levels), [case])[case].sites[0]
    return outer.elided / max(outer.sections, 1)


def validate(machine: Machine, json: str | None, jobs: int | None) -> int:
    """Print the claims; returns 1 if the simulation contradicts one."""
    refuse_machine(machine)
    if json:
        check_writable(json)
    interrupt_on_signals()
    with flattened(machine) as machine_file:
        found = list(
            claims(
                lambda load, cases: Runs(load, machine, machine_file).run(cases, jobs)
            )
        )
    if json:
        write_json([_document(machine, found)], json)
    if json != STDOUT:
        _show(machine, found)
    return EXIT_FINE if all(one.holds for one in found) else EXIT_FINDING


def _document(machine: Machine, found: Sequence[Claim]) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "kind": "simulation",
        "machine": machine.name,
        "threads": THREADS,
        "claims": [
            {
                "claim": one.what,
                "section": one.section,
                "thesis": one.thesis,
                "simulated": one.simulated,
                "low": one.low,
                "high": one.high,
                "holds": one.holds,
            }
            for one in found
        ],
    }


def _show(machine: Machine, found: Sequence[Claim]) -> None:
    out = console()
    holding = sum(one.holds for one in found)
    say(
        out,
        f"Simulated on {machine.title}, beside what Moore's thesis measured on a Core "
        f"i7-4770: {holding} of {len(found)} agree. Slowdowns relative to one futex "
        f"for each cell, {THREADS} threads:",
        style="bold",
    )
    rows = [
        [one.what, one.section, one.thesis, one.words, "yes" if one.holds else "no"]
        for one in found
    ]
    print_table(out, ["", "section", "thesis", "simulated", "agrees"], rows)
