# SPDX-License-Identifier: MIT
"""`hasp study run`: make the runs of a campaign, on this host or elsewhere."""

from __future__ import annotations

import argparse
from typing import Any

from hasp.base.durations import duration_argument
from hasp.base.errors import HaspError
from hasp.cli.measuring import positive
from hasp.cli.study_actions.common import add_campaign_options

HELP = "make the runs of a campaign, or resume it"
# Options for `--on slurm` only: first those that override settings.
SETTINGS = (
    *("partition", "account", "constraint", "time_s"),
    *("jobs", "machine_per", "sbatch", "setup"),
)
ACTIONS = ("no_wait", "cancel")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options for the campaign, the store, and where to run."""
    add_campaign_options(parser)
    parser.add_argument(
        "--on",
        metavar="PLACE",
        help="simulated:MACHINE (`hasp simulate --list`) or slurm (default: here)",
    )
    _add_slurm_options(parser)


def _add_slurm_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "on a Slurm cluster (--on slurm); overrides the campaign's table [slurm]"
    )
    add = group.add_argument
    add("--partition", metavar="NAME", help="partition of the nodes")
    add("--account", metavar="NAME", help="account to charge")
    add("--constraint", metavar="FEATURES", help="features that the nodes must have")
    add(
        "--time",
        type=duration_argument,
        dest="time_s",
        metavar="TIME",
        help="time limit of a job (default: 1h); another job continues the work",
    )
    add(
        "--jobs",
        type=positive,
        metavar="N",
        help="nodes to use at the same time (default: 1)",
    )
    add(
        "--machine-per",
        choices=("kind", "node"),
        help="kind: nodes of one kind are one machine and share the work (default); "
        "node: each node is a machine and does all the work",
    )
    add(
        "--sbatch",
        action="append",
        metavar="OPTION",
        help="another option for sbatch, e.g. --sbatch=--qos=long; may be repeated",
    )
    add(
        "--setup",
        action="append",
        metavar="LINE",
        help="a shell command before the work, e.g. 'module load x'; may be repeated",
    )
    add("--no-wait", action="store_true", help="submit only; later calls collect")
    add(
        "--cancel",
        action="store_true",
        help="cancel the jobs of the campaign and collect their runs",
    )


def run(arguments: argparse.Namespace) -> int:
    """Make the runs; after Ctrl-C the store is usable and the campaign resumable."""
    from hasp.study.campaign import load
    from hasp.study.executors import Options, carry_out

    given: dict[str, Any] = {
        name: value for name in SETTINGS if (value := getattr(arguments, name))
    }
    if arguments.on != "slurm":
        for name in (*given, *(name for name in ACTIONS if getattr(arguments, name))):
            option = f"--{name.removesuffix('_s').replace('_', '-')}"
            raise HaspError(
                f"{option} is for a Slurm cluster",
                f"add `--on slurm`, or drop {option}",
            )
    options = Options(
        store=arguments.store,
        machine=arguments.machine,
        place=arguments.on,
        slurm=given,
        wait=not arguments.no_wait,
        cancel=arguments.cancel,
    )
    return carry_out(load(arguments.campaign), options)
