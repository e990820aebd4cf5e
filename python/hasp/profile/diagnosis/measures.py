# SPDX-License-Identifier: MIT
"""Descriptions of the measures, from measures.toml."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MEASURES = Path(__file__).with_name("measures.toml")
SCOPES = ("program", "site")


@dataclass(frozen=True)
class Measure:
    """The description of a field of hasp.profile.diagnosis.features."""

    scope: str  # program or site
    about: str  # a short description
    unit: str  # as printed by words.quantity; "flag": 1 for yes, 0 for no
    missing: str  # why it may be missing


@cache
def measures() -> dict[str, Measure]:
    """Return every measure by name."""
    raw = tomllib.loads(MEASURES.read_text(encoding="utf-8"))
    return {
        name: Measure(
            scope,
            entry["about"],
            entry.get("unit", ""),
            entry.get("missing", "the trace does not contain it"),
        )
        for scope in SCOPES
        for name, entry in raw[scope].items()
    }
