# SPDX-License-Identifier: MIT
"""Computes the advisor's measures from the figures of `hasp simulate --json`.

A simulated run leaves no trace, because there are no threads to sample. The number of
waiters follows from Little's law ("A proof for the queuing formula L = lambda W",
Operations Research 1961): the rate of acquisitions times the waiting time of each,
which is its mean time to acquire minus the time that a free lock takes. Measures that a
simulation does not provide stay None.
"""

from __future__ import annotations

from typing import Any

from hasp.profile.diagnosis.features import Features, SiteFeatures


def features(run: dict[str, Any], free_ns: float, cpus: int, nodes: int) -> Features:
    """Return the measures of one run; `free_ns` is the time to acquire a free lock."""
    per_ns = run["throughput_mops"] / 1e3
    threads, locks = run["threads"], run["knobs"].get("locks", 1)
    waiting = per_ns * max(0.0, run["acquire_mean_ns"] - free_ns)
    share = per_ns * run["operation_mean_ns"] / threads
    site = SiteFeatures(
        site=1,
        name=run["workload"],
        kind="mutex",
        share=share,
        wait_share=waiting / threads,
        waiters=waiting / locks,
        waiters_share=waiting / locks / (cpus - 1),
        acquisitions_per_s=per_ns * 1e9,
        operation_share=per_ns * free_ns / threads,
        handover_ns=run["handover_ns"],
        locks=locks,
        trylock_share=0.0,
        blocking_share=0.0,
    )
    return Features(
        cpus=cpus,
        nodes=nodes,
        sites=(site,),
        lock=run["lock"],
        threads=threads,
        section_share=share,
        active_share=share,
        runnable_per_cpu=threads / cpus,
    )
