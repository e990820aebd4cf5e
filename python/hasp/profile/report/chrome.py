# SPDX-License-Identifier: MIT
"""Waiters and holders over time in the Trace Event Format, for Perfetto.

There are two processes: the program, with counters and a track for each thread; and its
locks, with a counter of waiters and a track for each lock, whose slices are its
holders. Both come from samples, so a slice merges consecutive samples, and events
shorter than the sampling interval may be missing.

Viewers require the slices of a track to nest, so times are whole microseconds, which
floating-point numbers represent exactly. Viewers look up a thread by its id alone, so
locks have ids that no process or thread can have.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from hasp import version
from hasp.profile.model.profile import Profile, WaiterSample
from hasp.profile.report.findings import Names

Event = dict[str, Any]
MOST_LOCKS = 200  # those with the most waiting; viewers cannot show more
MOST_EVENTS = 400_000
LOCKS = 1 << 23  # twice the largest process or thread id of Linux


def chrome_trace(profile: Profile) -> dict[str, Any]:
    """Return the events; times are in microseconds since the profile began."""
    names = Names(profile)
    program = profile.pid or 1
    events: list[Event] = [
        _named("process_name", program, program, profile.executable or "program"),
        _named("process_name", LOCKS, LOCKS, "locks: who holds, how many wait"),
        *_threads(profile, program),
        *_process_samples(profile, program),
        *_locks(profile, names),
    ]
    return {
        "traceEvents": events[:MOST_EVENTS],
        "displayTimeUnit": "ms",
        "otherData": {
            "exporter": f"hasp {version()}",
            "command": " ".join(profile.command),
            "cut": max(0, len(events) - MOST_EVENTS),
        },
    }


def chrome_text(profile: Profile) -> str:
    """Return the file's content."""
    return json.dumps(chrome_trace(profile), separators=(",", ":")) + "\n"


def _named(what: str, pid: int, tid: int, name: str) -> Event:
    return {"ph": "M", "name": what, "pid": pid, "tid": tid, "args": {"name": name}}


def _us(ns: float) -> int:
    return round(ns / 1000)


def _threads(profile: Profile, pid: int) -> Iterator[Event]:
    for thread in profile.threads:
        tid = thread.tid or thread.number
        end = profile.duration_ns if thread.ended_ns is None else thread.ended_ns
        yield _named("thread_name", pid, tid, thread.name or f"thread {thread.number}")
        yield {
            "ph": "X",
            "name": "alive",
            "cat": "thread",
            "pid": pid,
            "tid": tid,
            "ts": _us(thread.began_ns),
            "dur": max(0, _us(end) - _us(thread.began_ns)),
            "args": {
                "in sections, ms": thread.section_ns / 1e6,
                "waiting for locks, ms": thread.wait_ns / 1e6,
                "idle, ms": thread.idle_ns / 1e6,
                "CPU, ms": thread.cpu_ns / 1e6,
            },
        }


def _process_samples(profile: Profile, pid: int) -> Iterator[Event]:
    for moment in profile.process_samples:
        values = {"waiting": moment.waiting, "others": moment.threads - moment.waiting}
        yield _counter("threads", pid, moment.at_ns, values)
        if moment.runnable is not None:
            runnable = {"runnable": moment.runnable}
            yield _counter("runnable threads", pid, moment.at_ns, runnable)


def _counter(name: str, pid: int, at_ns: float, values: dict[str, int]) -> Event:
    return {"ph": "C", "name": name, "pid": pid, "ts": _us(at_ns), "args": values}


def _locks(profile: Profile, names: Names) -> Iterator[Event]:
    by_lock: dict[int, list[WaiterSample]] = {}
    for sample in profile.waiters:
        by_lock.setdefault(sample.lock, []).append(sample)
    tick = profile.sample_ns
    busiest = sorted(
        by_lock,
        key=lambda lock: sum(one.waiters * one.weight for one in by_lock[lock]),
        reverse=True,
    )
    for lock in busiest[:MOST_LOCKS]:
        samples = sorted(by_lock[lock], key=lambda one: one.at_ns)
        name = names.lock(lock)
        yield _named("thread_name", LOCKS, LOCKS + lock, name)
        yield from _waiters(samples, f"waiters of {name}", tick)
        yield from _holders(samples, names, LOCKS + lock, tick)


def _waiters(samples: list[WaiterSample], name: str, tick: float) -> Iterator[Event]:
    """Yield a counter of waiters. No sample means no waiters, so the counter drops."""
    end: float | None = None
    for sample in samples:
        start = _start(sample, tick)
        if end is not None and start - end > tick / 2:
            yield _counter(name, LOCKS, end, {"waiters": 0})
        yield _counter(name, LOCKS, max(start, end or 0), {"waiters": sample.waiters})
        end = sample.at_ns
    if end is not None:
        yield _counter(name, LOCKS, end, {"waiters": 0})


def _start(sample: WaiterSample, tick: float) -> float:
    """Return the start of the time that a sample represents.

    It ends with the sample.
    """
    return max(0.0, sample.at_ns - tick * sample.weight)


def holder_runs(
    samples: list[WaiterSample], tick: float
) -> Iterator[tuple[int, float, float]]:
    """Yield the holders of one lock over time: thread number, begin and end in ns.

    Consecutive samples of the same holder make one run; runs do not overlap.
    """
    runs: list[tuple[int, float, float]] = []
    for holder, group in groupby(samples, key=lambda one: one.holder):
        if not holder:
            continue
        for sample in group:
            start, end = _start(sample, tick), float(sample.at_ns)
            if runs and runs[-1][0] == holder and start - runs[-1][2] < tick / 2:
                runs[-1] = (holder, runs[-1][1], end)
            else:
                runs.append((holder, start, end))
    last = 0.0
    for holder, begin, end in runs:
        # A sample may be late, but the slices of a track must not overlap.
        yield holder, max(begin, last), end
        last = end


def _holders(
    samples: list[WaiterSample], names: Names, track: int, tick: float
) -> Iterator[Event]:
    for holder, begin, end in holder_runs(samples, tick):
        yield {
            "ph": "X",
            "name": names.thread(holder),
            "cat": "holder",
            "pid": LOCKS,
            "tid": track,
            "ts": _us(begin),
            "dur": _us(end) - _us(begin),
        }
