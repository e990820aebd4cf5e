# SPDX-License-Identifier: MIT
"""One program of a campaign: its command, locks, sizes and repetitions."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from hasp.compare.settings import Settings
from hasp.locks.native import PLAN

# What versions without these keys did; new keys come to this list.
USUAL = {"plan_files": (), "cooling_s": 0.0, "noisy_runs": 3, "recorded_runs": 0}
USUAL_PLAN = {"unit": "threads"}


@dataclass(frozen=True)
class Repetition:
    """How often a configuration runs: until the interval of its mean is narrow."""

    least: int = 5
    most: int = 10
    until: float = 0.05  # half the 95 % interval of the mean, as a share of the mean


@dataclass(frozen=True)
class PlanFile:
    """A plan of locks by site (hasp.locks.site_plan) that is measured like a lock."""

    name: str  # in the store: `plan:` and the file as it is written
    path: str
    digest: str  # of its content: another plan asks for other runs


@dataclass(frozen=True)
class StudyProgram:
    """One program of a study, complete."""

    name: str
    settings: Settings  # without `runs` and `warmup`, which are not used
    pinning: str
    repetition: Repetition
    seconds: float  # about how long a run takes, before one has been measured
    workload: str | None = None  # hasp.study.shapes; there is no command then
    knobs: dict[str, Any] = field(default_factory=dict)
    plan_files: tuple[PlanFile, ...] = ()
    cooling_s: float = 0.0  # pause between two runs
    noisy_runs: int = 3  # how often noise is waited out, before it is put up with
    recorded_runs: int = 0  # more runs of each configuration, for statistics of locks
    line: int = 1  # of the plan, where it begins

    @property
    def candidates(self) -> dict[str, str]:
        """What names among its locks that are no locks stand for."""
        return {file.name: PLAN + file.path for file in self.plan_files}

    def asked(self) -> dict[str, Any]:
        """What makes its runs other ones; not where the plan says it.

        What is as usual is left out, so that later versions of Hasp, which can be asked
        for more, still know the runs of earlier ones.
        """
        asked = asdict(self)
        asked.pop("line")
        asked["plan"] = asked.pop("settings")  # the name in the digests of old journals
        asked["plan"].pop("node_cpus")
        for file in asked["plan_files"]:
            file.pop("path")
        for metric in asked["plan"]["metrics"]:
            del metric["required"], metric["split"]
        for part, usual in ((asked, USUAL), (asked["plan"], USUAL_PLAN)):
            for name, value in usual.items():
                if part[name] == value:
                    del part[name]
        return asked
