# SPDX-License-Identifier: MIT
"""Extracts the structure of a program from its profile, and compares it with facts.

Golden files contain facts that can be checked against the program's source or the table
in docs/workloads.md: the number of locks, the share of the hottest one, the modules
that own them, the share of failing trylocks. They contain no times, which depend on the
machine. [least, most] is a range, and every word of a set of words must be found.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hasp.profile.diagnosis import advise
from hasp.profile.model.profile import Kind, Operation, Profile, Site

GOLDEN = Path(__file__).with_name("golden")
LOCKS = (Kind.MUTEX, Kind.RWLOCK, Kind.SPINLOCK)

Facts = dict[str, Any]


def facts(profile: Profile) -> Facts:
    """Return the facts that golden files can contain."""
    sites = [site for site in profile.sites if site.kind in LOCKS and site.total]
    locks = [lock for site in sites for lock in site.locks]
    acquisitions = sum(lock.acquisitions for lock in locks)
    attempts = failures = trylocks = contended = 0
    for site in sites:
        use = site.total
        assert use is not None
        attempts += use.acquisitions + use.trylock_failures
        trylocks += use.trylocks
        failures += use.trylock_failures
        contended += use.contended
    hottest = max(sites, key=_acquisitions, default=None)
    most = max((lock.acquisitions for lock in locks), default=0)
    verdict = advise(profile)
    return {
        "threads": len(profile.threads),
        "sites": len(sites),
        "locks": len(locks),
        "kinds": sorted({site.kind.value for site in sites}),
        "flags": sorted({flag for lock in locks for flag in lock.flags}),
        "top_lock_share": _share(most, acquisitions),
        "top_site_share": _share(_acquisitions(hottest), acquisitions),
        "top_site_module": _module(hottest),
        "contended_share": _share(contended, acquisitions),
        "trylock_share": _share(trylocks, attempts),
        "trylock_failure_share": _share(failures, trylocks),
        "condition_waits": _stats(profile, Operation.WAIT),
        "locks_matter": verdict.locks_matter,
        "bottlenecks": sorted(verdict.bottlenecks),
        "verdict": verdict.sentence,
    }


def _acquisitions(site: Site | None) -> int:
    use = site.total if site else None
    return use.acquisitions if use else 0


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _stats(profile: Profile, operation: Operation) -> int:
    stats = [site.stats.get(operation) for site in profile.sites]
    return sum(use.acquisitions for use in stats if use)


def _module(site: Site | None) -> str:
    """Return the module that creates, or first acquires, the locks of a site."""
    stack = (site.created or site.first) if site else ()
    for frame in stack:
        if frame.module and not frame.module.startswith("libstdc++"):
            return frame.module
    return ""


def differences(program: str, found: Facts) -> list[str]:
    """Return the differences between a program and its golden file."""
    text = (GOLDEN / f"{program}.json").read_text(encoding="utf-8")
    golden: Mapping[str, Any] = json.loads(text)["expected"]
    return [
        f"{program}: {name} is {found[name]}, expected {wanted}"
        for name, wanted in golden.items()
        if not _fits(found[name], wanted)
    ]


def _fits(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, list) and wanted and not isinstance(wanted[0], str):
        least, most = wanted
        return value is not None and least <= value <= most
    if isinstance(wanted, list):
        return set(wanted) <= set(value)
    return bool(value == wanted)
