# SPDX-License-Identifier: MIT
"""The servers with known lock faults, and whether a verdict on one of them is right.

tests/programs/servers/truth.toml documents the fields. A verdict is judged on three
things: the lock, the cause and the remedy, which is right if the program's variant with
it gains at least 80 % of what the best variant gains.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
SERVERS = ROOT / "tests/programs/servers"
FOLDERS = {"tuning": SERVERS, "set-aside": SERVERS / "set_aside"}
THREADS = (1, 2, 4, 8)
CAUSES = frozenset(
    {
        "blocking-section",
        "long-section",
        "tiny-section",
        "unfair",
        "starved-writers",
        "blocked-readers",
        "herd",
        "needless-waits",
        "uneven-stripes",
        "spinning",
        "preempted-holder",
        "convoy",
        "trylock-loop",
        "nested-locks",
        "lock-order",
        "misuse",
        "shared-line",
        "idle-locks",
        "allocation",
        "biased",
        "stuck",
        "not-locks",
        "unseen-locks",
    }
)
HEALTHY = ("not-locks", "unseen-locks")
NO_REMEDY = ("", "none", "other-tool")
SHARE_OF_BEST = 0.8  # of the best known gain, for a remedy to be right
LEAST_GAIN = 0.05  # below this, no variant counts as better than the program itself

SITE = re.compile(r"([\w./-]+\.(?:c|cpp)):(\d+)")


@dataclass(frozen=True)
class Program:
    """One server: its fault, and how a verdict on that fault is recognised."""

    name: str
    half: str
    source: Path
    cause: str
    mutex: tuple[str, ...]
    inside: str  # the class that the mutex is a member of; "" for any
    holder: str
    remedy: str
    fixes: tuple[str, ...]
    finding: bool
    threads: tuple[int, ...]
    elsewhere: tuple[str, ...]
    also: tuple[str, ...]

    @property
    def program(self) -> str:
        """Return the name of the executable."""
        return f"server-{self.name}"

    def runs_with(self, wanted: tuple[int, ...]) -> tuple[int, ...]:
        """Return the numbers of threads to run with: all that are wanted."""
        return wanted

    def causes(self, threads: int) -> tuple[str, ...]:
        """Return the right causes at this number of threads, the expected one first."""
        if threads in self.threads:
            return (self.cause, *self.also)
        return self.elsewhere

    def is_faulty(self, threads: int) -> bool:
        """Return true if the fault exists at this number of threads."""
        return self.cause not in HEALTHY and threads in self.threads

    def has_gains(self) -> bool:
        """Return true if the effect of the remedies can be measured as throughput."""
        return bool(self.fixes) and not self.finding


@dataclass(frozen=True)
class Judgement:
    """The respects in which one verdict is right."""

    lock: bool
    cause: bool
    remedy: bool


@cache
def programs() -> tuple[Program, ...]:
    """Return the programs of both halves, in the order of the files."""
    found = []
    for half, folder in FOLDERS.items():
        text = (folder / "truth.toml").read_text(encoding="utf-8")
        found += [_program(half, item) for item in tomllib.loads(text)["program"]]
    return tuple(found)


def _program(half: str, item: Mapping[str, Any]) -> Program:
    return Program(
        name=item["name"],
        half=half,
        source=FOLDERS[half] / item["source"],
        cause=item["cause"],
        mutex=tuple(item.get("mutex", ())),
        inside=item.get("in", ""),
        holder=item.get("holder", ""),
        remedy=item["remedy"],
        fixes=tuple(item.get("fixes", ())),
        finding=item.get("finding", False),
        threads=tuple(item["threads"]),
        elsewhere=tuple(item.get("elsewhere", ("not-locks",))),
        also=tuple(item.get("also", ())),
    )


def judge(
    program: Program,
    threads: int,
    verdict: Mapping[str, Any],
    gains: Mapping[str, float],
) -> Judgement:
    """Return the judgement; `gains` maps remedies to ratios of throughput."""
    cause, remedy = verdict.get("cause") or "", verdict.get("remedy") or ""
    right = cause in program.causes(threads)
    if not program.is_faulty(threads):
        return Judgement(right or cause in HEALTHY, right, right)
    return Judgement(
        lock=names_lock(program, verdict.get("lock") or ""),
        cause=right,
        remedy=is_remedy(program, remedy, gains),
    )


def names_lock(program: Program, printed: str) -> bool:
    """Return true if the printed lock is the one at fault.

    It is by its name, or by a source line with that name; where `inside` says so, the
    line must also be one of that class.
    """
    lines = program.source.read_text(encoding="utf-8").splitlines()
    site = SITE.search(printed)
    number = int(site[2]) if site else 0
    here = bool(site) and Path(site[1]).name == program.source.name if site else False
    line = lines[number - 1] if here and 0 < number <= len(lines) else ""
    if program.inside and number not in _class_lines(lines, program.inside):
        return False
    expression = printed[site.end() :] if site else printed
    return any(
        _mentions(text, name) for name in program.mutex for text in (expression, line)
    )


def _mentions(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _class_lines(lines: list[str], name: str) -> range:
    opening = re.compile(rf"(?:class|struct) (?:alignas\(\d+\) )?{name}\b[^;]*$")
    for number, line in enumerate(lines, 1):
        if opening.match(line):
            end = lines.index("};", number - 1)
            return range(number, end + 2)
    raise ValueError(f"no class {name}")


def is_remedy(program: Program, remedy: str, gains: Mapping[str, float]) -> bool:
    """Return true if the remedy gains nearly as much as the best one."""
    if remedy in NO_REMEDY:
        return False
    best = max(gains.values(), default=1.0) - 1
    if program.finding or best < LEAST_GAIN:
        return remedy == program.remedy
    return gains.get(remedy, 1.0) - 1 >= SHARE_OF_BEST * best
