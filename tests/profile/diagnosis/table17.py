# SPDX-License-Identifier: MIT
"""Table 17 of the lock study as measures, from the study's text on each application.

The machine is the study's A-64, with 64 CPUs and 8 nodes. Numbers are the printed ones
if there are any (LS 8.1). If the text only gives a level, the number is in its middle.
"""

from __future__ import annotations

from typing import Any

from hasp.profile.diagnosis.features import Features, SiteFeatures

CPUS = 64
THREADS = {"threads": 64, "runnable_per_cpu": 0.97, "wanting_per_cpu": 0.97}
HIGH = {"waiters_share": 0.40, "waiters": 25.0}
EXTREME = {"waiters_share": 0.85, "waiters": 54.0}
HANDOVER = {
    "blocking_share": 0.5,
    "handover_ratio": 15.0,
    "handover_p99_ns": 30e6 / 2.1,  # ferret: 30M cycles at 2.1 GHz
}
MEMORY = {"memory_stalls": 2.25, "interleave_gain": 0.44}  # pca
PREEMPTION = {"threads": 300, "runnable_per_cpu": 4.7, "wanting_per_cpu": 4.7}


def _waiting(share: float) -> dict[str, float]:
    """Return a share of waiting threads."""
    return {"waiters": share * CPUS, "waiters_share": share * CPUS / (CPUS - 1)}


def _made(locks: int, faults: float) -> dict[str, float]:
    """Return many locks created at the start, with their share of page faults."""
    run_ns = 60e9
    return {
        "locks": locks,
        "created_late": 0.0,
        "lock_fault_share": faults,
        "lock_fault_ns": faults * run_ns,
    }


# Maps each application to measures of its hottest site or of the program.
APPLICATIONS: dict[str, dict[str, Any]] = {
    "facesim": HANDOVER,  # 40k migrations against 4k
    "radiosity": {**_waiting(0.30), "locks": 4000},  # 60 % on two of 4k locks
    "radiosity_ll": EXTREME,
    "ferret": HANDOVER,
    "streamcluster": {
        **EXTREME,
        "trylock_share": 0.3,
        "trylock_failure_share": 0.9,
        "trylock_failures_per_s": 1e6,
    },
    "dedup": {
        "locks": 266_000,
        "created_late": 0.9,
        "creations_per_s": 20_000,
        "fault_share": 0.30,
    },
    "vips": HANDOVER,
    "fluidanimate": {  # 500k locks, 5 billion acquisitions, half of them immediate
        **_made(500_000, 0.02),
        "waiters": 0.5,
        "waiters_share": 0.01,
        "operation_share": 0.2,
    },
    "pca": MEMORY,
    "linear_regression": _waiting(0.65),
    "s_raytrace": _waiting(0.40),
    "s_raytrace_ll": _waiting(0.60),
    "ocean_cp/ncp": {**HANDOVER, **HIGH},
    "water_spatial": _made(125_000, 0.05),  # 1 s with Spinlock, 19 s with AHMCS
    "water_nsquared": _made(32_000, 0.02),
    "fmm": _made(2_000, 0.02),  # 17 % more page faults
    "volrend": EXTREME,
    "mysql": {**_waiting(50 / 64), **MEMORY, **PREEMPTION},  # 50 of 64 on one lock
    "ssl_proxy": _waiting(0.85),
    "kyotocabinet": EXTREME,
    "upscaledb": _waiting(0.98),
    "memcached-old": {
        **_waiting(0.80),
        "trylock_share": 0.5,
        "trylock_failure_share": 0.9,
        "trylock_failures_per_s": 1e6,
    },
    "memcached-new": HIGH,
    "sqlite": PREEMPTION,
}


def features(application: str, nodes: int = 8, **more: Any) -> Features:
    """Return the measures of one row."""
    shown = {**THREADS, **APPLICATIONS[application], **more}
    site = {
        "share": 0.5,
        "wait_share": 0.4,
        "waiters": 2.0,
        "waiters_share": 0.03,
        "locks": 1,
        "created_late": 0.0,
        "blocking_share": 0.0,
        "operation_share": 0.0,
        "acquisitions_per_s": 1e5,
        "trylock_share": 0.0,
    }
    program: dict[str, Any] = {"section_share": 0.5, "active_share": 0.6}
    known = Features.__dataclass_fields__
    for name, value in shown.items():
        (program if name in known else site)[name] = value
    lock = SiteFeatures(site=1, name="app.c:1 &lock", kind="mutex", **site)
    return Features(cpus=CPUS, nodes=nodes, sites=(lock,), lock="glibc", **program)
