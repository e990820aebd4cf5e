# SPDX-License-Identifier: MIT
"""Export for the Firefox Profiler, in version 48 of its processed profile format.

https://profiler.firefox.com upgrades files of older versions when it loads them. The
file has a track for waits and one for holds, with the recorded stacks weighted by
time; they are sums over the run, so their positions on the time line mean nothing. A
track for each thread that was seen holding or waiting has markers for the locks that
it held, and a track for each lock has markers for its waiting threads; both come from
samples.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from hasp import version
from hasp.profile.model.profile import Profile, WaiterSample
from hasp.profile.report.chrome import MOST_LOCKS, holder_runs
from hasp.profile.report.findings import Names
from hasp.profile.report.stacks import KINDS, label, time_of

FORMAT = 48
GECKO_FORMAT = 29
OTHER, WAITING, HOLDING = 0, 1, 2
CATEGORIES = (("Other", "grey"), ("Waiting", "red"), ("Holding", "blue"))
INTERVAL = 1  # phase of a marker with a beginning and an end
UNKNOWN = -1
MARKERS_LIMIT = 200_000
Key = tuple[str, str | None, int | None]  # function, file, line


def firefox_text(profile: Profile) -> str:
    """Return the file's content."""
    return json.dumps(firefox(profile), separators=(",", ":")) + "\n"


def firefox(profile: Profile) -> dict[str, Any]:
    """Return the profile; times are in milliseconds since it began."""
    names = Names(profile)
    threads = [_stacks(profile, names, kind) for kind in KINDS]
    threads += _timeline(profile, names)
    for number, thread in enumerate(threads):
        thread |= {
            "processType": "default",
            "processName": profile.program or "program",
            "processStartupTime": 0,
            "processShutdownTime": None,
            "registerTime": 0,
            "unregisterTime": None,
            "pausedRanges": [],
            "isMainThread": number == 0,
            "showMarkersInTimeline": True,
            "pid": str(profile.pid or 1),
        }
    return {
        "meta": _meta(profile),
        "libs": [],
        "pages": [],
        "counters": [],
        "threads": threads,
    }


def _meta(profile: Profile) -> dict[str, Any]:
    columns = ["marker-chart", "marker-table", "timeline-overview"]
    fields = [
        {"key": "lock", "label": "Lock", "format": "string", "searchable": True},
        {"key": "thread", "label": "Thread", "format": "string", "searchable": True},
        {"key": "waiters", "label": "Waiting threads", "format": "integer"},
    ]
    return {
        "interval": profile.sample_ns / 1e6,
        "startTime": profile.began * 1000,
        "processType": 0,
        "product": "Hasp",
        "importedFrom": f"hasp {version()}",
        "arguments": " ".join(profile.command),
        "stackwalk": 1,
        "debug": False,
        "version": GECKO_FORMAT,
        "preprocessedProfileVersion": FORMAT,
        "symbolicated": True,
        "logicalCPUs": profile.cpus,
        "categories": [
            {"name": name, "color": color, "subcategories": ["Other"]}
            for name, color in CATEGORIES
        ],
        "markerSchema": [
            {
                "name": kind,
                "display": columns,
                "tableLabel": f"{{marker.data.{shown}}}",
                "chartLabel": f"{{marker.data.{shown}}}",
                "data": fields,
            }
            for kind, shown in (("hold", "lock"), ("wait", "waiters"))
        ],
    }


class _Tables:
    """The tables of one thread; equal entries are stored once."""

    def __init__(self) -> None:
        self.strings: dict[str, int] = {}
        self._frames: dict[Key, int] = {}
        self._stacks: dict[tuple[int, int | None], int] = {}

    def string(self, text: str) -> int:
        return self.strings.setdefault(text, len(self.strings))

    def stack(self, keys: Iterable[Key]) -> int | None:
        """Return the number of a stack, given from its outermost frame."""
        prefix: int | None = None
        for key in keys:
            frame = self._frames.setdefault(key, len(self._frames))
            pair = (frame, prefix)
            prefix = self._stacks.setdefault(pair, len(self._stacks))
        return prefix

    def document(self, category: int) -> dict[str, Any]:
        frames, stacks = list(self._frames), list(self._stacks)
        count, depth = len(frames), len(stacks)
        files = [None if file is None else self.string(file) for _, file, _ in frames]
        functions = [self.string(name) for name, _, _ in frames]
        lines = [line for _, _, line in frames]
        return {
            "stackTable": {
                "frame": [frame for frame, _ in stacks],
                "prefix": [prefix for _, prefix in stacks],
                "category": [category] * depth,
                "subcategory": [0] * depth,
                "length": depth,
            },
            "frameTable": {
                "address": [UNKNOWN] * count,
                "inlineDepth": [0] * count,
                "category": [category] * count,
                "subcategory": [0] * count,
                "func": list(range(count)),
                "nativeSymbol": [None] * count,
                "innerWindowID": [None] * count,
                "implementation": [None] * count,
                "line": lines,
                "column": [None] * count,
                "length": count,
            },
            "funcTable": {
                "isJS": [False] * count,
                "relevantForJS": [False] * count,
                "name": functions,
                "resource": [UNKNOWN] * count,
                "fileName": files,
                "lineNumber": lines,
                "columnNumber": [None] * count,
                "length": count,
            },
            "resourceTable": {
                "lib": [],
                "name": [],
                "host": [],
                "type": [],
                "length": 0,
            },
            "nativeSymbols": {
                "libIndex": [],
                "address": [],
                "name": [],
                "functionSize": [],
                "length": 0,
            },
            "stringArray": list(self.strings),
        }


def _stacks(profile: Profile, names: Names, kind: str) -> dict[str, Any]:
    """Return a track with the stacks of waits or holds, weighted by their time."""
    tables = _Tables()
    stacks, weights = [], []
    for weight in profile.weights:
        value = time_of(weight, kind)
        if value > 0:
            keys = [(label(one), one.file, one.line) for one in reversed(weight.stack)]
            stacks.append(tables.stack([*keys, (names.lock(weight.lock), None, None)]))
            weights.append(value / 1e6)
    step = profile.duration_ns / 1e6 / max(len(stacks), 1)
    category = WAITING if kind == "wait" else HOLDING
    return {
        "name": f"{kind}s by stack (sums)",
        "tid": UNKNOWN - KINDS.index(kind),
        "samples": _samples(stacks, [step * n for n in range(len(stacks))], weights),
        "markers": _markers([], tables),
        **tables.document(category),
    }


def _samples(
    stacks: Sequence[int | None], times: Sequence[float], weights: Sequence[float]
) -> dict[str, Any]:
    return {
        "stack": list(stacks),
        "time": list(times),
        "weight": list(weights),
        "weightType": "tracing-ms",
        "eventDelay": [0] * len(stacks),
        "length": len(stacks),
    }


Marker = tuple[str, float, float, dict[str, Any]]  # name, begin and end in ns, data


def _markers(markers: Sequence[Marker], tables: _Tables) -> dict[str, Any]:
    markers = sorted(markers, key=lambda one: one[1])
    category = {"hold": HOLDING, "wait": WAITING}
    return {
        "name": [tables.string(name) for name, _, _, _ in markers],
        "startTime": [begin / 1e6 for _, begin, _, _ in markers],
        "endTime": [end / 1e6 for _, _, end, _ in markers],
        "phase": [INTERVAL] * len(markers),
        "category": [category[data["type"]] for _, _, _, data in markers],
        "data": [data for _, _, _, data in markers],
        "length": len(markers),
    }


def _timeline(profile: Profile, names: Names) -> list[dict[str, Any]]:
    """Return the tracks of threads that held locks, and of locks with waiters."""
    by_lock: dict[int, list[WaiterSample]] = {}
    for sample in profile.waiters:
        by_lock.setdefault(sample.lock, []).append(sample)
    busiest = sorted(by_lock, key=lambda lock: -_waiting(by_lock[lock]))[:MOST_LOCKS]
    held: dict[int, list[Marker]] = {}
    waited: dict[int, list[Marker]] = {}
    left = MARKERS_LIMIT
    for lock in busiest:
        name, tick = names.lock(lock), profile.sample_ns
        for holder, begin, end in holder_runs(by_lock[lock], tick):
            data = {"type": "hold", "lock": name, "thread": names.thread(holder)}
            held.setdefault(holder, []).append(("hold", begin, end, data))
        waited[lock] = _waits(by_lock[lock], name, tick)
        left -= len(waited[lock])
        if left < 0:
            break
    tracks = [
        _track(names.thread(holder), _tid(names, holder), markers)
        for holder, markers in sorted(held.items())
    ]
    return tracks + [
        _track(f"waiters: {names.lock(lock)}", UNKNOWN - len(KINDS) - place, markers)
        for place, (lock, markers) in enumerate(waited.items())
    ]


def _tid(names: Names, holder: int) -> int:
    thread = names.threads.get(holder)
    return thread.tid if thread and thread.tid else holder


def _waiting(samples: Sequence[WaiterSample]) -> int:
    return sum(one.waiters * one.weight for one in samples)


def _waits(samples: Sequence[WaiterSample], name: str, tick: float) -> list[Marker]:
    """Return markers of equal numbers of waiters; consecutive samples are merged."""
    found: list[Marker] = []
    for sample in samples:
        begin = max(0.0, sample.at_ns - tick * sample.weight)
        end = float(sample.at_ns)
        data = {"type": "wait", "lock": name, "waiters": sample.waiters}
        if found:
            _, first, last, known = found[-1]
            begin = max(begin, last)
            if known["waiters"] == sample.waiters and begin - last < tick / 2:
                found[-1] = ("wait", first, end, known)
                continue
        found.append(("wait", begin, max(begin, end), data))
    return found


def _track(name: str, tid: int, markers: Sequence[Marker]) -> dict[str, Any]:
    tables = _Tables()
    placed = _markers(markers, tables)
    return {
        "name": name,
        "tid": tid,
        "samples": _samples([], [], []),
        "markers": placed,
        **tables.document(OTHER),
    }
