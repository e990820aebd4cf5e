# SPDX-License-Identifier: MIT
"""A profile as one JSON object of the schema hasp.report/2 (report.schema.json).

Times are in nanoseconds, shares are fractions of 1, and null means not measured.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from hasp import version
from hasp.profile.diagnosis.diagnose import cause_json
from hasp.profile.model.distribution import Distribution
from hasp.profile.model.elision import as_json as elision_json
from hasp.profile.model.profile import Lock, Profile, Site, SiteStats, Thread
from hasp.profile.report import delegation
from hasp.profile.report.figures import (
    STATISTICS,
    Row,
    contended_share,
    idle_rows,
    rows,
    statistic,
)
from hasp.profile.report.findings import Finding, Names, findings, inversions
from hasp.profile.report.headline import verdict
from hasp.profile.report.processes import process
from hasp.profile.report.samples import samples, site_samples
from hasp.profile.report.timeline import timeline
from hasp.profile.symbols.frame import Frame, Stack

SCHEMA = "hasp.report/2"
# A program may have a million locks; `instances` counts omitted ones too.
MOST_LOCKS, MOST_LOCKS_OF_A_SITE = 10_000, 100


def document(profile: Profile) -> dict[str, Any]:
    """Return the whole report."""
    names = Names(profile)
    said = verdict(profile)
    found = said.diagnosis
    return {
        "schema": SCHEMA,
        "version": version(),
        "verdict": said.record,
        "causes": [cause_json(one) for one in found.others] if found else [],
        "hang": list(said.hang),
        "overhead": vars(profile.overhead),
        "program": program(profile),
        "processes": [process(one) for one in profile.processes],
        "section_share": profile.section_share,
        "locks": lock_sites(rows(profile)),
        "waits": [idle_site(row) for row in idle_rows(profile)],
        **delegation.as_json(profile.delegation),
        "findings": [finding(one) for one in findings(profile, names)],
        "order": [finding(one) for one in inversions(profile, names)],
        "threads": [thread(one) for one in profile.threads],
        "warnings": list(profile.warnings),
        "others": list(profile.others),
        "samples": samples(profile),
        "timeline": timeline(profile, names),
    }


def program(profile: Profile) -> dict[str, Any]:
    """Return the command, the host and the duration."""
    return {
        "command": list(profile.command),
        "executable": profile.executable,
        "pid": profile.pid,
        "lock": profile.lock,
        "other_locks": {kind.value: name for kind, name in profile.other_locks.items()},
        "transactions": profile.transactions,
        "mode": profile.mode,
        "cpus": profile.cpus,
        "nodes": profile.nodes,
        "threads": profile.thread_count,
        "duration_ns": profile.duration_ns,
        "began": profile.began,
        "ended": profile.ended,
        "skipped_ns": profile.skipped_ns,
        "neighbour": asdict(profile.neighbour) if profile.neighbour else None,
        "locks_created": profile.locks_created,
        "locks_destroyed": profile.locks_destroyed,
        "counter": profile.counter,
        "counter_absent": profile.counter_absent,
    }


def times(found: Distribution) -> dict[str, float | int | None]:
    """Return the statistics, the number of durations, and how many were timed."""
    result: dict[str, float | int | None] = {
        name: statistic(found, name) for name in STATISTICS
    }
    return {**result, "number": found.number, "timed": found.timed}


def lock_sites(found: Iterable[Row]) -> list[dict[str, Any]]:
    """Return the sites; the first ones include the locks with the longest waits."""
    room = MOST_LOCKS
    sites = []
    for row in found:
        site = lock_site(row, min(room, MOST_LOCKS_OF_A_SITE))
        room -= len(site["members"])
        sites.append(site)
    return sites


def lock_site(row: Row, most: int) -> dict[str, Any]:
    """Return one site of locks with at most `most` members, by wait time."""
    site, use = row.site, row.use
    return {
        **_place(site),
        **_stats(use),
        "share": site.share,
        "waiters": {
            "mean": site.waiters_mean,
            "p95": site.waiters_p95,
            "max": site.waiters_max,
        },
        "instances": len(site.locks),
        "operations": {
            operation.value: _stats(part) for operation, part in site.stats.items()
        },
        "members": [_lock(lock) for lock in site.locks[:most]],
        **site_samples(site),
    }


def _place(site: Site) -> dict[str, Any]:
    return {
        "number": site.number,
        "site": site.place,
        "name": site.name,
        "expression": site.expression,
        "kind": site.kind.value,
        "created": stack(site.created),
        "first": stack(site.first),
    }


def _stats(use: SiteStats) -> dict[str, Any]:
    return {
        "acquisitions": use.acquisitions,
        "contended": contended_share(use),
        "wait_ns": times(use.wait),
        "hold_ns": times(use.hold),
        "handover_ns": times(use.handover),
        "trylocks": use.trylocks,
        "trylock_failures": use.trylock_failures,
        "longest_failing_run": use.longest_failing_run,
        "trying_ns": use.trying_ns,
        "timeouts": use.timeouts,
        "owner_changes": use.owner_changes,
        "node_changes": use.node_changes,
        "nested": use.nested,
        "spinning": use.spinning,
        "cache_misses": use.cache_misses,
        "unseen_waits": use.unseen_waits,
        "unseen_wait_ns": use.unseen_wait_ns,
        "taking_ns": use.each_taking_ns,
        "elision": elision_json(use.elision),
    }


def _lock(lock: Lock) -> dict[str, Any]:
    return {
        **vars(lock),
        "kind": lock.kind.value,
        "flags": sorted(lock.flags),
        "contended": lock.contended / lock.acquisitions if lock.acquisitions else None,
    }


def idle_site(row: Row) -> dict[str, Any]:
    """Return one site of condition variables or barriers."""
    use = row.use
    return {
        **_place(row.site),
        "waits": use.acquisitions,
        "wait_ns": times(use.wait),
        "timeouts": use.timeouts,
        "signals": use.signals,
        "broadcasts": use.broadcasts,
        "woken_by_signal": use.woken_by_signal,
        "woken_by_broadcast": use.woken_by_broadcast,
        "empty_signals": use.empty_signals,
        "futile_wakes": use.futile_wakes,
        "instances": len(row.site.locks),
    }


def stack(frames: Stack) -> list[dict[str, Any]]:
    """Return the frames, the innermost call first."""
    return [_frame(frame) for frame in frames]


def _frame(frame: Frame) -> dict[str, Any]:
    return dict(vars(frame))


def finding(found: Finding) -> dict[str, Any]:
    """Return a finding as a sentence with its stacks."""
    return {
        "kind": found.kind,
        "words": found.words,
        "count": found.event.count,
        "at_ns": found.event.at_ns,
        "thread": found.event.thread,
        "sites": list(found.sites),
        "traces": [
            {"words": trace.words, "stack": stack(trace.stack)}
            for trace in found.traces
        ],
    }


def thread(one: Thread) -> dict[str, Any]:
    """Return one thread."""
    between = {name: statistic(one.between, name) for name in ("mean", "p50", "p99")}
    return {
        **{name: value for name, value in vars(one).items() if name != "between"},
        "between_ns": {**between, "timed": one.between.timed},
        "waiting_to": one.waiting_to.value if one.waiting_to else None,
        "waiting_stack": stack(one.waiting_stack),
        "held": list(one.held),
    }
