# SPDX-License-Identifier: MIT
"""The transactions of the runs, from HASP_ELISION_STATISTICS files."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SETTING = "HASP_ELISION_STATISTICS"


@dataclass
class Counts:
    """Sums over all processes and runs of one configuration."""

    begins: int = 0
    commits: int = 0
    elided: int = 0
    acquired: int = 0
    ended: int = 0  # processes in which the watchdog ended the use of one lock for all
    aborts: Counter[str] = field(default_factory=Counter)

    @property
    def committed(self) -> float | None:
        """The share of the transactions that committed; None without one."""
        return self.commits / self.begins if self.begins else None

    @property
    def share_elided(self) -> float | None:
        """The share of the sections that were elided; None without a section."""
        whole = self.elided + self.acquired
        return self.elided / whole if whole else None

    def causes(self, most: int = 3) -> str:
        """Return the most frequent causes with their shares of all aborts."""
        whole = sum(self.aborts.values())
        return ", ".join(
            f"{cause} {number / whole:.0%}"
            for cause, number in self.aborts.most_common(most)
            if number
        )

    def as_json(self) -> dict[str, Any]:
        """Return the sums."""
        return {
            "begins": self.begins,
            "commits": self.commits,
            "elided": self.elided,
            "acquired": self.acquired,
            "aborts": dict(self.aborts),
        }


def counts_in(path: Path) -> Counts:
    """Return the sums of a file; zeros if no process has written it."""
    found = Counts()
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError:
        return found
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            continue  # a process was killed while it wrote
        found.begins += record["begins"]
        found.commits += record["commits"]
        found.elided += record["elided"]
        found.acquired += record["acquired"]
        found.ended += record.get("scope") == "ended"
        found.aborts.update(record["aborts"])
    return found
