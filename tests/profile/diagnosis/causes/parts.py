# SPDX-License-Identifier: MIT
"""Parts of synthetic profiles: four threads on two CPUs, for ten seconds."""

from __future__ import annotations

from dataclasses import replace

import profile_samples as samples
from profile_samples import SECOND, stack

from hasp.profile.model.distribution import NOTHING
from hasp.profile.model.holding import HolderFunction, HolderState, Holding, StateShare
from hasp.profile.model.profile import Kind, Profile, Site, SiteStats

US, MS = 1000, 1_000_000
NAME = "db.c:88 &db->mu"


def use(
    acquisitions: int,
    contended: int = 0,
    wait: float = 0,
    hold: float = 100,
    **more: int,
) -> SiteStats:
    """Return statistics with these counts and mean times in ns."""
    made = samples.use(acquisitions, contended, wait, hold)
    return replace(made, handover=NOTHING, **more)  # type: ignore[arg-type]


def holding(*states: tuple[HolderState, float, str | None], **more: object) -> Holding:
    """Return sampled states of holders: state, share, system call."""
    shares = [
        StateShare(state, share, round(200 * share), call)
        for state, share, call in states
    ]
    return Holding(200, tuple(shares), **more)  # type: ignore[arg-type]


RUNS = holding((HolderState.RUNNING, 1.0, None))


def site(
    stats: SiteStats,
    *,
    held: Holding | None = RUNS,
    kind: Kind = Kind.MUTEX,
    name: str = NAME,
    number: int = 1,
    instances: int = 1,
    function: str = "put",
) -> Site:
    """Return a site whose locks `function` holds longest."""
    made = samples.site(number, name, stats, 0.5, kind=kind, instances=instances)
    holder = HolderFunction(
        function,
        1.0,
        stats.acquisitions,
        stats.hold.total_ns,
        stack(f"{function} db.c:120"),
    )
    return replace(made, holding=held, holders=(holder,))


def program(
    *sites: Site,
    runnable: int = 1,
    cpus: int = 2,
    share: float = 0.5,
    cpu_ns: int = 2 * SECOND,
) -> Profile:
    """Return the program; `runnable` threads run or are ready in each sample.

    `cpu_ns` is the CPU time of each of the four workers.
    """
    made = samples.profile(sites, share)
    moments = [
        replace(sample, runnable=runnable, system_ns=0)
        for sample in made.process_samples
    ]
    workers = [replace(one, cpu_ns=cpu_ns) for one in made.threads[1:]]
    main = replace(made.threads[0], cpu_ns=MS)
    return replace(
        made,
        cpus=cpus,
        process_samples=tuple(moments),
        threads=(main, *workers),
    )
