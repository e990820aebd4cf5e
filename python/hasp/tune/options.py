# SPDX-License-Identifier: MIT
"""The options of a race."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hasp.compare.settings import Settings
from hasp.statistics.race import TOLERANCE
from hasp.tune.objective import Objective
from hasp.tune.requirement import Requirement

BUDGET = 300.0  # seconds


@dataclass(frozen=True)
class Options:
    """The settings of a race."""

    settings: Settings
    objective: Objective
    requirements: tuple[Requirement, ...] = ()
    budget_s: float = BUDGET
    most_runs: int | None = None
    trace: Path = Path("hasp.trace")
    recorded: bool = False  # the trace exists already
    with_plans: bool = True
    store: Path = Path("hasp.tune.jsonl")
    resume: bool = False
    adapt_timeout: bool = True  # to the time of the reference
    locks_given: bool = False  # by the user, not by default
    seed_given: bool = False
    tolerance: float = TOLERANCE
