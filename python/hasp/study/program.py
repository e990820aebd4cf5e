# SPDX-License-Identifier: MIT
"""One program of a campaign: its command, locks, sizes and repetitions."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from hasp.compare.settings import Settings
from hasp.locks.site_plan.model import SitePlan

# Defaults that match versions without these keys; new keys must be added here.
USUAL = {"plan_files": (), "cooling_s": 0.0, "noisy_runs": 3, "recorded_runs": 0}
USUAL_PLAN = {"unit": "threads"}


@dataclass(frozen=True)
class Repetition:
    """The number of runs of a configuration, until its mean's interval is narrow."""

    least: int = 5
    most: int = 10
    until: float = 0.05  # half the 95 % interval of the mean, as a share of the mean


@dataclass(frozen=True)
class PlanFile:
    """A plan that is measured like a lock."""

    plan: SitePlan  # its name, for the store, has the file name as given
    digest: str  # of the content, because a changed plan needs new runs


@dataclass(frozen=True)
class StudyProgram:
    """One program of a campaign."""

    name: str
    settings: Settings  # without `runs` and `warmup`, which are not used
    pinning: str
    repetition: Repetition
    seconds: float  # estimated duration of a run, until one has been measured
    workload: str | None = None  # of hasp.study.shapes, instead of a command
    knobs: dict[str, Any] = field(default_factory=dict)
    plan_files: tuple[PlanFile, ...] = ()
    cooling_s: float = 0.0  # pause between two runs
    noisy_runs: int = 3  # repetitions of a noisy run before noise is tolerated
    recorded_runs: int = 0  # additional runs of each configuration for lock statistics
    line: int = 1  # of the campaign's file

    @property
    def plans(self) -> dict[str, SitePlan]:
        """The plans among its locks, by their names in the store."""
        return {file.plan.name: file.plan for file in self.plan_files}

    def asked(self) -> dict[str, Any]:
        """Return the content of the digest: everything that makes its runs different.

        Values that equal the defaults are left out, so that versions of Hasp with more
        keys still find the runs of earlier ones.
        """
        asked = asdict(self)
        asked.pop("line")
        asked["plan"] = asked.pop("settings")  # the name in the digests of old journals
        asked["plan"].pop("node_cpus")
        asked["plan_files"] = tuple(
            {"name": file.plan.name, "digest": file.digest} for file in self.plan_files
        )
        for metric in asked["plan"]["metrics"]:
            del metric["required"], metric["split"]
        for part, usual in ((asked, USUAL), (asked["plan"], USUAL_PLAN)):
            for name, value in usual.items():
                if part[name] == value:
                    del part[name]
        return asked
