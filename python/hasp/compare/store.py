# SPDX-License-Identifier: MIT
"""A comparison as a file of JSON lines: a header, every run, and the summary.

Each line is written when its run ends, so that an interrupted comparison leaves a
usable file. Reading a file ignores the summary, which is computed again from the runs.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from hasp.base.errors import HaspError
from hasp.base.files import explained
from hasp.base.output import STDOUT, json_line
from hasp.compare.run_record import RESOURCES, Measure, Run, measure_of
from hasp.compare.settings import Metric, Settings
from hasp.launch.ready import Ready
from hasp.locks.given import Algorithms
from hasp.locks.native import REFERENCE

SCHEMA = "hasp.compare/2"
INTERRUPTED = "interrupted"  # the warning that a comparison is incomplete


@dataclass
class Comparison:
    """The settings of a comparison, facts about the host, and the runs so far."""

    settings: Settings
    host: dict[str, Any]
    locks: list[dict[str, Any]]  # name, waiting and collapses of each
    version: str
    started: str  # ISO 8601
    peak_floor_bytes: int = 0
    interrupted: bool = False
    runs: list[Run] = field(default_factory=list)

    @property
    def measures(self) -> list[Measure]:
        """All measures: the program's own figures, then the resources."""
        return [*map(measure_of, self.settings.metrics), *RESOURCES]

    @property
    def judged(self) -> list[Measure]:
        """The measures that get verdicts: the program's figures, else the wall time."""
        return self.measures[: max(1, len(self.settings.metrics))]

    @property
    def primary(self) -> Measure:
        """The first of the judged measures."""
        return self.measures[0]

    @property
    def cpus(self) -> float:
        """The number of CPUs available, limited by the quota."""
        quota = self.host.get("cpu_quota")
        return float(min(self.host["cpus_allowed"], quota or self.host["cpus_allowed"]))

    def collapses(self, lock: str) -> bool:
        """Return true if the waiters of a lock only spin."""
        return any(item["name"] == lock and item["collapses"] for item in self.locks)

    def header(self) -> dict[str, Any]:
        """Return the first record of the file."""
        return {
            "schema": SCHEMA,
            "kind": "comparison",
            "hasp_version": self.version,
            "started": self.started,
            "command": list(self.settings.command),
            "reference": REFERENCE,
            "settings": asdict(self.settings),
            "locks": self.locks,
            "machine": self.host,
            "peak_floor_bytes": self.peak_floor_bytes,
        }


def lock_facts(chosen: Algorithms) -> dict[str, Any]:
    """Return the record in the header about the algorithms of a row."""
    locks = chosen.used
    waiting = {lock.waiting for lock in locks}
    several = "by site" if chosen.plan else "by kind"
    return {
        "name": chosen.name,
        "waiting": waiting.pop() if len(waiting) == 1 else several,
        "collapses": any(lock.collapses for lock in locks),
    }


class Writer:
    """Writes a comparison line by line to a file, or to stdout for `-`.

    If the file cannot be written, for example because the disk is full, raises
    HaspError once, and writes nothing further.
    """

    def __init__(self, destination: str, *, append: bool = False) -> None:
        mode = "a" if append else "w"
        self._name = destination
        self._failed = False
        self._file: IO[str] = (
            sys.stdout
            if destination == STDOUT
            else Path(destination).open(mode, encoding="utf-8")  # noqa: SIM115
        )

    def header(self, comparison: Comparison) -> None:
        """Write the header."""
        self._line(comparison.header())

    def run(self, run: Run) -> None:
        """Write a run."""
        self._line({"schema": SCHEMA, "kind": "run", **run.as_json()})

    def records(self, kind: str, records: Iterable[dict[str, Any]]) -> None:
        """Write records of the summary."""
        for record in records:
            self._line({"schema": SCHEMA, "kind": kind, **record})

    def close(self) -> None:
        """Close the file."""
        if self._file is sys.stdout:
            return
        try:
            self._file.close()
        except OSError:  # it tries again to write the line that failed
            if not self._failed:
                raise

    def _line(self, record: dict[str, Any]) -> None:
        if self._file is sys.stdout:
            self._write(record)
        elif not self._failed:
            try:
                with explained(self._name):
                    self._write(record)
            except HaspError:
                self._failed = True
                raise

    def _write(self, record: dict[str, Any]) -> None:
        self._file.write(f"{json_line(record)}\n")
        self._file.flush()


def load(path: Path) -> Comparison:
    """Read the comparison in a file that `hasp compare --json FILE` wrote."""
    try:
        lines = _lines(path.read_bytes())
    except OSError as problem:
        raise HaspError(
            f"{path}: {problem.strerror}", "name a file of results"
        ) from None
    except ValueError:
        lines = []
    try:
        return comparison_of([line for line in lines if isinstance(line, dict)])
    except (LookupError, TypeError, ValueError, AttributeError):
        raise HaspError(
            f"{path} is not a file of results of this version of `hasp compare`",
            "name a file that `hasp compare --json FILE` wrote",
        ) from None


def _lines(data: bytes) -> list[Any]:
    """Parse each line, except a last one that a full disk or a crash left incomplete.

    Raises ValueError if another line is not JSON.
    """
    *whole, last = data.split(b"\n")
    lines = [json.loads(line) for line in whole]
    with contextlib.suppress(ValueError):
        lines.append(json.loads(last))
    return lines


def comparison_of(lines: list[dict[str, Any]]) -> Comparison:
    """Return the comparison in the records of a file.

    Raises a built-in error if `Writer` cannot have written them.
    """
    (header, *_) = [line for line in lines if line.get("kind") == "comparison"]
    if header["schema"] != SCHEMA:
        raise ValueError(header["schema"])
    found = Comparison(
        settings=_settings(header["settings"]),
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


def _settings(record: dict[str, Any]) -> Settings:
    ready = record.pop("ready", None)
    metrics = tuple(Metric(**item) for item in record.pop("metrics"))
    lists: dict[str, Any] = {
        name: tuple(record.pop(name)) for name in ("command", "locks", "threads")
    }
    return Settings(
        **lists, **record, metrics=metrics, ready=Ready(**ready) if ready else None
    )
