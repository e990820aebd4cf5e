# SPDX-License-Identifier: MIT
"""A campaign: the programs, locks, sizes and repetitions of a study, as a TOML file.

Its keys are in docs/hasp-study.md. `[defaults]` applies to every `[[program]]` that
does not override it.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from hasp.base.document import Document, Keys
from hasp.base.durations import parse_duration
from hasp.base.errors import HaspError
from hasp.base.suggestion import did_you_mean
from hasp.compare.settings import Metric, Settings, shell_words
from hasp.launch.ready import parse_ready
from hasp.locks.given import label
from hasp.locks.kinds import KINDS, MUTEX
from hasp.locks.native import REFERENCE
from hasp.locks.selection import select
from hasp.locks.site_plan import toml_file
from hasp.locks.site_plan.model import SitePlan
from hasp.locks.site_plan.name import PREFIX
from hasp.study import shapes
from hasp.study import slurm_settings as cluster
from hasp.study.program import PlanFile, Repetition, StudyProgram
from hasp.study.program_table import ProgramTable

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
        """Return the file and line of a program's description."""
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
    **{kind.list_option[2:]: (str, list) for kind in KINDS if kind is not MUTEX},
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
        parsed.append(_program(ProgramTable(document, number, own, defaults)))
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
    """Refuse unknown keys; `number` is the program's index if there are several."""
    for key in table:
        if key not in known:
            offer = did_you_mean(key, known)
            line = (
                document.line_in_list("program", number, key)
                if keys == ("program",)
                else document.line_of((*keys, key))
            )
            raise HaspError(
                f"{document.path}:{line}: {'.'.join((*keys, key))}: unknown key",
                f"{offer}known keys: {', '.join(known)}",
            )


def _program(table: ProgramTable) -> StudyProgram:
    if "workload" in table and "command" in table:
        table.fail("workload", "excludes `command`", "delete one of the two")
    for key in ("name", "workload" if "workload" in table else "command"):
        if not isinstance(table.get(key), str) or not table.get(key).strip():
            table.fail(key, "is missing", f'write `{key} = "..."`')
    for key, kinds in TYPES.items():
        value = table.get(key)
        if value is not None and (
            not isinstance(value, kinds) or isinstance(value, bool)
        ):
            words = {"str": "text", "dict": "a table", "list": "a list"}
            kind = words.get(kinds[0].__name__, "a number")
            table.fail(key, f"{value!r} is not {kind}", f"make it {kind}")
    if table.get("pinning", "none") not in PINNINGS:
        table.fail("pinning", "is unknown", f"it may be {', '.join(PINNINGS)}")
    plan_files = _plan_files(table)
    settings = _settings(table, plan_files)
    if "workload" in table:
        check = partial(_check_workload, table)
        table.convert("workload", check, table.get("workload"))
    return StudyProgram(
        table.get("name"),
        settings,
        "node" if settings.unit == "nodes" else table.get("pinning", "none"),
        _repetition(table),
        float(table.get("seconds", shapes.SECONDS if "workload" in table else 5.0)),
        table.get("workload"),
        table.get("knobs", {}),
        plan_files,
        table.convert("cooldown", parse_duration, table.get("cooldown", "0s")),
        _count(table, "noisy_runs", StudyProgram.noisy_runs),
        _count(table, "lock_statistics", StudyProgram.recorded_runs),
        table.line,
    )


def _check_workload(table: ProgramTable, workload: str) -> None:
    """Check a workload and its knobs, and the thread counts if they are known."""
    counts = table.get("threads", [1]) if table.unit == "threads" else []
    shapes.check(workload, table.get("knobs", {}), counts)


def _settings(table: ProgramTable, plan_files: tuple[PlanFile, ...]) -> Settings:
    """Return the settings of a program: its commands, locks and sizes."""
    unit = table.unit
    sizes = table.get(unit, [1])
    if not sizes or not all(isinstance(n, int) and n > 0 for n in sizes):
        table.fail(unit, f"{sizes!r} is not a list of numbers", "e.g. [1, 2]")
    if (table.get("server") is None) != (table.get("ready") is None):
        key = "server" if "server" in table else "ready"
        table.fail(key, "`server` and `ready` belong together", "add the other")
    chosen = _locks(table)
    chosen.sort(key=lambda lock: lock != REFERENCE)
    for key in ("command", "server"):
        if key in table:
            table.convert(key, shell_words, table.get(key))
    return Settings(
        command=tuple(shell_words(table.get("command"))) if "command" in table else (),
        locks=(*chosen, *(file.plan.name for file in plan_files)),
        threads=tuple(sizes),
        timeout_s=table.convert("timeout", parse_duration, table.get("timeout", "60s")),
        metrics=(
            *(shapes.METRICS if "workload" in table else ()),
            *(
                _metric(name, metric, table)
                for name, metric in table.get("metrics", {}).items()
            ),
        ),
        prepare=table.get("prepare"),
        check=table.get("check"),
        server=table.get("server"),
        ready=table.convert("ready", parse_ready, table.get("ready"))
        if "ready" in table
        else None,
        unit=unit,
    )


def _locks(table: ProgramTable) -> list[str]:
    """Return the labels of its locks, given as for --locks or as a list of words.

    All algorithms of mutexes if there is no list. With lists for other kinds, the
    reference is measured, too.
    """
    found: list[str] = []
    keys = {kind: kind.list_option[2:] for kind in KINDS}
    given = {kind for kind, key in keys.items() if table.get(key) is not None}
    for kind in [kind for kind in KINDS if kind in given] or [MUTEX]:
        key = keys[kind]
        words = table.get(key, "all")
        if isinstance(words, list):
            if not all(isinstance(word, str) for word in words):
                table.fail(key, f"{words!r} is not a list of names", 'e.g. ["mcs"]')
            words = ",".join(words)
        found += map(label, table.convert(key, partial(select, kind=kind), words))
    return list(dict.fromkeys([*found, *([REFERENCE] if given - {MUTEX} else [])]))


def _repetition(table: ProgramTable) -> Repetition:
    least = table.get("least_runs", Repetition.least)
    if least < 1:
        table.fail("least_runs", f"{least} is not 1 or more", "make it 1 or more")
    return Repetition(
        least,
        max(table.get("most_runs", Repetition.most), least),
        float(table.get("until", Repetition.until)),
    )


def _count(table: ProgramTable, key: str, usual: int) -> int:
    count: int = table.get(key, usual)
    if count < 0:
        table.fail(key, f"{count} is negative", "make it 0 or more")
    return count


def _plan_files(table: ProgramTable) -> tuple[PlanFile, ...]:
    """The plans measured like locks; paths are relative to the campaign's folder."""
    names = table.get("plans", [])
    found = []
    for name in names:
        if not isinstance(name, str):
            table.fail(
                "plans", f"{name!r} is not a file name", 'e.g. ["hasp.plan.toml"]'
            )
        path = (table.folder / name).absolute()
        plan: SitePlan = table.convert("plans", toml_file.load, path)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
        found.append(PlanFile(replace(plan, name=PREFIX + name), digest))
    return tuple(dict.fromkeys(found))


def _metric(name: str, value: Any, program: ProgramTable) -> Metric:
    """Parse `NAME = "pattern"`, or a table with pattern, unit and lower_is_better."""

    def fail(message: str, remedy: str) -> NoReturn:
        program.fail("metrics", f"{name}: {message}", remedy)

    table = {"pattern": value} if isinstance(value, str) else value
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
