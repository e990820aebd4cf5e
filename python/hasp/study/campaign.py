# SPDX-License-Identifier: MIT
"""The plan of a study: which programs, under which locks, at which sizes, how often.

A TOML file; docs/hasp-study.md has its keys. `[defaults]` holds for every `[[program]]`
that does not say otherwise.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from hasp.document import Document, Keys
from hasp.durations import parse_duration
from hasp.errors import HaspError
from hasp.native import REFERENCE
from hasp.selection import select
from hasp.study.plan import Metric, Plan, parse_ready, shell_words

SCHEMA = 1
PINNINGS = ("none", "core", "node")
THROUGHPUT = "throughput"


@dataclass(frozen=True)
class Repetition:
    """How often a configuration runs: until the interval of its mean is narrow."""

    least: int = 5
    most: int = 10
    until: float = 0.05  # half the 95 % interval of the mean, as a share of the mean


@dataclass(frozen=True)
class Program:
    """One program of a study, complete."""

    name: str
    plan: Plan  # locks and thread counts included; its runs and warm-up are not used
    pinning: str
    repetition: Repetition
    seconds: float  # about how long a run takes, before one has been measured
    workload: str | None = None  # of the simulator; there is no command then
    knobs: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Campaign:
    """A whole plan file."""

    path: Path
    title: str
    environment: dict[str, str]
    programs: tuple[Program, ...]

    @property
    def digest(self) -> str:
        """Tells whether two plans ask for the same runs."""
        content = json.dumps(
            [self.environment, [asdict(program) for program in self.programs]],
            sort_keys=True,
        )
        return hashlib.sha256(content.encode()).hexdigest()[:12]

    @property
    def configurations(self) -> int:
        """How many there are: programs x locks x sizes."""
        return sum(len(program.plan.cells) for program in self.programs)


# What a program may say, and the type that it must have.
TYPES: dict[str, tuple[type, ...]] = {
    "command": (str,),
    "workload": (str,),
    "knobs": (dict,),
    "locks": (str,),
    "threads": (list,),
    "least_runs": (int,),
    "most_runs": (int,),
    "until": (float, int),
    "timeout": (str,),
    "pinning": (str,),
    "seconds": (float, int),
    "prepare": (str,),
    "check": (str,),
    "server": (str,),
    "ready": (str,),
    "metrics": (dict,),
}
TOP = ("schema", "title", "defaults", "environment", "program")


def load(path: Path) -> Campaign:
    """The plan in a file; errors name its line and key."""
    document = Document.read(path)
    _refuse_unknown(document, (), document.data, TOP)
    if document.get(("schema",)) != SCHEMA:
        document.fail(("schema",), f"is not {SCHEMA}", f"write `schema = {SCHEMA}`")
    defaults = document.get(("defaults",)) or {}
    _refuse_unknown(document, ("defaults",), defaults, TYPES)
    programs = document.get(("program",))
    if not isinstance(programs, list) or not programs:
        document.fail(
            ("program",), "there is no program", "write a table [[program]] for each"
        )
    parsed = []
    for number, said in enumerate(programs):
        _refuse_unknown(document, ("program",), said, ("name", *TYPES))
        parsed.append(_program(document, number, {**defaults, **said}))
    names = [program.name for program in parsed]
    for name in names:
        if names.count(name) > 1:
            document.fail(("program",), f"two are called {name!r}", "rename one")
    environment = document.get(("environment",)) or {}
    return Campaign(
        path,
        document.get(("title",)) or path.stem,
        {name: str(value) for name, value in environment.items()},
        tuple(parsed),
    )


def _refuse_unknown(
    document: Document, keys: Keys, table: dict[str, Any], known: Any
) -> None:
    for key in table:
        if key not in known:
            import difflib

            near = difflib.get_close_matches(key, list(known), n=1)
            offer = f"did you mean `{near[0]}`? " if near else ""
            line = _line_with(document, key)
            raise HaspError(
                f"{document.path}:{line}: {'.'.join((*keys, key))}: no such key",
                f"{offer}it may be {', '.join(known)}",
            )


def _line_with(document: Document, key: str) -> int:
    """The first line that begins with a key: arrays of tables have no other place."""
    pattern = re.compile(rf"\s*\"?{re.escape(key)}\"?\s*[=.\]]")
    for number, line in enumerate(document.text.splitlines(), 1):
        if pattern.match(line):
            return number
    return 1


def _program(document: Document, number: int, said: dict[str, Any]) -> Program:
    def fail(key: str, message: str, remedy: str) -> HaspError:
        name = said.get("name", f"number {number + 1}")
        line = _line_with(document, key)
        return HaspError(
            f"{document.path}:{line}: program {name}: {key}: {message}", remedy
        )

    if "workload" in said and "command" in said:
        raise fail("workload", "stands beside a command", "delete one of the two")
    for key in ("name", "workload" if "workload" in said else "command"):
        if not isinstance(said.get(key), str) or not said[key].strip():
            raise fail(key, "is missing", f'write `{key} = "..."`')
    for key, kinds in TYPES.items():
        value = said.get(key)
        if value is not None and (
            not isinstance(value, kinds) or isinstance(value, bool)
        ):
            words = {"str": "text", "dict": "a table", "list": "a list"}
            kind = words.get(kinds[0].__name__, "a number")
            raise fail(key, f"{value!r} is not {kind}", f"make it {kind}")
    threads = said.get("threads", [1])
    if not threads or not all(isinstance(n, int) and n > 0 for n in threads):
        raise fail("threads", f"{threads!r} is no list of numbers", "e.g. [1, 2]")
    if said.get("pinning", "none") not in PINNINGS:
        raise fail("pinning", "is unknown", f"it may be {', '.join(PINNINGS)}")
    if (said.get("server") is None) != (said.get("ready") is None):
        raise fail("server", "`server` and `ready` belong together", "add the other")
    try:
        chosen = [lock.name for lock in select(said.get("locks", "all"))]
        plan = Plan(
            command=tuple(shell_words(said["command"])) if "command" in said else (),
            locks=tuple(sorted(chosen, key=lambda lock: lock != REFERENCE)),
            threads=tuple(threads),
            timeout_s=parse_duration(said.get("timeout", "60s")),
            metrics=tuple(
                _metric(name, metric, fail)
                for name, metric in said.get("metrics", {}).items()
            ),
            prepare=said.get("prepare"),
            check=said.get("check"),
            server=said.get("server"),
            ready=parse_ready(said["ready"]) if "ready" in said else None,
        )
    except ValueError as problem:
        raise fail("timeout", str(problem), "write for example 30s") from None
    except HaspError as problem:
        raise HaspError(
            f"{document.path}: program {said['name']}: {problem.message}",
            problem.remedy,
        ) from None
    least = said.get("least_runs", Repetition.least)
    repetition = Repetition(
        least,
        max(said.get("most_runs", Repetition.most), least),
        float(said.get("until", Repetition.until)),
    )
    if least < 1:
        raise fail("least_runs", f"{least} is not 1 or more", "a mean needs a run")
    return Program(
        said["name"],
        plan,
        said.get("pinning", "none"),
        repetition,
        float(said.get("seconds", 5.0)),
        said.get("workload"),
        said.get("knobs", {}),
    )


def _metric(name: str, said: Any, fail: Any) -> Metric:
    """`NAME = "pattern"`, or a table with pattern, unit and lower_is_better."""
    table = {"pattern": said} if isinstance(said, str) else said
    if not isinstance(table, dict) or not isinstance(table.get("pattern"), str):
        raise fail(name, "has no pattern", 'write `NAME = "ops: ([0-9.]+)"`')
    for key in table:
        if key not in ("pattern", "unit", "lower_is_better"):
            raise fail(key, "no such key of a metric", "pattern, unit, lower_is_better")
    try:
        groups = re.compile(table["pattern"], re.MULTILINE).groups
    except re.error as problem:
        raise fail(name, f"is no regular expression: {problem}", "correct it") from None
    if not groups:
        raise fail(name, "has no group around the number", "write ([0-9.]+) there")
    return Metric(
        name,
        table["pattern"],
        table.get("unit", ""),
        bool(table.get("lower_is_better", False)),
    )
