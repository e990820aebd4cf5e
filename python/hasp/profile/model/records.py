# SPDX-License-Identifier: MIT
"""Convert the smaller records of a trace to members of a profile."""

from __future__ import annotations

import numpy as np

from hasp.profile.model.clock import Clock
from hasp.profile.model.distribution import NOTHING, Distribution
from hasp.profile.model.lazy import Lazy
from hasp.profile.model.process_sample import ProcessSample
from hasp.profile.model.profile import (
    Event,
    Operation,
    OrderedPair,
    Thread,
    WaiterSample,
    Weight,
)
from hasp.profile.model.site_stats import OPERATIONS
from hasp.profile.model.sites import Stacks
from hasp.profile.model.unseen import unseen_wait
from hasp.profile.trace import format
from hasp.profile.trace.format import EventKind, OrderMode, Records
from hasp.profile.trace.reader import text

OUTER_READ = OrderMode.OUTER_READ | OrderMode.BOTH_READ
INNER_READ = OrderMode.INNER_READ | OrderMode.BOTH_READ


class Converter:
    """Converts records, given the clock and the stacks."""

    def __init__(self, clock: Clock, stacks: Stacks) -> None:
        self.clock = clock
        self._edges = clock.edges_ns()
        self.stacks = stacks

    def threads(self, records: Records, between: Records) -> tuple[Thread, ...]:
        """Return the threads that have a record; `records` is indexed by number.

        `between` are the times between the sections of all threads.
        """
        found = np.flatnonzero((records["tid"] != 0) | (records["began"] != 0))
        times = {
            number: self._times(between[between["thread"] == number])
            for number in np.unique(between["thread"]).tolist()
        }
        return tuple(
            self._thread(number, records[number], times.get(number, NOTHING))
            for number in found.tolist()
        )

    def _thread(self, number: int, record: np.void, between: Distribution) -> Thread:
        clock = self.clock
        alive = not record["ended"]
        waiting = int(record["waiting_for"]) if alive else 0
        operation = int(record["waiting_to"])
        since, stack = record["waiting_since"], int(record["stack"])
        held = record["held"][: int(record["depth"])].tolist() if alive else []
        unseen = unseen_wait(record) if alive else 0
        split = record["user_ns"] or record["system_ns"]
        if unseen:
            waiting, operation = unseen, int(format.Operation.LOCK)
            since, stack = record["unseen_since"], 0
            held = held[:-1]
        return Thread(
            number=number,
            tid=int(record["tid"]),
            name=text(record["name"]),
            began_ns=clock.at(record["began"]),
            ended_ns=None if alive else clock.at(record["ended"]),
            section_ns=clock.ns(record["section_ticks"]),
            wait_ns=clock.ns(record["wait_ticks"]),
            idle_ns=clock.ns(record["idle_ticks"]),
            cpu_ns=int(record["cpu_ns"]),
            voluntary=int(record["voluntary"]),
            involuntary=int(record["involuntary"]),
            minor_faults=int(record["minor_faults"]),
            major_faults=int(record["major_faults"]),
            migrations=int(record["migrations"]),
            long_holds=int(record["long_holds"]),
            preempted_holds=int(record["preempted_holds"]),
            waiting_for=waiting or None,
            waiting_since_ns=clock.at(since) if waiting else None,
            held=tuple(lock for lock in held if lock),
            waiting_to=_operation(operation) if waiting else None,
            waiting_stack=self.stacks[stack] if waiting else (),
            earlier=int(record["reused"]),
            overhead_ns=clock.ns(record["overhead_ticks"]),
            between=between,
            user_ns=int(record["user_ns"]) if split else None,
            system_ns=int(record["system_ns"]) if split else None,
        )

    def _times(self, records: Records) -> Distribution:
        timed = int(records["timed"].sum(dtype=np.int64))
        sums = records["between"]["bucket"].sum(axis=0, dtype=np.int64)
        if not timed or not sums.any():
            return NOTHING
        total = self.clock.ns(records["between_ticks"].sum(dtype=float))
        most = round(self._edges[int(np.flatnonzero(sums)[-1]) + 1])
        counts = tuple(sums.tolist())
        return Distribution(counts, self._edges, total, most, sum(counts), timed)

    def lock_order(self, records: Records) -> Lazy[OrderedPair]:
        """Return the pairs of locks in trace order."""

        def pair(index: int) -> OrderedPair:
            record = records[index]
            modes = int(record["modes"])
            return OrderedPair(
                int(record["outer"]),
                int(record["inner"]),
                int(record["count"]),
                bool(record["by_try"]),
                self.stacks[int(record["stack"])],
                outer_read=modes != 0 and not modes & ~OUTER_READ,
                inner_read=modes != 0 and not modes & ~INNER_READ,
            )

        return Lazy(len(records), pair)

    def weights(self, records: Records) -> Lazy[Weight]:
        """Return the weights in descending order."""
        weight = records["wait_ticks"].astype(float) + records["hold_ticks"]
        records = records[np.argsort(-weight, kind="stable")]

        def made(place: int) -> Weight:
            record = records[place]
            return Weight(
                int(record["lock"]),
                self.stacks[int(record["stack"])],
                int(record["waits"]),
                self.clock.ns(record["wait_ticks"]),
                int(record["holds"]),
                self.clock.ns(record["hold_ticks"]),
            )

        return Lazy(len(records), made)

    def waiters(self, records: Records) -> Lazy[WaiterSample]:
        """Return the samples of waiters by time."""
        records = records[np.argsort(records["ticks"], kind="stable")]

        def sample(place: int) -> WaiterSample:
            record = records[place]
            return WaiterSample(
                self.clock.at(record["ticks"]),
                int(record["lock"]),
                int(record["waiters"]),
                int(record["holder"]),
                int(record["weight"]),
                int(record["holders_on_cpu"]),
                int(record["holders_off_cpu"]),
            )

        return Lazy(len(records), sample)

    def process_samples(self, records: Records) -> Lazy[ProcessSample]:
        """Return the samples of the process by time."""
        records = records[np.argsort(records["ticks"], kind="stable")]

        def moment(place: int) -> ProcessSample:
            record = records[place]
            return ProcessSample(
                self.clock.at(record["ticks"]),
                int(record["threads"]),
                int(record["waiting"]),
                int(record["runnable"]) or None,
                int(record["cpu_ns"]),
                int(record["system_ns"]),
                int(record["minor_faults"]),
                int(record["involuntary"]),
                int(record["locks_created"]),
                int(record["idle_ns"]),
                int(record["machine_cpus"]),
            )

        return Lazy(len(records), moment)

    def events(self, records: Records) -> tuple[Event, ...]:
        """Return the recorder's findings; unknown kinds are skipped."""
        known = np.isin(records["kind"], [int(kind) for kind in EventKind])
        return tuple(
            Event(
                EventKind(record["kind"]).name.lower().replace("_", "-"),
                int(record["thread"]),
                int(record["lock"]),
                int(record["other"]),
                int(record["count"]),
                self.clock.at(record["ticks"]),
                self.stacks[int(record["stack"])],
            )
            for record in records[known]
        )


def _operation(number: int) -> Operation | None:
    try:
        return OPERATIONS.get(format.Operation(number))
    except ValueError:
        return None
