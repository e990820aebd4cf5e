# SPDX-License-Identifier: MIT
"""Stores the runs of a race in a file, from which the race can be resumed.

The file has the form of `hasp compare --json`, so `hasp compare --from` shows it, with
one more record for each plan that joined the race.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from hasp.base.errors import HaspError
from hasp.compare.run_record import Run
from hasp.compare.settings import Settings
from hasp.compare.store import Comparison, Writer, load
from hasp.locks.site_plan import toml_file
from hasp.locks.site_plan.model import SitePlan

PLAN_RECORD = "plan"


def save_plans(writer: Writer, plans: Sequence[SitePlan]) -> None:
    """Write a record for each plan."""
    writer.records(
        PLAN_RECORD,
        ({"name": plan.name, "toml": toml_file.text_of(plan)} for plan in plans),
    )


def load_plans(path: Path) -> list[SitePlan]:
    """Return the plans in the file of a race."""
    found = []
    for line in path.read_text("utf-8").splitlines():
        record = json.loads(line)
        if record.get("kind") != PLAN_RECORD:
            continue
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(record["toml"])
            file.flush()
            plan = toml_file.load(Path(file.name))
        found.append(SitePlan(plan.entries, plan.default, record["name"]))
    return found


def load_race(path: Path, settings: Settings) -> tuple[Comparison, list[list[Run]]]:
    """Return an earlier race on the same command, and its rounds.

    Raises HaspError if there is none, or if it was about something else.
    """
    if not path.exists():
        raise HaspError(
            f"there is no earlier race to resume: {path} does not exist",
            "leave out --resume, or name its file with --store",
        )
    comparison = load(path)
    old = comparison.settings
    for name in ("command", "server", "threads", "metrics", "prepare", "check"):
        if getattr(old, name) != getattr(settings, name):
            raise HaspError(
                f"{path} belongs to a different race: its {name} differs",
                "repeat the command of that race, or leave out --resume",
            )
    runs, comparison.runs = comparison.runs, []
    comparison.interrupted = False
    rounds = [list(group) for _, group in groupby(runs, key=lambda run: run.block)]
    return comparison, rounds
