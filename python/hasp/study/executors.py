# SPDX-License-Identifier: MIT
"""The places where a campaign can run: this host, a simulated machine, or a cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hasp.base.errors import HaspError
from hasp.study.campaign import Campaign


@dataclass(frozen=True)
class Options:
    """The options of `hasp study run`."""

    store: Path
    machine: str | None = None  # its name in the store; None: the host's name
    place: str | None = None  # None: here
    slurm: Mapping[str, Any] = field(default_factory=dict)  # fields of SlurmSettings
    wait: bool = True  # for the jobs on a cluster
    cancel: bool = False  # the jobs on a cluster


# Runs a campaign; returns the exit status.
CarryOut = Callable[[Campaign, Options], int]


def _here(campaign: Campaign, options: Options) -> int:
    # Imported here because each place needs other packages.
    from hasp.study import batch

    return batch.carry_out(campaign, options.store, options.machine)


def _simulated(campaign: Campaign, options: Options) -> int:
    # Imported here because each place needs other packages.
    from hasp.study import simulated

    assert options.place is not None
    return simulated.carry_out(campaign, options.store, options.place, options.machine)


def _slurm(campaign: Campaign, options: Options) -> int:
    # Imported here because each place needs other packages.
    from hasp.study.slurm import batch
    from hasp.study.slurm_settings import merged

    settings = merged(campaign.slurm, options.slurm, options.machine)
    return batch.carry_out(
        campaign,
        batch.Target(options.store, settings, options.machine),
        wait=options.wait,
        cancel=options.cancel,
    )


# Word before the colon -> the function, and the place as users write it.
PLACES: dict[str, tuple[CarryOut, str]] = {
    "simulated": (_simulated, "simulated:NAME, a machine of `hasp simulate --list`"),
    "slurm": (_slurm, "slurm, on a machine of the cluster"),
}


def carry_out(campaign: Campaign, options: Options) -> int:
    """Run a campaign at the place named by the options; return the exit status."""
    if options.place is None:
        return _here(campaign, options)
    kind = options.place.partition(":")[0]
    if kind not in PLACES or options.place.startswith("slurm:"):
        forms = "; ".join(form for _, form in PLACES.values())
        raise HaspError(f"--on {options.place}: no such place", f"write {forms}")
    there, _ = PLACES[kind]
    return there(campaign, options)
