# SPDX-License-Identifier: MIT
"""Selection of the machines and metrics that two stores have in common."""

from __future__ import annotations

from pathlib import Path

from hasp.base.errors import HaspError
from hasp.study.differences import StoreDifferences, compare
from hasp.study.samples import open_store


def comparisons(
    before: Path, after: Path, machines: str | None, metric: str | None
) -> list[StoreDifferences]:
    """Return the differences for each machine and metric in both stores.

    `machines` is a comma-separated list, or None for all.
    """
    stores = [open_store(folder) for folder in (before, after)]
    first, second = (store.read() for store in stores)
    less = stores[0].lower_is_better() | stores[1].lower_is_better()
    there = {*first.select("machine", "metric").unique().rows()}
    common = sorted(there & {*second.select("machine", "metric").unique().rows()})
    wanted = [
        (machine, each)
        for machine, each in common
        if (machines is None or machine in machines.split(","))
        and metric in (None, each)
    ]
    for name in machines.split(",") if machines else ():
        if all(machine != name for machine, _ in common):
            raise HaspError(
                f"{name!r} is not a machine in both stores",
                "both have " + ", ".join(sorted({machine for machine, _ in common})),
            )
    if not wanted:
        have = ", ".join(f"{machine}: {each}" for machine, each in common) or "nothing"
        raise HaspError(
            f"{before} and {after} have no such measurements in common",
            f"both have {have}; a machine must have the same name in both",
        )
    return [
        compare(first, second, machine, each, inverted=each in less)
        for machine, each in wanted
    ]
