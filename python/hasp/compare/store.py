# SPDX-License-Identifier: MIT
"""A comparison as a file of JSON lines: a header, every run, and the summary.

Lines are written as the runs end, so that an interrupted study leaves a usable file.
The summary can be made again from the rest, and is left out when a file is read.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from hasp.base.errors import HaspError
from hasp.base.output import STDOUT, json_line
from hasp.compare.run_record import RESOURCES, Measure, Run, measure_of
from hasp.compare.settings import Metric, Plan
from hasp.launch.ready import Ready
from hasp.locks.native import REFERENCE, LockInfo

SCHEMA = "hasp.compare/1"
INTERRUPTED = "interrupted"  # the warning of a study that did not get to its end


@dataclass
class Study:
    """A plan, where it was carried out, and the runs so far."""

    plan: Plan
    host: dict[str, Any]
    locks: list[dict[str, Any]]  # name, waiting and "collapses" of each
    version: str
    started: str  # ISO 8601
    peak_floor_bytes: int = 0
    interrupted: bool = False
    runs: list[Run] = field(default_factory=list)

    @property
    def measures(self) -> list[Measure]:
        """The program's own figures first, then what every run has."""
        return [*map(measure_of, self.plan.metrics), *RESOURCES]

    @property
    def judged(self) -> list[Measure]:
        """The measures that get verdicts: the program's figures, else the wall time."""
        return self.measures[: max(1, len(self.plan.metrics))]

    @property
    def primary(self) -> Measure:
        """What the comparison is about: the first metric, else the wall time."""
        return self.measures[0]

    @property
    def cpus(self) -> float:
        """How many CPUs' worth of work could run at once."""
        quota = self.host.get("cpu_quota")
        return float(min(self.host["cpus_allowed"], quota or self.host["cpus_allowed"]))

    def collapses(self, lock: str) -> bool:
        """Whether a lock only spins."""
        return any(item["name"] == lock and item["collapses"] for item in self.locks)

    def header(self) -> dict[str, Any]:
        """The first line of its file."""
        return {
            "schema": SCHEMA,
            "kind": "study",
            "hasp_version": self.version,
            "started": self.started,
            "command": list(self.plan.command),
            "reference": REFERENCE,
            "plan": asdict(self.plan),
            "locks": self.locks,
            "machine": self.host,
            "peak_floor_bytes": self.peak_floor_bytes,
        }


def lock_facts(lock: LockInfo) -> dict[str, Any]:
    """What a file of results has to know about a lock."""
    return {
        "name": lock.name,
        "waiting": lock.waiting,
        "collapses": lock.collapses,
    }


def plan_facts(name: str, locks: list[LockInfo]) -> dict[str, Any]:
    """The same of a plan, given the locks in it."""
    waiting = {lock.waiting for lock in locks}
    return {
        "name": name,
        "waiting": waiting.pop() if len(waiting) == 1 else "by site",
        "collapses": any(lock.collapses for lock in locks),
    }


class Writer:
    """Writes the lines of a study as they come; `-` is stdout."""

    def __init__(self, destination: str) -> None:
        self._file: IO[str] = (
            sys.stdout
            if destination == STDOUT
            else Path(destination).open("w", encoding="utf-8")  # noqa: SIM115
        )

    def header(self, study: Study) -> None:
        """The first line."""
        self._line(study.header())

    def run(self, run: Run) -> None:
        """One line per run."""
        self._line({"schema": SCHEMA, "kind": "run", **run.as_json()})

    def records(self, kind: str, records: Iterable[dict[str, Any]]) -> None:
        """One line for each record of the summary."""
        for record in records:
            self._line({"schema": SCHEMA, "kind": kind, **record})

    def close(self) -> None:
        """Finish the file."""
        if self._file is not sys.stdout:
            self._file.close()

    def _line(self, record: dict[str, Any]) -> None:
        self._file.write(f"{json_line(record)}\n")
        self._file.flush()


def load(path: Path) -> Study:
    """The study that a file of `hasp compare --json FILE` holds."""
    try:
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    except OSError as problem:
        raise HaspError(
            f"{path}: {problem.strerror}", "name a file of results"
        ) from None
    except ValueError:
        lines = []
    try:
        return _study([line for line in lines if isinstance(line, dict)])
    except (LookupError, TypeError, ValueError, AttributeError):
        raise HaspError(
            f"{path} is no file of results of this version of `hasp compare`",
            "name a file that `hasp compare --json FILE` wrote",
        ) from None


def _study(lines: list[dict[str, Any]]) -> Study:
    """An error of Python's where they are not what `Writer` writes."""
    (header, *_) = [line for line in lines if line.get("kind") == "study"]
    if header["schema"] != SCHEMA:
        raise ValueError(header["schema"])
    found = Study(
        plan=_plan(header["plan"]),
        host=header["machine"],
        locks=header["locks"],
        version=header["hasp_version"],
        started=header["started"],
        peak_floor_bytes=header["peak_floor_bytes"],
        interrupted=any(line.get("warning") == INTERRUPTED for line in lines),
        runs=[Run.from_json(line) for line in lines if line.get("kind") == "run"],
    )
    if not found.cpus > 0:
        raise ValueError(found.host)
    return found


def _plan(record: dict[str, Any]) -> Plan:
    ready = record.pop("ready", None)
    metrics = tuple(Metric(**item) for item in record.pop("metrics"))
    lists: dict[str, Any] = {
        name: tuple(record.pop(name)) for name in ("command", "locks", "threads")
    }
    return Plan(
        **lists, **record, metrics=metrics, ready=Ready(**ready) if ready else None
    )
