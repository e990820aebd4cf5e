# SPDX-License-Identifier: MIT
"""What a study asks of a Slurm cluster: a plan's table [slurm], and options over it."""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any

from hasp.base.document import Document
from hasp.base.durations import duration_argument, parse_duration
from hasp.base.errors import HaspError
from hasp.compare.options import positive

TABLE = "slurm"
PER = ("kind", "node")
# What Hasp says to sbatch itself, and would break if a user did.
OURS = (
    *("array", "error", "job-name", "nodes", "ntasks", "open-mode", "output"),
    *("partition", "account", "constraint", "signal", "time", "wrap"),
)
TEXTS = ("partition", "account", "constraint", "time", "machine_per")
LISTS = ("sbatch", "setup")
KEYS = (*TEXTS, "jobs", *LISTS)
# Options that say what to do this time, and are no keys of a plan.
ACTIONS = ("no_wait", "cancel")


@dataclasses.dataclass(frozen=True)
class Settings:
    """What to ask for."""

    partition: str = ""
    account: str = ""
    constraint: str = ""
    time_s: float = 3600.0
    jobs: int = 1  # tasks of the array: as many nodes work at once
    machine_per: str = "kind"
    sbatch: tuple[str, ...] = ()  # more options of sbatch, as on its command line
    setup: tuple[str, ...] = ()  # lines of shell before the work

    @property
    def selection(self) -> str:
        """What decides on which nodes the study runs, and what they are called."""
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


DEFAULT = Settings()


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `hasp study run` that are for `--on slurm`."""
    group = parser.add_argument_group(
        "on a Slurm cluster (--on slurm), over the plan's table [slurm]"
    )
    add = group.add_argument
    add("--partition", metavar="NAME", help="of the nodes")
    add("--account", metavar="NAME", help="that pays")
    add("--constraint", metavar="FEATURES", help="that the nodes must have")
    add(
        "--time",
        type=duration_argument,
        metavar="TIME",
        help="limit of a job (default: 1h); what is left goes on in another",
    )
    add(
        "--jobs",
        type=positive,
        metavar="N",
        help="nodes that work at the same time (default: 1)",
    )
    add(
        "--machine-per",
        choices=PER,
        help="kind: nodes of one kind are one machine and share the work (default); "
        "node: each is a machine and does all of it",
    )
    add(
        "--sbatch",
        action="append",
        metavar="OPTION",
        help="one more option for sbatch, e.g. --sbatch=--qos=long; may be repeated",
    )
    add(
        "--setup",
        action="append",
        metavar="LINE",
        help="a line of shell before the work, e.g. 'module load x'; may be repeated",
    )
    add("--no-wait", action="store_true", help="submit and leave; later calls collect")
    add(
        "--cancel", action="store_true", help="end the study's jobs; collect their runs"
    )


def refuse_elsewhere(arguments: argparse.Namespace) -> None:
    """Say that options for Slurm mean nothing in another place."""
    for name in (*KEYS, *ACTIONS):
        if getattr(arguments, name, None):
            option = f"--{name.replace('_', '-')}"
            raise HaspError(
                f"{option} is for a Slurm cluster",
                f"add `--on slurm`, or drop {option}",
            )


def of_document(document: Document) -> Settings:
    """What a plan's table [slurm] says; errors name its line and key."""
    said = document.get((TABLE,))
    if said is None:
        return DEFAULT
    if not isinstance(said, dict):
        document.fail((TABLE,), "is no table", "write its keys below [slurm]")
    for key, value in said.items():
        place = (TABLE, key)
        if key not in KEYS:
            document.fail(place, "no such key", f"it may be {', '.join(KEYS)}")
        if key in TEXTS and not isinstance(value, str):
            document.fail(place, f"{value!r} is not text", 'write it in "..."')
        if key in LISTS and not (
            isinstance(value, list) and all(isinstance(word, str) for word in value)
        ):
            document.fail(place, "is no list of texts", 'write ["...", "..."]')
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
    return Settings(**changes)


def _seconds(document: Document, text: str) -> float:
    try:
        seconds = parse_duration(text)
    except ValueError as problem:
        document.fail((TABLE, "time"), str(problem), 'write for example time = "2h"')
    if seconds <= 0:
        document.fail((TABLE, "time"), "is no time", 'write for example time = "2h"')
    return seconds


def merged(settings: Settings, arguments: argparse.Namespace) -> Settings:
    """The settings with the options of the command line over them."""
    changes: dict[str, Any] = {
        name: getattr(arguments, name)
        for name in ("partition", "account", "constraint", "jobs", "machine_per")
        if getattr(arguments, name) is not None
    }
    if arguments.time is not None:
        changes["time_s"] = arguments.time
    for name in LISTS:
        changes[name] = (*getattr(settings, name), *(getattr(arguments, name) or ()))
    parse_sbatch(changes["sbatch"])
    result = dataclasses.replace(settings, **changes)
    if arguments.machine and result.machine_per == "node":
        raise HaspError(
            "--machine names one machine, and --machine-per node makes each node one",
            "drop one of the two",
        )
    return result


def parse_sbatch(options: tuple[str, ...]) -> dict[str, str | bool]:
    """`--qos=long` and `--requeue` as names and values."""
    found: dict[str, str | bool] = {}
    for option in options:
        name, equals, value = option.removeprefix("--").partition("=")
        if not option.startswith("--") or not name:
            raise HaspError(
                f"{option!r} is no long option of sbatch", "write --NAME=VALUE"
            )
        if name in OURS:
            raise HaspError(
                f"--{name} is not to be given to sbatch: Hasp does so itself",
                "see `hasp study run --help` for what can be chosen",
            )
        found[name.replace("-", "_")] = value if equals else True
    return found
