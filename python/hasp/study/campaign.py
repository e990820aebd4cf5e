# SPDX-License-Identifier: MIT
"""A campaign: the programs, locks, sizes and repetitions of a study, as a TOML file.

Its keys are in docs/hasp-study.md. `[defaults]` applies to every `[[program]]` that
does not override it.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from hasp.base.document import Document, Keys
from hasp.base.durations import parse_duration
from hasp.base.errors import HaspError
from hasp.compare.settings import Metric, Settings, shell_words
from hasp.launch.ready import parse_ready
from hasp.locks.native import PLAN, REFERENCE
from hasp.locks.selection import select
from hasp.locks.site_plan import apply
from hasp.study import shapes
from hasp.study import slurm_settings as cluster
from hasp.study.program import PlanFile, Repetition, StudyProgram
from hasp.study.said import Said

SCHEMA = 1
PINNINGS = ("none", "core", "node")
THROUGHPUT = "throughput"


@dataclass(frozen=True)
class Campaign:
    """A campaign file."""

    path: Path
    title: str
    environment: dict[str, str]
    programs: tuple[StudyProgram, ...]
    slurm: cluster.SlurmSettings = cluster.DEFAULT  # not part of the digest

    @property
    def digest(self) -> str:
        """Equal for two campaigns that need the same runs."""
        content = json.dumps(
            [self.environment, [program.asked() for program in self.programs]],
            sort_keys=True,
        )
        return hashlib.sha256(content.encode()).hexdigest()[:12]

    def where(self, program: str) -> str:
        """File and line where a program is described."""
        lines = (one.line for one in self.programs if one.name == program)
        return f"{self.path}:{next(lines, 1)}"

    @property
    def size_unit(self) -> str:
        """The unit of the sizes, which is the same for all programs."""
        return self.programs[0].settings.unit

    @property
    def configurations(self) -> int:
        """The number of configurations: programs x locks x sizes."""
        return sum(len(program.settings.cells) for program in self.programs)


# The keys of a program, and the types that their values may have.
TYPES: dict[str, tuple[type, ...]] = {
    "command": (str,),
    "workload": (str,),
    "knobs": (dict,),
    "locks": (str, list),
    "plans": (list,),
    "threads": (list,),
    "nodes": (list,),
    "least_runs": (int,),
    "most_runs": (int,),
    "until": (float, int),
    "timeout": (str,),
    "pinning": (str,),
    "seconds": (float, int),
    "cooldown": (str,),
    "noisy_runs": (int,),
    "lock_statistics": (int,),
    "prepare": (str,),
    "check": (str,),
    "server": (str,),
    "ready": (str,),
    "metrics": (dict,),
}
TOP = ("schema", "title", "defaults", "environment", "program", cluster.TABLE)


def load(path: Path) -> Campaign:
    """Read a campaign; errors name its line and key."""
    document = Document.read(path)
    _refuse_unknown(document, (), document.data, TOP)
    if document.get(("schema",)) != SCHEMA:
        document.fail(("schema",), f"is not {SCHEMA}", f"write `schema = {SCHEMA}`")
    for key in ("defaults", "environment"):
        if not isinstance(document.get((key,)) or {}, dict):
            document.fail((key,), "is not a table", f"write [{key}]")
    defaults = document.get(("defaults",)) or {}
    _refuse_unknown(document, ("defaults",), defaults, TYPES)
    programs = document.get(("program",)) or []
    if not isinstance(programs, list) or not all(
        isinstance(one, dict) for one in programs
    ):
        document.fail(("program",), "is not a list of tables", "write [[program]]")
    if not programs:
        document.fail(
            ("program",), "is missing", "write a table [[program]] for each program"
        )
    parsed = []
    for number, own in enumerate(programs):
        _refuse_unknown(document, ("program",), own, ("name", *TYPES), number)
        parsed.append(_program(Said(document, number, own, defaults)))
    names = [program.name for program in parsed]
    for name in names:
        if names.count(name) > 1:
            document.fail(
                ("program",), f"two programs have the name {name!r}", "rename one"
            )
    for number, program in enumerate(parsed):
        if program.settings.unit != parsed[0].settings.unit:
            line = document.line_in_list("program", number)
            raise HaspError(
                f"{path}:{line}: program {program.name} has `{program.settings.unit}`, "
                f"but {parsed[0].name} has `{parsed[0].settings.unit}`",
                "a study has one axis: give all programs `threads`, or all `nodes`",
            )
    environment = document.get(("environment",)) or {}
    return Campaign(
        path,
        document.get(("title",)) or path.stem,
        {name: str(value) for name, value in environment.items()},
        tuple(parsed),
        cluster.of_document(document),
    )


def _refuse_unknown(
    document: Document, keys: Keys, table: dict[str, Any], known: Any, number: int = 0
) -> None:
    """Refuse unknown keys; `number` is the index of the program, in a list of them."""
    for key in table:
        if key not in known:
            import difflib

            near = difflib.get_close_matches(key, list(known), n=1)
            offer = f"did you mean `{near[0]}`? " if near else ""
            line = (
                document.line_in_list("program", number, key)
                if keys == ("program",)
                else document.line_of((*keys, key))
            )
            raise HaspError(
                f"{document.path}:{line}: {'.'.join((*keys, key))}: unknown key",
                f"{offer}known keys: {', '.join(known)}",
            )


def _program(said: Said) -> StudyProgram:
    if "workload" in said and "command" in said:
        said.fail("workload", "excludes `command`", "delete one of the two")
    for key in ("name", "workload" if "workload" in said else "command"):
        if not isinstance(said.get(key), str) or not said.get(key).strip():
            said.fail(key, "is missing", f'write `{key} = "..."`')
    for key, kinds in TYPES.items():
        value = said.get(key)
        if value is not None and (
            not isinstance(value, kinds) or isinstance(value, bool)
        ):
            words = {"str": "text", "dict": "a table", "list": "a list"}
            kind = words.get(kinds[0].__name__, "a number")
            said.fail(key, f"{value!r} is not {kind}", f"make it {kind}")
    if said.get("pinning", "none") not in PINNINGS:
        said.fail("pinning", "is unknown", f"it may be {', '.join(PINNINGS)}")
    plan_files = _plan_files(said)
    plan = _plan(said, plan_files)
    if "workload" in said:
        check = partial(_check_workload, said)
        said.made("workload", check, said.get("workload"))
    return StudyProgram(
        said.get("name"),
        plan,
        "node" if plan.unit == "nodes" else said.get("pinning", "none"),
        _repetition(said),
        float(said.get("seconds", shapes.SECONDS if "workload" in said else 5.0)),
        said.get("workload"),
        said.get("knobs", {}),
        plan_files,
        said.made("cooldown", parse_duration, said.get("cooldown", "0s")),
        _count(said, "noisy_runs", StudyProgram.noisy_runs),
        _count(said, "lock_statistics", StudyProgram.recorded_runs),
        said.line,
    )


def _check_workload(said: Said, workload: str) -> None:
    """Check a workload, its knobs, and the numbers of threads if they are known."""
    counts = said.get("threads", [1]) if said.unit == "threads" else []
    shapes.check(workload, said.get("knobs", {}), counts)


def _plan(said: Said, plan_files: tuple[PlanFile, ...]) -> Settings:
    """The settings of a program: its commands, locks and sizes."""
    unit = said.unit
    sizes = said.get(unit, [1])
    if not sizes or not all(isinstance(n, int) and n > 0 for n in sizes):
        said.fail(unit, f"{sizes!r} is not a list of numbers", "e.g. [1, 2]")
    if (said.get("server") is None) != (said.get("ready") is None):
        key = "server" if "server" in said else "ready"
        said.fail(key, "`server` and `ready` belong together", "add the other")
    chosen = _locks(said)
    chosen.sort(key=lambda lock: lock != REFERENCE)
    for key in ("command", "server"):
        if key in said:
            said.made(key, shell_words, said.get(key))
    return Settings(
        command=tuple(shell_words(said.get("command"))) if "command" in said else (),
        locks=(*chosen, *(file.name for file in plan_files)),
        threads=tuple(sizes),
        timeout_s=said.made("timeout", parse_duration, said.get("timeout", "60s")),
        metrics=(
            *(shapes.METRICS if "workload" in said else ()),
            *(
                _metric(name, metric, said)
                for name, metric in said.get("metrics", {}).items()
            ),
        ),
        prepare=said.get("prepare"),
        check=said.get("check"),
        server=said.get("server"),
        ready=said.made("ready", parse_ready, said.get("ready"))
        if "ready" in said
        else None,
        unit=unit,
    )


def _locks(said: Said) -> list[str]:
    """The names of its locks: text as for --locks, or a list of such words."""
    words = said.get("locks", "all")
    if isinstance(words, list):
        if not all(isinstance(word, str) for word in words):
            said.fail("locks", f"{words!r} is not a list of names", 'e.g. ["mcs"]')
        words = ",".join(words)
    return [lock.name for lock in said.made("locks", select, words)]


def _repetition(said: Said) -> Repetition:
    least = said.get("least_runs", Repetition.least)
    if least < 1:
        said.fail("least_runs", f"{least} is not 1 or more", "make it 1 or more")
    return Repetition(
        least,
        max(said.get("most_runs", Repetition.most), least),
        float(said.get("until", Repetition.until)),
    )


def _count(said: Said, key: str, usual: int) -> int:
    count: int = said.get(key, usual)
    if count < 0:
        said.fail(key, f"{count} is negative", "make it 0 or more")
    return count


def _plan_files(said: Said) -> tuple[PlanFile, ...]:
    """The plans measured like locks; paths are relative to the campaign's folder."""
    names = said.get("plans", [])
    found = []
    for name in names:
        if not isinstance(name, str):
            said.fail(
                "plans", f"{name!r} is not a file name", 'e.g. ["hasp.plan.toml"]'
            )
        path = (said.folder / name).absolute()
        said.made("plans", apply.load, PLAN + str(path))
        digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
        found.append(PlanFile(PLAN + name, str(path), digest))
    return tuple(dict.fromkeys(found))


def _metric(name: str, said: Any, program: Said) -> Metric:
    """Parse `NAME = "pattern"`, or a table with pattern, unit and lower_is_better."""

    def fail(message: str, remedy: str) -> NoReturn:
        program.fail("metrics", f"{name}: {message}", remedy)

    table = {"pattern": said} if isinstance(said, str) else said
    if not isinstance(table, dict) or not isinstance(table.get("pattern"), str):
        fail("has no pattern", 'write `NAME = "ops: ([0-9.]+)"`')
    for key in table:
        if key not in ("pattern", "unit", "lower_is_better"):
            fail(f"{key}: unknown key", "it may be pattern, unit, lower_is_better")
    try:
        groups = re.compile(table["pattern"], re.MULTILINE).groups
    except re.error as problem:
        fail(f"is not a regular expression: {problem}", "correct it")
    if not groups:
        fail("has no group around the number", "write ([0-9.]+) there")
    return Metric(
        name,
        table["pattern"],
        table.get("unit", ""),
        bool(table.get("lower_is_better", False)),
    )
