# SPDX-License-Identifier: MIT
"""Where a plan can be carried out: here, or at the PLACE of `hasp study run --on`."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from hasp.base.errors import HaspError
from hasp.study.campaign import Campaign
from hasp.study.slurm_settings import refuse_elsewhere

# Takes the plan and the options of `hasp study run`; returns the exit status.
CarryOut = Callable[[Campaign, argparse.Namespace], int]


def _here(campaign: Campaign, arguments: argparse.Namespace) -> int:
    from hasp.study import batch as session

    return session.carry_out(campaign, arguments.store, arguments.machine)


def _simulated(campaign: Campaign, arguments: argparse.Namespace) -> int:
    from hasp.study import simulated

    return simulated.carry_out(
        campaign, arguments.store, arguments.on, arguments.machine
    )


def _slurm(campaign: Campaign, arguments: argparse.Namespace) -> int:
    from hasp.study.slurm import batch as session

    return session.carry_out(campaign, arguments)


# By the word before the colon: who carries plans out there, and how it is written.
PLACES: dict[str, tuple[CarryOut, str]] = {
    "simulated": (_simulated, "simulated:NAME, a machine of `hasp simulate --list`"),
    "slurm": (_slurm, "slurm, on a machine of the cluster"),
}


def carry_out(campaign: Campaign, arguments: argparse.Namespace) -> int:
    """Carry a plan out at the place that `--on` names."""
    if arguments.on != "slurm":
        refuse_elsewhere(arguments)
    if arguments.on is None:
        return _here(campaign, arguments)
    kind = arguments.on.partition(":")[0]
    if kind not in PLACES or arguments.on.startswith("slurm:"):
        forms = "; ".join(form for _, form in PLACES.values())
        raise HaspError(f"--on {arguments.on}: no such place", f"write {forms}")
    there, _ = PLACES[kind]
    return there(campaign, arguments)
