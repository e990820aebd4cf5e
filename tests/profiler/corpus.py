# SPDX-License-Identifier: MIT
"""The corpus of bottlenecks: the rows of corpus.toml, and how to run one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import tomli
from lock_list import BUILD

FOLDER = Path(__file__).parents[1] / "programs" / "bottlenecks"
PROGRAM = BUILD / "tests" / "programs" / "bottlenecks" / "bottleneck"


@dataclass(frozen=True)
class Row:
    """One row: what to run, what it shows, and what should be advised."""

    name: str
    parts: tuple[str, ...]
    threads: int
    bottlenecks: frozenset[str]
    verb: str | None  # "prefer" or "avoid" the locks with these properties
    locks: frozenset[str]
    site: str | None  # the file whose lock the verdict has to name
    table17: bool

    def command(self, seconds: float, seed: int = 1) -> list[str]:
        """The command line, for so long."""
        options = [f"--threads={self.threads}", f"--seconds={seconds}"]
        return [str(PROGRAM), *options, f"--seed={seed}", *self.parts]


def _row(record: dict[str, Any]) -> Row:
    return Row(
        name=record["name"],
        parts=tuple(record["parts"]),
        threads=record["threads"],
        bottlenecks=frozenset(record["bottlenecks"]),
        verb=record.get("verb"),
        locks=frozenset(record.get("locks", ())),
        site=record.get("site"),
        table17=record.get("table17", False),
    )


@cache
def rows() -> tuple[Row, ...]:
    """All of them, in the file's order."""
    text = (FOLDER / "corpus.toml").read_text(encoding="utf-8")
    return tuple(map(_row, tomli.loads(text)["program"]))
