# SPDX-License-Identifier: MIT
"""The results of a session as rows, one JSON object each.

Tables, figures, CSV and the machine file are derived from these rows alone, so they can
be regenerated from a file.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from hasp.lab.host import doubts
from hasp.lab.host.clusters import Pair, levels
from hasp.lab.host.doubts import Doubt
from hasp.lab.host.measurement import (
    ABSENT_THIRD,
    MINE,
    OPERATIONS,
    SCHEMA,
    STATES,
    TAKEN,
    Session,
)
from hasp.lab.host.pairs import Cast
from hasp.lab.host.samples import TRIMMED_SHARE, Figure, figure_of
from hasp.lab.host.target import Row


def trimmed_share(key: tuple[Any, ...]) -> float:
    """Return the share of a burst's samples to leave out at each end.

    Wake-ups have medians: on a virtual machine, up to half of the calls that woke a
    halted CPU took 100 us instead of 5, as if the hypervisor had preempted the caller.
    """
    wakes = key[0] == "wakeup" or key[:2] in (("wait", "wake"), ("wait", "waking"))
    return 0.5 if wakes else TRIMMED_SHARE


def of_kind(rows: Iterable[Row], kind: str) -> list[Row]:
    """Return the rows of one kind, in order."""
    return [row for row in rows if row["kind"] == kind]


def mean_cycles(
    rows: Iterable[Row], operation: str, state: str, relation: str | None = None
) -> float | None:
    """Return the mean over the measured directions; None if there are none.

    Without `relation`, over all pairs of CPUs.
    """
    found = [
        float(row["cycles"])
        for row in of_kind(rows, "line")
        if (row["operation"], row["state"]) == (operation, state)
        and row["relation"] == (relation or row["relation"])
        and not row["absent"]
    ]
    return sum(found) / len(found) if found else None


def loads_take_modified(
    rows: Sequence[Row], relation: str | None = None
) -> bool | None:
    """Return whether a load takes a line that another CPU has modified.

    A store to it is then as fast as to an own line, and not as slow as to a shared one.
    Without `relation`, over all pairs of CPUs. None: this was not measured.
    """
    taken = mean_cycles(rows, "store", TAKEN, relation)
    shared = mean_cycles(rows, "store", "shared_mine", relation)
    return None if taken is None or shared is None else taken < shared / 2


class Results:
    """Turns everything measured so far into rows."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.topology = session.target.topology
        self.cycles_per_ns = (session.cycles_per_second or 1) / 1e9
        self.figures = {
            key: figure
            for key, bursts in session.bursts.items()
            if (figure := figure_of(bursts, trimmed_share(key)))
        }
        self.doubts: list[Doubt] = []

    def rows(self, more: Sequence[Doubt] = ()) -> list[Row]:
        """Return all rows; `more` are doubts to add to those of the figures."""
        if not self.session.cycles_per_second:
            return []
        found = [
            *self._cpus(),
            *self._pairs(),
            *self._lines(),
            *self._loads(),
            *self._waits(),
            *self._wakeups(),
            *self._contended(),
            *self._energy(),
        ]
        every = [*more, *self.doubts]
        found += [_row("doubt", asdict(doubt)) for doubt in dict.fromkeys(every)]
        return found

    def _figure(self, name: str, figure: Figure) -> Row:
        if not self.session.target.simulated:
            self.doubts += doubts.of_figure(name, figure)
        return figure.as_json(self.cycles_per_ns)

    def _cpus(self) -> Iterator[Row]:
        for cpu in self.topology.cpus:
            caches = [
                {"level": cache.level, "bytes": cache.bytes, "cpus": sorted(cache.cpus)}
                for cache in cpu.caches
            ]
            known: Row = {"core": cpu.core, "package": cpu.package, "node": cpu.node}
            if not self.topology.known:
                known = dict.fromkeys(known, None)
            yield _row("cpu", {"cpu": cpu.number, **known, "caches": caches})

    def _pairs(self) -> Iterator[Row]:
        latency: dict[Pair, float] = {}
        relation: dict[Pair, str] = {}
        own = self._own()
        for key, figure in self.figures.items():
            if key[0] != "pair":
                continue
            pair = (key[1], key[2])
            latency[pair] = figure.cycles
            relation[pair] = self.topology.relation(*pair)
            name = f"CPUs {pair[0]} and {pair[1]}"
            if not self.session.target.simulated:
                self.doubts += doubts.of_remote(
                    figure.cycles, own, *pair, self.topology
                )
            yield _row(
                "pair",
                {"cpu": pair[0], "holder": pair[1], "relation": relation[pair]},
                self._figure(name, figure),
            )
        found = levels(latency)
        if not self.session.target.simulated:
            self.doubts += doubts.of_topology(found, relation, self.topology.known)
        for level in found:
            names = sorted({relation[pair] for pair in level.pairs})
            bounds = {"cycles": level.cycles, "low": level.low, "high": level.high}
            pairs = [list(pair) for pair in level.pairs]
            yield _row("level", bounds, {"relations": names, "pairs": pairs})

    def _own(self) -> float:
        """Return the cycles of a load that hits the CPU's own cache."""
        values = [
            figure.cycles
            for key, figure in self.figures.items()
            if key[0] == "line" and key[1][:2] == ("load", "mine")
        ]
        return statistics.median(values) if values else 1.0

    def _lines(self) -> Iterator[Row]:
        for cast in self.session.casts:
            if self.topology.known and not self.session.target.simulated:
                self._check_states(cast)
            for state in (*STATES, *MINE, TAKEN):
                for operation in OPERATIONS:
                    yield from self._line(cast, operation, state)
        for key, figure in self.figures.items():
            if key[0] == "crowd":
                case = dict(zip(("operation", "cpu", "sharers"), key[1:], strict=True))
                name = f"{key[1]} of a line with {key[3]} sharers"
                yield _row("crowd", case, self._figure(name, figure))

    def _line(self, cast: Cast, operation: str, state: str) -> Iterator[Row]:
        case: Row = {"operation": operation, "state": state, "cpu": cast.cpu}
        case["holder"] = None if state == "mine" else cast.holder
        case["relation"] = None if state == "mine" else cast.relation
        figure = self._found(cast, operation, state)
        if figure is not None:
            name = f"{operation} of {state}, CPU {cast.cpu} from {cast.holder}"
            yield _row("line", case, self._figure(name, figure), {"absent": None})
        elif state in ("owned", "shared") and cast.sharer is None:
            yield _row("line", case, {"absent": ABSENT_THIRD})

    def _found(self, cast: Cast, operation: str, state: str) -> Figure | None:
        sharers = (cast.sharer,) if state in ("owned", "shared") else ()
        key = (operation, state, cast.cpu, cast.holder, sharers)
        return self.figures.get(("line", key))

    def _check_states(self, cast: Cast) -> None:
        own = self._found(cast, "load", "mine")
        remote = self._found(cast, "load", "modified")
        for state in STATES:
            load = self._found(cast, "load", f"probe_{state}")
            store = self._found(cast, "store", f"probe_{state}")
            if own and remote and load and store:
                self.doubts += doubts.of_state(
                    state, load.cycles, store.cycles, own.cycles, remote.cycles
                )

    def _loads(self) -> Iterator[Row]:
        for key, figure in self.figures.items():
            if key[0] == "load":
                where = {"level": key[1], "bytes": key[2]}
                yield _row("load", where, self._figure(f"loads from {key[1]}", figure))

    def _waits(self) -> Iterator[Row]:
        for key, figure in self.figures.items():
            if key[0] == "wait":
                # These cases measure a sleeping partner, so bimodal samples are not
                # suspicious.
                values = figure.as_json(self.cycles_per_ns)
                yield _row("wait", {"name": key[1]}, values)

    def _wakeups(self) -> Iterator[Row]:
        for key, figure in self.figures.items():
            if key[0] == "wakeup":
                # As for waits, bimodal samples are not suspicious: a CPU may be halted,
                # or still poll.
                values = figure.as_json(self.cycles_per_ns)
                yield _row("wakeup", {"name": key[1], "idle_us": key[2]}, values)

    def _contended(self) -> Iterator[Row]:
        for key, runs in self.session.runs.items():
            kind, what, crew = key
            case: Row = {"operation" if kind == "atomic" else "pattern": what}
            case |= {"threads": len(crew), "cpus": list(crew)}
            if kind == "atomic":
                case["pause_cycles"] = runs[-1]["pause_cycles"]
            names = ("throughput_mops", "jain_fairness", "operation_p50_ns")
            for name in (*names, "operation_mean_ns", "longest_gap_ns"):
                values = [run[name] for run in runs if run.get(name) is not None]
                case[name] = statistics.median(values) if values else None
            about = f"{what} by {len(crew)} threads"
            if not self.session.target.simulated and len(crew) > 1:
                self.doubts += doubts.of_gap(about, case["longest_gap_ns"] or 0)
            yield _row(kind, case, {"runs": len(runs)})

    def _energy(self) -> Iterator[Row]:
        for used in self.session.energy:
            yield _row("energy", used)


def _row(kind: str, *parts: Row) -> Row:
    row: dict[str, Any] = {"schema": SCHEMA, "kind": kind}
    for part in parts:
        row |= part
    return row
