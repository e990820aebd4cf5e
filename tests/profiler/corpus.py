# SPDX-License-Identifier: MIT
"""The corpus of bottlenecks: the rows of corpus.toml, and how to run one."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lock_list import BUILD

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from hasp.profile.diagnosis.verdict import Verdict

FOLDER = Path(__file__).parents[1] / "programs" / "bottlenecks"
PROGRAM = BUILD / "tests" / "programs" / "bottlenecks" / "bottleneck"


# Maps the lock study's terms for properties of locks to the advisor's terms.
PROPERTIES = {
    "fifo": "fifo",
    "light": "light",
    "parking": "parks",
    "hierarchical": "numa",
    "contention-hardened-trylock": "trylock_hardened",
    "low-memory-footprint": "small",
    "low-memory-traffic": "throttles",
}
VERBS = {"require": "prefer", "exclude": "avoid"}


@dataclass(frozen=True)
class Row:
    """One row: the program to run, its bottlenecks, and the expected advice."""

    name: str
    parts: tuple[str, ...]
    threads: int
    seconds: float  # enough for the profile to show the bottlenecks
    bottlenecks: frozenset[str]
    verb: str | None  # "prefer" or "avoid" the locks with these properties
    locks: frozenset[str]
    site: str | None  # the file whose lock the verdict has to name
    table17: bool

    @property
    def advice(self) -> set[str]:
        """Return the expected advice, in the form that `advice_of` returns."""
        return {f"{self.verb} {PROPERTIES[name]}" for name in self.locks}

    def command(self, seed: int = 1, seconds: float | None = None) -> list[str]:
        """Return the command line; `seconds` overrides the duration in the corpus."""
        options = [f"--threads={self.threads}", f"--seconds={seconds or self.seconds}"]
        return [str(PROGRAM), *options, f"--seed={seed}", *self.parts]


@dataclass(frozen=True)
class Simulated:
    """A row that runs on a simulated machine, as arguments of `hasp simulate`."""

    name: str
    arguments: tuple[str, ...]
    bottlenecks: frozenset[str]
    advice: frozenset[str]


def advice_of(verdict: Verdict) -> set[str]:
    """Return the advice for the worst site in the study's terms ("avoid fifo")."""
    words = [advice.split(" ") for advice in _first_advice(verdict)]
    return {f"{VERBS.get(verb, verb)} {name}" for verb, name in words}


def _first_advice(verdict: Verdict) -> tuple[str, ...]:
    return verdict.sites[0].advice if verdict.sites else ()


def _row(record: dict[str, Any]) -> Row:
    return Row(
        name=record["name"],
        parts=tuple(record["parts"]),
        threads=record["threads"],
        seconds=record.get("seconds", 1.0),
        bottlenecks=frozenset(record["bottlenecks"]),
        verb=record.get("verb"),
        locks=frozenset(record.get("locks", ())),
        site=record.get("site"),
        table17=record.get("table17", False),
    )


@cache
def _file() -> dict[str, Any]:
    return tomllib.loads((FOLDER / "corpus.toml").read_text(encoding="utf-8"))


@cache
def rows() -> tuple[Row, ...]:
    """Return all native rows, in the order of the file."""
    return tuple(map(_row, _file()["program"]))


@cache
def simulated_rows() -> tuple[Simulated, ...]:
    """Return all simulated rows, in the order of the file."""
    return tuple(
        Simulated(
            name=record["name"],
            arguments=tuple(record["arguments"]),
            bottlenecks=frozenset(record["bottlenecks"]),
            advice=frozenset(
                f"{record['verb']} {PROPERTIES[name]}"
                for name in record.get("locks", ())
            ),
        )
        for record in _file()["simulated"]
    )
