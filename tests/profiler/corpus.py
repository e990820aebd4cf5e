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


# The study's words for locks, and the advisor's.
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
    """One row: what to run, what it shows, and what should be advised."""

    name: str
    parts: tuple[str, ...]
    threads: int
    seconds: float  # for which a profile tells what it should
    bottlenecks: frozenset[str]
    verb: str | None  # "prefer" or "avoid" the locks with these properties
    locks: frozenset[str]
    site: str | None  # the file whose lock the verdict has to name
    table17: bool

    @property
    def advice(self) -> set[str]:
        """As `advice_of` gives it."""
        return {f"{self.verb} {PROPERTIES[name]}" for name in self.locks}

    def command(self, seed: int = 1, seconds: float | None = None) -> list[str]:
        """The command line, perhaps for another time."""
        options = [f"--threads={self.threads}", f"--seconds={seconds or self.seconds}"]
        return [str(PROGRAM), *options, f"--seed={seed}", *self.parts]


@dataclass(frozen=True)
class Simulated:
    """The same on a simulated machine: arguments of `hasp simulate`."""

    name: str
    arguments: tuple[str, ...]
    bottlenecks: frozenset[str]
    advice: frozenset[str]


def advice_of(verdict: Verdict) -> set[str]:
    """What the worst site is advised, in the two verbs of the study: "avoid fifo"."""
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
    """All of them, in the file's order."""
    return tuple(map(_row, _file()["program"]))


@cache
def simulated_rows() -> tuple[Simulated, ...]:
    """Those that are simulated."""
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
