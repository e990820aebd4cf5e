# SPDX-License-Identifier: MIT
"""What is known of each measure: measures.toml, read."""

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
    """A field of hasp.profile.diagnosis.features of the same name."""

    scope: str  # program or site
    about: str  # what it is, in a few words
    unit: str  # as words.quantity prints it; "flag": 1 for yes, 0 for no
    missing: str  # why it may be


@cache
def measures() -> dict[str, Measure]:
    """Every measure by its name."""
    raw = tomllib.loads(MEASURES.read_text(encoding="utf-8"))
    return {
        name: Measure(
            scope,
            entry["about"],
            entry.get("unit", ""),
            entry.get("missing", "the trace does not have it"),
        )
        for scope in SCOPES
        for name, entry in raw[scope].items()
    }
