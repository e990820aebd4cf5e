# SPDX-License-Identifier: MIT
"""The data of `hasp bench advice`: measured runs of programs, and recorded measures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from hasp.base.errors import HaspError
from hasp.locks.native import REFERENCE
from hasp.profile.diagnosis.features import BarrierWaits, Features, SiteFeatures
from hasp.profile.model.proofs import LockProof, Subject

HALVES = ("fitting", "judging", "fresh", "unseen", "unseen-later", "unseen-last")


@dataclass(frozen=True)
class Case:
    """One program with one number of threads."""

    program: str
    threads: int
    half: str  # one of HALVES
    study: str  # name of the study with its runs
    runs: Mapping[str, tuple[float, ...]]  # throughput of each round, by lock
    # the recorded measures; None for a run that used no lock
    recordings: tuple[Features | None, ...]
    # what the comparison of `hasp advise -- COMMAND` found after the first recording,
    # from runs of its own; None if it was not made
    proofs: tuple[LockProof, ...] | None = None

    @property
    def name(self) -> str:
        """The program and its threads, in words."""
        return f"{self.program}, {self.threads}"


def load(path: Path) -> list[Case]:
    """Return the cases of a data file; raises HaspError that names the damaged line."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        words = getattr(problem, "strerror", None) or "it is not UTF-8"
        raise HaspError(
            f"{path} cannot be read: {words}",
            "name the data with --from: docs/data/advice.jsonl in Hasp's repository",
        ) from None
    found = []
    for number, line in enumerate(lines, 1):
        try:
            found.append(_case(json.loads(line)))
        except (ValueError, TypeError, KeyError, AttributeError) as problem:
            raise HaspError(
                f"{path}:{number} is not a case of this version: {problem}",
                "make the data again with tools/make_advice_data.py",
            ) from None
    if not found:
        raise HaspError(
            f"{path} has no cases", "make it with tools/make_advice_data.py"
        )
    return found


def _case(record: dict[str, Any]) -> Case:
    runs = {lock: tuple(values) for lock, values in record["runs"].items() if values}
    if REFERENCE not in runs:
        raise ValueError(f"no run under {REFERENCE}")
    if record["half"] not in HALVES:
        raise ValueError(f"half {record['half']!r}")
    return Case(
        program=record["program"],
        threads=int(record["threads"]),
        half=record["half"],
        study=record["study"],
        runs=runs,
        recordings=tuple(map(_features, record["recordings"])),
        proofs=_proofs(record.get("proofs"), int(record["threads"])),
    )


def _proofs(
    records: list[dict[str, Any]] | None, threads: int
) -> tuple[LockProof, ...] | None:
    """The proofs; they are of this case, so its data does not repeat the subject."""
    if records is None:
        return None
    subject = Subject("", "", threads, cpus=0, nodes=0)
    about = {"metric": "", "host": "", "measured": "", "subject": subject}
    return tuple(LockProof(**{**one, **about}) for one in records)


def _features(record: dict[str, Any] | None) -> Features | None:
    """The measures; names that this version does not know are left out."""
    if record is None:
        return None
    sites = tuple(SiteFeatures(**_known(SiteFeatures, one)) for one in record["sites"])
    barriers = tuple(
        BarrierWaits(**_known(BarrierWaits, one)) for one in record.get("barriers", ())
    )
    known = _known(Features, record)
    return Features(**{**known, "sites": sites, "barriers": barriers})


def _known(kind: type, record: dict[str, Any]) -> dict[str, Any]:
    names = {field.name for field in fields(kind)}
    return {name: value for name, value in record.items() if name in names}
