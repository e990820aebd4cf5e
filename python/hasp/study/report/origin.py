# SPDX-License-Identifier: MIT
"""The origin of a study's runs in sentences, from the provenance in its store.

Facts that are not known about an imported file are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

MOST_FAILURES = 12


def origins(batches: Iterable[Mapping[str, Any]], machine: str) -> list[str]:
    """Return a sentence for each batch of a machine, then its failures."""
    said: list[str] = []
    for batch in batches:
        if batch["machine"] == machine:
            said.append(_batch(batch))
            said += _failures(batch.get("failures", ()))
            said += [
                f"{count:,} runs count although they were noisy ({kind})."
                for kind, count in batch.get("doubts", {}).items()
            ]
    return said


def _batch(batch: Mapping[str, Any]) -> str:
    """For example: 5,160 runs of x.toml by Hasp 0.1.0, until 2026-11-21, on ..."""
    by = f" by Hasp {batch['hasp_version']}" if "hasp_version" in batch else ""
    simulated = batch.get("simulated")
    verb = "until" if by else "added"
    text = f"{batch['runs']:,} runs of {batch['source']}{by}, {verb} {_day(batch)}"
    if simulated:
        return f"{text}: simulated, on the machine {simulated}."
    host = batch.get("host")
    return f"{text}, on {_host(host)}." if host else f"{text}."


def _day(batch: Mapping[str, Any]) -> str:
    return str(batch["added"]).partition("T")[0]


def _host(host: Mapping[str, Any]) -> str:
    quota = host.get("cpu_quota")
    cpus, nodes = host["cpus_allowed"], host["numa_nodes"]
    parts = [
        str(host["cpu_model"]),
        f"{cpus} CPU{'s' if cpus != 1 else ''}"
        + (f" (a quota of {quota:g})" if quota else "")
        + (f" in {nodes} NUMA nodes" if nodes > 1 else ""),
        f"{host['memory_bytes'] / 2**30:.0f} GiB",
        f"Linux {host['kernel']}",
        str(host["libc"]),
    ]
    return ", ".join(parts)


def _failures(failures: Iterable[Mapping[str, Any]]) -> list[str]:
    found = list(failures)
    lines = [
        f"{one['program']} under {one['lock']} ({_threads(one['threads'])}): "
        f"{one['outcome']}, given up{_detail(one)}"
        for one in found[:MOST_FAILURES]
    ]
    more = len(found) - len(lines)
    return [*lines, *([f"and {more} more that were given up"] if more > 0 else [])]


def _threads(number: int) -> str:
    return "1 thread" if number == 1 else f"{number} threads"


def _detail(one: Mapping[str, Any]) -> str:
    return f": {one['detail']}" if one.get("detail") else ""
