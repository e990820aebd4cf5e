# SPDX-License-Identifier: MIT
"""Merge the profiles of the processes of a run into one.

Sites of the same kind, name and address in the same module become one site, with the
locks and threads of all processes. Numbers of locks and threads are made unique. Times
count from the beginning of the first process. What cannot be added up, such as the
sampled states of holders, is taken from the process that waited longest at the site.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from hasp.profile.model.delegation import merged as merged_delegation
from hasp.profile.model.merge_part import Part
from hasp.profile.model.merge_sites import merged_sites
from hasp.profile.model.process_row import ProcessRow
from hasp.profile.model.process_sample import ProcessSample
from hasp.profile.model.profile import (
    Overhead,
    Profile,
)

BIN_NS = 100_000_000  # of merged samples of the processes
INVERSIONS = ("order-inversion", "reader-inversion")  # `other` is a lock


def merge(profiles: Sequence[Profile]) -> Profile:
    """Return the merged profile, which lists its processes.

    Raises ValueError for no profile, and for processes of different machines.
    """
    if not profiles:
        raise ValueError("there is nothing to merge")
    profiles = sorted(profiles, key=lambda one: one.began)
    first = profiles[0]
    parts, locks, threads = [], 0, 0
    for one in profiles:
        parts.append(Part(one, locks, threads, round((one.began - first.began) * 1e9)))
        locks += _most_lock(one) + 1
        threads += max((thread.number for thread in one.threads), default=0) + 1
    duration = max(part.ns + part.profile.duration_ns for part in parts)
    rows = tuple(_row(part) for part in parts)
    if len(parts) == 1:
        return replace(first, processes=rows)
    sites = merged_sites(parts)
    lived = sum(part.lived_ns for part in parts)
    sections = sum(part.profile.section_share * part.lived_ns for part in parts)
    whole = replace(
        first,
        duration_ns=duration,
        ended=all(one.ended for one in profiles),
        section_share=sections / lived if lived else 0.0,
        sites=tuple(sorted(sites, key=lambda one: -one.share)),
        overhead=_overhead(parts),
        locks_created=sum(one.locks_created for one in profiles),
        locks_destroyed=sum(one.locks_destroyed for one in profiles),
        warnings=tuple(dict.fromkeys(w for one in profiles for w in one.warnings)),
        others=(),
        damaged=any(one.damaged for one in profiles),
        samples=max(one.samples for one in profiles),
        process_samples=tuple(_process_samples(parts, duration)),
        neighbour=max(
            (one.neighbour for one in profiles if one.neighbour),
            key=lambda one: one.cpus,
            default=None,
        ),
        delegation=merged_delegation(one.delegation for one in profiles),
        foreign=None,
        foreign_absent="waits in foreign futexes are not merged over processes",
        unseen_runtimes=tuple(
            {run.id: run for one in profiles for run in one.unseen_runtimes}.values()
        ),
        lock_sites=(),
        processes=rows,
    )
    return _with_records(whole, parts)


def _with_records(whole: Profile, parts: Sequence[Part]) -> Profile:
    """Add the records that only need other numbers and times."""
    return replace(
        whole,
        threads=tuple(p.moved_thread(one) for p in parts for one in p.profile.threads),
        lock_order=tuple(
            replace(one, outer=p.lock(one.outer), inner=p.lock(one.inner))
            for p in parts
            for one in p.profile.lock_order
        ),
        events=tuple(
            replace(
                one,
                thread=p.thread(one.thread),
                lock=p.lock(one.lock),
                other=(p.lock if one.kind in INVERSIONS else p.thread)(one.other),
                at_ns=one.at_ns + p.ns,
            )
            for p in parts
            for one in p.profile.events
        ),
        weights=tuple(
            replace(one, lock=p.lock(one.lock))
            for p in parts
            for one in p.profile.weights
        ),
        waiters=tuple(
            sorted(
                (p.moved_sample(one) for p in parts for one in p.profile.waiters),
                key=lambda one: one.at_ns,
            )
        ),
        held_at_end=tuple(
            replace(one, lock=p.lock(one.lock), thread=p.thread(one.thread))
            for p in parts
            for one in p.profile.held_at_end
        ),
    )


def _most_lock(profile: Profile) -> int:
    if len(profile.lock_sites):
        return len(profile.lock_sites)
    return max(
        (lock.number for site in profile.sites for lock in site.locks), default=0
    )


def _row(part: Part) -> ProcessRow:
    profile = part.profile
    used = [site for site in profile.sites if site.share > 0]
    return ProcessRow(
        profile.pid,
        tuple(profile.command),
        profile.thread_count,
        part.ns,
        profile.duration_ns,
        sum(thread.cpu_ns for thread in profile.threads),
        sum(thread.wait_ns for thread in profile.threads),
        profile.section_share,
        max(used, key=lambda site: site.share).name if used else "",
    )


def _overhead(parts: Sequence[Part]) -> Overhead:
    every = [part.profile for part in parts]
    weights = [max(part.lived_ns, 1) for part in parts]
    share = sum(w * one.overhead.share for w, one in zip(weights, every, strict=True))
    spent = sum(one.overhead.spent_ns for one in every)
    return replace(every[0].overhead, share=share / sum(weights), spent_ns=spent)


def _process_samples(parts: Sequence[Part], duration: int) -> Iterator[ProcessSample]:
    """Yield the sums over the processes, by bins of time."""
    if not any(part.profile.process_samples for part in parts):
        return
    last: dict[int, ProcessSample] = {}
    pending = sorted(
        (
            (part.ns + sample.at_ns, number, sample)
            for number, part in enumerate(parts)
            for sample in part.profile.process_samples
        ),
        key=lambda one: one[:2],
    )
    place = 0
    for at in range(BIN_NS, duration + BIN_NS, BIN_NS):
        while place < len(pending) and pending[place][0] <= at:
            _, number, sample = pending[place]
            last[number] = sample
            place += 1
        alive = {
            number
            for number, part in enumerate(parts)
            if part.ns + part.profile.duration_ns > at - BIN_NS
        }
        if last:
            yield _summed_samples(min(at, duration), last, alive)


def _summed_samples(
    at: int, last: Mapping[int, ProcessSample], alive: set[int]
) -> ProcessSample:
    now = [sample for number, sample in last.items() if number in alive]
    runnable = [one.runnable for one in now if one.runnable is not None]
    every = list(last.values())
    return ProcessSample(
        at,
        sum(one.threads for one in now),
        sum(one.waiting for one in now),
        sum(runnable) if runnable else None,
        sum(one.cpu_ns for one in every),
        sum(one.system_ns for one in every),
        sum(one.minor_faults for one in every),
        sum(one.involuntary for one in every),
        sum(one.locks_created for one in every),
        max(one.idle_ns for one in every),
        max(one.machine_cpus for one in every),
    )
