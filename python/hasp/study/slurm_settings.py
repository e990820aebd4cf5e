# SPDX-License-Identifier: MIT
"""Settings for a Slurm cluster: a campaign's table [slurm], overridden by options."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from hasp.base.document import Document
from hasp.base.durations import parse_duration
from hasp.base.errors import HaspError

TABLE = "slurm"
PER = ("kind", "node")
# Options of sbatch that Hasp sets itself.
OURS = (
    *("array", "error", "job-name", "nodes", "ntasks", "open-mode", "output"),
    *("partition", "account", "constraint", "signal", "time", "wrap"),
)
TEXTS = ("partition", "account", "constraint", "time", "machine_per")
LISTS = ("sbatch", "setup")
KEYS = (*TEXTS, "jobs", *LISTS)


@dataclasses.dataclass(frozen=True)
class SlurmSettings:
    """The resources that a campaign's jobs request from Slurm."""

    partition: str = ""
    account: str = ""
    constraint: str = ""
    time_s: float = 3600.0
    jobs: int = 1  # tasks of the array, each on one node
    machine_per: str = "kind"
    sbatch: tuple[str, ...] = ()  # further options for sbatch, as on its command line
    setup: tuple[str, ...] = ()  # shell commands before the work

    @property
    def selection(self) -> str:
        """The settings that determine the nodes and their names, as text."""
        words = [
            f"{name}={value}"
            for name, value in (
                ("partition", self.partition),
                ("constraint", self.constraint),
                ("machine_per", self.machine_per),
            )
            if value
        ]
        return " ".join([*words, *self.sbatch])


DEFAULT = SlurmSettings()


def of_document(document: Document) -> SlurmSettings:
    """Read a campaign's table [slurm]; errors name the line and key."""
    said = document.get((TABLE,))
    if said is None:
        return DEFAULT
    if not isinstance(said, dict):
        document.fail((TABLE,), "is not a table", "write its keys below [slurm]")
    for key, value in said.items():
        place = (TABLE, key)
        if key not in KEYS:
            document.fail(place, "unknown key", f"known keys: {', '.join(KEYS)}")
        if key in TEXTS and not isinstance(value, str):
            document.fail(place, f"{value!r} is not text", 'write it in "..."')
        if key in LISTS and not (
            isinstance(value, list) and all(isinstance(word, str) for word in value)
        ):
            document.fail(place, "is not a list of texts", 'write ["...", "..."]')
    changes: dict[str, Any] = dict(said)
    if "time" in changes:
        changes["time_s"] = _seconds(document, changes.pop("time"))
    jobs = changes.get("jobs", 1)
    if not isinstance(jobs, int) or isinstance(jobs, bool) or jobs < 1:
        document.fail((TABLE, "jobs"), f"{jobs!r} is not 1 or more", "write jobs = 1")
    if changes.get("machine_per", PER[0]) not in PER:
        place = (TABLE, "machine_per")
        document.fail(place, "is unknown", f"it may be {' or '.join(PER)}")
    for name in LISTS:
        changes[name] = tuple(changes.get(name, ()))
    try:
        parse_sbatch(changes["sbatch"])
    except HaspError as problem:
        document.fail((TABLE, "sbatch"), problem.message, problem.remedy)
    return SlurmSettings(**changes)


def _seconds(document: Document, text: str) -> float:
    try:
        seconds = parse_duration(text)
    except ValueError as problem:
        document.fail((TABLE, "time"), str(problem), 'write for example time = "2h"')
    if seconds <= 0:
        document.fail((TABLE, "time"), "is not a time", 'write for example time = "2h"')
    return seconds


def merged(
    settings: SlurmSettings, options: Mapping[str, Any], machine: str | None
) -> SlurmSettings:
    """Return the settings of the campaign, overridden by options of the command line.

    `options` has fields of SlurmSettings; lists are appended to those of the campaign.
    """
    changes = dict(options)
    for name in LISTS:
        changes[name] = (*getattr(settings, name), *changes.get(name, ()))
    parse_sbatch(changes["sbatch"])
    result = dataclasses.replace(settings, **changes)
    if machine and result.machine_per == "node":
        raise HaspError(
            "--machine names one machine, but with --machine-per node there are many",
            "drop one of the two",
        )
    return result


def parse_sbatch(options: tuple[str, ...]) -> dict[str, str | bool]:
    """Parse options such as `--qos=long` and `--requeue` into names and values."""
    found: dict[str, str | bool] = {}
    for option in options:
        name, equals, value = option.removeprefix("--").partition("=")
        if not option.startswith("--") or not name:
            raise HaspError(
                f"{option!r} is not a long option of sbatch", "write --NAME=VALUE"
            )
        if name in OURS:
            raise HaspError(
                f"--{name} cannot be given to sbatch, because Hasp sets it",
                "see `hasp study run --help` for the options that can be set",
            )
        found[name.replace("-", "_")] = value if equals else True
    return found
