# SPDX-License-Identifier: MIT
"""Sections that executors of the library ran, by delegate and by server."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import reduce
from typing import Any

import numpy as np

from hasp.profile.model.clock import Clock
from hasp.profile.model.distribution import NOTHING, Distribution
from hasp.profile.trace.format import Records
from hasp.profile.trace.reader import text

LARGEST = ("held_most", "context_most")
# So many sections of a delegate are all timed: TRACE_SECTIONS_REPORTED in
# src/profiler/trace_delegation.h.
REPORTED = 1024


@dataclass(frozen=True)
class Delegates:
    """The delegates that one source location created with one executor."""

    name: str
    executor: str  # rcl, or rcl:1 of another server than the first one
    served: bool  # by a server
    instances: int
    sections: int
    # Times in which one thread executed sections without another one in between.
    held_sections: int
    holds: int
    held_most: int  # sections in one of them
    contexts: int  # sections the size of whose context is known
    context_bytes: int
    context_most: int
    wait: Distribution  # from the request to the section
    service: Distribution  # of the section

    def __add__(self, other: Delegates) -> Delegates:
        def pair(name: str) -> Any:
            mine, theirs = getattr(self, name), getattr(other, name)
            if name in ("name", "executor", "served"):
                return mine
            return max(mine, theirs) if name in LARGEST else mine + theirs

        return Delegates(**{field.name: pair(field.name) for field in fields(self)})

    @property
    def queue_depth(self) -> float | None:
        """Mean sections in a hold; None if a server, which has the queue, holds it."""
        return (
            self.held_sections / self.holds if self.holds and not self.served else None
        )

    @property
    def context_mean(self) -> float | None:
        """The mean size of a context in bytes; None if it is not known."""
        return self.context_bytes / self.contexts if self.contexts else None


@dataclass(frozen=True)
class Server:
    """A server, with the times of its delegates' sections."""

    executor: str  # rcl, or rcl:1
    delegates: int
    sections: int
    rounds: int  # searches of all lines that found a request
    lines: int  # that there were in these rounds
    serialised: int  # rounds with requests for several delegates
    replaced: int  # times that another thread had to go on
    wait: Distribution = NOTHING
    service: Distribution = NOTHING

    def __add__(self, other: Server) -> Server:
        return Server(
            self.executor,
            *(
                getattr(self, field.name) + getattr(other, field.name)
                for field in fields(self)[1:]
            ),
        )

    @property
    def use_rate(self) -> float | None:
        """The share of clients with a request, in a round; None without rounds."""
        return self.sections / self.lines if self.lines else None

    @property
    def false_serialisation(self) -> float | None:
        """The share of rounds that made requests for different delegates wait."""
        return self.serialised / self.rounds if self.rounds else None

    @property
    def queue_depth(self) -> float | None:
        """The mean number of requests in a round."""
        return self.sections / self.rounds if self.rounds else None


@dataclass(frozen=True)
class Delegation:
    """All delegated sections of a program, by sections, descending."""

    delegates: Sequence[Delegates] = ()
    servers: Sequence[Server] = ()

    def __bool__(self) -> bool:
        return bool(self.delegates)


NO_DELEGATION = Delegation()


def delegation_of(
    delegates: Records, servers: Records, clock: Clock, name: Callable[[np.void], str]
) -> Delegation:
    """Build it from the numbered records of a trace."""
    edges = clock.edges_ns()
    owners = [_owner(record) for record in servers]
    found: dict[tuple[str, str], Delegates] = {}
    hosts: dict[str, Server] = {}
    for host, record in zip(owners, servers, strict=True):
        if host:
            hosts[host] = Server(
                executor=host,
                delegates=0,
                sections=int(record["sections"]),
                rounds=int(record["rounds"]),
                lines=int(record["lines"]),
                serialised=int(record["serialised"]),
                replaced=int(record["replaced"]),
            )
    for record in delegates:
        if not record["address"]:
            continue
        number = int(record["server"])
        host = owners[number] if 0 < number < len(owners) else ""
        made = _delegate(record, host, name(record), clock, edges)
        key = (made.name, made.executor)
        found[key] = found[key] + made if key in found else made
        if host:
            hosts[host] = replace(
                hosts[host],
                delegates=hosts[host].delegates + 1,
                wait=hosts[host].wait + made.wait,
                service=hosts[host].service + made.service,
            )
    return Delegation(
        tuple(sorted(found.values(), key=lambda one: -one.sections)),
        tuple(sorted(hosts.values(), key=lambda one: -one.sections)),
    )


def _owner(record: np.void) -> str:
    """Return the server's name as a program gives it; "" for no record."""
    number = int(record["number"])
    return text(record["executor"]) + (f":{number}" if number else "")


def _sections(record: np.void) -> int:
    """Return how many there were: the first ones are all in the trace.

    After them the executor's own count is better than an estimate. It lacks those of a
    hold that has not ended, and those after the last report.
    """
    sections = int(record["sections"])
    if sections <= REPORTED:
        return sections
    return max(REPORTED, int(record["held_sections"]))


def _delegate(
    record: np.void, host: str, name: str, clock: Clock, edges: tuple[float, ...]
) -> Delegates:
    sections = _sections(record)

    def times(which: str) -> Distribution:
        if not sections:
            return NOTHING
        share = sections / int(record["sections"])
        return Distribution(
            tuple(record[which]["bucket"].tolist()),
            edges,
            clock.ns(round(int(record[f"{which}_ticks"]) * share)),
            clock.ns(int(record[f"{which}_most"])),
            sections,
        )

    return Delegates(
        name=name,
        executor=host or text(record["executor"]),
        served=bool(host),
        instances=1,
        sections=sections,
        held_sections=int(record["held_sections"]),
        holds=int(record["holds"]),
        held_most=int(record["held_most"]),
        contexts=int(record["contexts"]),
        context_bytes=int(record["context_bytes"]),
        context_most=int(record["context_most"]),
        wait=times("wait"),
        service=times("service"),
    )


def merged(parts: Iterable[Delegation]) -> Delegation:
    """Return the sum over processes."""
    delegates: dict[tuple[str, str], list[Delegates]] = {}
    servers: dict[str, list[Server]] = {}
    for part in parts:
        for one in part.delegates:
            delegates.setdefault((one.name, one.executor), []).append(one)
        for server in part.servers:
            servers.setdefault(server.executor, []).append(server)
    return Delegation(
        tuple(
            sorted(
                (reduce(Delegates.__add__, same) for same in delegates.values()),
                key=lambda one: -one.sections,
            )
        ),
        tuple(
            sorted(
                (reduce(Server.__add__, same) for same in servers.values()),
                key=lambda one: -one.sections,
            )
        ),
    )
