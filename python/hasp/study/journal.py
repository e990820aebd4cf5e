# SPDX-License-Identifier: MIT
"""Journals: the runs of a campaign, one JSON line each, written as they end.

    STORE/journals/MACHINE-DIGEST.jsonl
    STORE/journals/MACHINE-DIGEST.parts/*.jsonl  one for each job of a cluster (slurm/)

The digest is that of the campaign, so a changed campaign starts a new journal. A line
that a crash left incomplete is dropped, and its run is repeated. A journal has one
writer; it also reads the journals of others, but never writes to them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hasp.base.errors import HaspError
from hasp.base.files import claim
from hasp.study.metrics import with_derived


@dataclass(frozen=True)
class JournalEntry:
    """One run."""

    program: str
    lock: str
    threads: int
    block: int
    outcome: str  # of hasp.compare.run_record
    detail: str
    values: dict[str, float]  # metric -> value, as measured
    wall_s: float
    noise: str  # why the run does not count, or ""
    recorded: bool = False  # whether the values come from the recorder
    doubt: str = ""  # the kind of noise that was tolerated, or ""

    @property
    def good(self) -> bool:
        """Return true if the run is valid."""
        return self.outcome == "ok" and not self.noise

    @property
    def counts(self) -> bool:
        """Return true if the run is valid and measured, not recorded."""
        return self.good and not self.recorded


def read(path: Path) -> list[JournalEntry]:
    """The complete entries of a journal, which another process may be writing."""
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return []
    return _parse(path, text[: text.rfind(b"\n") + 1])


def _parse(path: Path, text: bytes) -> list[JournalEntry]:
    entries = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            entries.append(JournalEntry(**json.loads(line)))
        except (ValueError, TypeError):
            raise HaspError(
                f"{path}:{number} is not a run that this version of Hasp can read",
                "delete that line, or delete the file to start again",
            ) from None
    return entries


class Journal:
    """An append-only file of entries, combined with the entries of `others`."""

    def __init__(
        self, path: Path, others: Iterable[Path] = (), *, alone: bool = False
    ) -> None:
        """With `alone`, raise HaspError if another process has opened it so."""
        self.path = path
        self.entries = [entry for other in others for entry in read(other)]
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a+b")
            if alone:
                claim(
                    self._file,
                    "hasp study run",
                    "wait until it ends, or name another --store",
                )
            self._file.seek(0)
            text = self._file.read()
        except OSError as problem:
            raise HaspError(
                f"cannot use {path}: {problem.strerror}",
                "name a --store that you can write to",
            ) from None
        whole = text.rfind(b"\n") + 1
        if whole < len(text):
            self._file.truncate(whole)
        self.entries += _parse(path, text[:whole])

    def add(self, entry: JournalEntry) -> None:
        """Append an entry, and sync it to disk."""
        self.entries.append(entry)
        line = json.dumps(vars(entry), separators=(",", ":")) + "\n"
        try:
            self._file.write(line.encode())
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as problem:
            raise HaspError(
                f"cannot write to {self.path}: {problem.strerror}",
                "free some space; then the same command resumes where it stopped",
            ) from None

    def close(self) -> None:
        """Close the file; `add` must not be called afterwards."""
        self._file.close()

    def rows(self) -> list[dict[str, Any]]:
        """Return one row for each metric of each valid run."""
        return [
            {
                "program": entry.program,
                "lock": entry.lock,
                "size": entry.threads,
                "run": number,
                "metric": metric,
                "value": value,
            }
            for number, entry in enumerate(self.entries)
            if entry.good
            for metric, value in with_derived(entry.values, entry.wall_s).items()
        ]
