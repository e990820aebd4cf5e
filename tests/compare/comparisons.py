# SPDX-License-Identifier: MIT
"""Makes comparisons from given wall times."""

from __future__ import annotations

from hasp.compare.run_record import Run
from hasp.compare.settings import Settings
from hasp.compare.store import Comparison

HOST = {
    "hostname": "bench",
    "architecture": "x86_64",
    "cpu_model": "A CPU",
    "cpus_online": 2,
    "cpus_allowed": 2,
    "cpu_quota": None,
    "numa_nodes": 1,
    "memory_bytes": 1 << 34,
    "kernel": "6.1",
    "libc": "glibc 2.36",
    "load_average": 0.1,
}


def comparison_of(times, *, settings=None, host=None, **changes) -> Comparison:
    """Return a comparison with these wall times: {lock: [seconds of each round]}."""
    names = list(times)
    settings = settings or Settings(
        ("./program",), tuple(names), runs=len(times["glibc"])
    )
    spinning = ("ttas", "ticket", "mcs")
    compared = Comparison(
        settings=settings,
        host={**HOST, **(host or {})},
        locks=[
            {"name": n, "waiting": "spin", "collapses": n in spinning} for n in names
        ],
        version="1",
        started="2026-01-01T00:00:00+00:00",
    )
    for lock, seconds in times.items():
        for block, value in enumerate(seconds, start=1):
            fields = {"user_s": value, "system_s": 0.0, "peak_bytes": 1 << 26}
            run = {"outcome": "ok", "wall_s": value, **fields, **changes}
            if value is None:
                run |= {"outcome": "hung", "detail": "did not end within 60 s"}
            compared.runs.append(Run(block, lock, settings.threads[0], **run))
    return compared
