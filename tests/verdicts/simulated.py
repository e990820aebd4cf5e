# SPDX-License-Identifier: MIT
"""A profile made of the figures of `hasp simulate --json`.

A simulated run leaves no trace, so there are no samples of holders, no stacks and no
reader-writer locks: only causes that follow from counts and times can be found in it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from profile_samples import around, site, stack, thread

from hasp.profile.model.process_sample import ProcessSample
from hasp.profile.model.profile import (
    Overhead,
    Profile,
    Site,
    SiteStats,
    Thread,
)

NAME = "server.c:7 &table_lock"
SAMPLES = 100
LONG = 100  # the run is stretched to that many times its simulated duration
FIRST = 2  # the number of the first worker, as in a recorded program


def profile_of(run: dict[str, Any], free_ns: float, cpus: int, parks: bool) -> Profile:
    """The profile of a simulated run; `free_ns` is the time to acquire a free lock."""
    threads = run["threads"]
    duration = int(run["measured_ns"] * LONG)
    operations = run["operations"] * LONG
    wait = max(0.0, run["acquire_mean_ns"] - free_ns)
    # The section's line of data moves as the lock's line does. The simulator's own time
    # of an operation includes waking a thread after the release.
    hold = run["knobs"]["cs_ns"] + free_ns
    contended = operations if wait > free_ns else 0
    stats = SiteStats(
        acquisitions=operations,
        contended=contended,
        wait=around(wait, contended, 1),
        hold=around(hold, operations, 2),
        handover=around(run["handover_ns"] or 1.0, contended, 3),
        owner_changes=operations // max(run["longest_run"], 1),  # or more
        samples_spinning=0 if parks else contended,
        samples_parked=contended if parks else 0,
    )
    waited = operations * wait / threads
    held = operations * hold / threads
    slept = waited if parks else 0.0
    workers = [
        _worker(number, duration, waited, held, slept)
        for number in range(FIRST, FIRST + threads)
    ]
    locks = _site(stats, threads, operations * (wait + hold) / (threads * duration))
    return _profile(run, cpus, duration, workers, locks)


def _worker(
    number: int, duration: int, waited: float, held: float, slept: float
) -> Thread:
    return replace(
        thread(number, int(held), int(waited)),
        ended_ns=duration,
        cpu_ns=int(duration - slept),
    )


def _site(stats: SiteStats, threads: int, share: float) -> Site:
    waiters = stats.wait.total_ns
    return site(
        1,
        NAME,
        stats,
        share,
        threads=threads,
        waiters=(waiters, waiters, threads - 1) if waiters else None,
    )


def _profile(
    run: dict[str, Any], cpus: int, duration: int, workers: list[Thread], locks: Site
) -> Profile:
    threads = run["threads"]
    cpu = sum(worker.cpu_ns for worker in workers)
    samples = tuple(
        ProcessSample(
            at_ns=duration * number // SAMPLES,
            threads=threads,
            waiting=0,
            runnable=max(1, round(cpu / duration)),
            cpu_ns=cpu * number // SAMPLES,
            system_ns=0,
            minor_faults=0,
            involuntary=0,
            locks_created=1,
        )
        for number in range(1, SAMPLES + 1)
    )
    return Profile(
        command=("server",),
        executable="/bin/server",
        pid=1,
        lock=run["lock"],
        mode="full",
        cpus=cpus,
        nodes=max(1, cpus // 8),
        duration_ns=duration,
        began=0.0,
        ended=True,
        section_share=sum(worker.section_ns for worker in workers)
        / (threads * duration),
        threads=tuple(workers),
        sites=(replace(locks, created=stack("serve server.c:7")),),
        lock_order=(),
        events=(),
        weights=(),
        waiters=(),
        process_samples=samples,
        overhead=Overhead(0.0, 3.0, 60.0, 700.0),
        locks_created=1,
        locks_destroyed=0,
        warnings=(),
        samples=SAMPLES,
    )
