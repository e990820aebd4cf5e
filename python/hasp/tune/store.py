# SPDX-License-Identifier: MIT
"""Stores the runs of a race in a file, from which the race can be resumed.

The file has the form of `hasp compare --json`, so `hasp compare --from` shows it, with
one more record for each plan that joined the race.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import IO, Any

from hasp.base.errors import HaspError
from hasp.base.files import claim
from hasp.base.output import STDOUT, note
from hasp.compare.run_record import Run
from hasp.compare.settings import Settings
from hasp.compare.store import Comparison, Writer, comparison_of
from hasp.locks.site_plan import toml_file
from hasp.locks.site_plan.model import SitePlan

PLAN_RECORD, TRACE_RECORD = "plan", "trace"
DAMAGE = (LookupError, TypeError, ValueError, AttributeError)


class Claim:
    """Holds the file of a race, so that no other race writes it.

    Raises HaspError on entry if another race holds it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Claim:
        self._lock()
        return self

    def __exit__(self, *problem: object) -> None:
        if self._file is None:
            return
        if os.fstat(self._file.fileno()).st_size == 0:
            self._path.unlink(missing_ok=True)
        self._file.close()

    def keep_earlier(self) -> None:
        """Rename the file if it has content, and claim a new one."""
        if self._file is None or os.fstat(self._file.fileno()).st_size == 0:
            return
        old = _free_name(self._path)
        self._path.replace(old)
        self._file.close()
        self._lock()
        note(f"kept the earlier race as {old}")

    def _lock(self) -> None:
        self._file = None
        other = self._path.exists() and not self._path.is_file()
        if other or str(self._path) == STDOUT:
            return  # a device or a pipe
        try:
            file = self._path.open("ab")
        except OSError as problem:
            raise HaspError(
                f"{self._path}: {problem.strerror}", "name another file with --store"
            ) from None
        claim(
            file, "hasp tune", "wait until it ends, or name another file with --store"
        )
        self._file = file


@dataclass(frozen=True)
class Earlier:
    """A race in a file."""

    comparison: Comparison  # without its runs
    rounds: tuple[list[Run], ...]
    plans: tuple[SitePlan, ...]
    size: int  # bytes of its complete lines
    session: int = 0  # number of its recording; 0: not known

    @property
    def runs(self) -> list[Run]:
        """All its runs, in order."""
        return [run for runs in self.rounds for run in runs]


def save_plans(writer: Writer, plans: Sequence[SitePlan]) -> None:
    """Write a record for each plan."""
    writer.records(
        PLAN_RECORD,
        ({"name": plan.name, "toml": toml_file.text_of(plan)} for plan in plans),
    )


def save_trace(writer: Writer, path: Path, session: int) -> None:
    """Write a record of the trace that the candidates were chosen from."""
    writer.records(TRACE_RECORD, [{"path": str(path), "session": session}])


def load_race(path: Path, settings: Settings, *, locks_given: bool) -> Earlier:
    """Return an earlier race on the same command.

    An incomplete last line is left out. Raises HaspError if there is no race, if
    another line is damaged, or if the race was about something else: `locks_given` says
    whether the user has named the locks of the settings.
    """
    # A claim on a file that does not exist creates an empty one.
    if not path.exists() or not path.stat().st_size:
        raise HaspError(
            f"there is no earlier race to resume: {path} does not exist or is empty",
            "leave out --resume, or name its file with --store",
        )
    earlier = _read(path)
    old = earlier.comparison.settings
    for name in ("command", "server", "threads", "metrics", "prepare", "check"):
        if getattr(old, name) != getattr(settings, name):
            raise HaspError(
                f"{path} belongs to a different race: its {name} differs",
                "repeat the command of that race, or leave out --resume",
            )
    if locks_given and set(old.locks) != set(settings.locks):
        raise HaspError(
            f"{path} belongs to a different race: its --locks differ",
            "leave out --locks to continue with those of that race, or leave out "
            "--resume",
        )
    return earlier


def drop_incomplete_line(path: Path, earlier: Earlier) -> None:
    """Cut the file after its last complete line."""
    if path.stat().st_size > earlier.size:
        os.truncate(path, earlier.size)
        note(f"{path}: its last line is incomplete and is dropped")


def settle_timeout(old: float, new: float, *, adapt: bool) -> tuple[float, bool]:
    """Return the time-out of a resumed race in seconds, and whether to adapt it.

    `old` is that of the earlier race; `new` is the default if `adapt`, or else the one
    that the user gave.
    """
    if not adapt:
        return new, False
    return old, old == new


def _free_name(path: Path) -> Path:
    """Return FILE.old, or FILE.old.2 and so on if earlier races are kept already."""
    old = path.with_name(f"{path.name}.old")
    number = 1
    while old.exists():
        number += 1
        old = path.with_name(f"{path.name}.old.{number}")
    return old


def _read(path: Path) -> Earlier:
    data = path.read_bytes()
    size = data.rfind(b"\n") + 1
    records: list[dict[str, Any]] = []
    plans: list[SitePlan] = []
    session = 0
    for number, line in enumerate(data[:size].splitlines(), start=1):
        try:
            record = json.loads(line)
            if record.get("kind") == "run":
                Run.from_json(record)
            if record.get("kind") == PLAN_RECORD:
                plans.append(_plan(record))
            if record.get("kind") == TRACE_RECORD:
                session = int(record["session"])
        except DAMAGE:
            raise HaspError(
                f"{path}: line {number} is damaged",
                "restore the file, or leave out --resume to begin again",
            ) from None
        records.append(record)
    try:
        comparison = comparison_of(records)
    except DAMAGE:
        raise HaspError(
            f"{path} is not a race of this version of `hasp tune`",
            "name its file with --store, or leave out --resume",
        ) from None
    runs, comparison.runs = comparison.runs, []
    comparison.interrupted = False
    rounds = tuple(list(group) for _, group in groupby(runs, key=lambda run: run.block))
    return Earlier(comparison, rounds, tuple(plans), size, session)


def _plan(record: dict[str, Any]) -> SitePlan:
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(record["toml"])
        file.flush()
        plan = toml_file.load(Path(file.name))
    return SitePlan(plan.entries, plan.default, record["name"])
