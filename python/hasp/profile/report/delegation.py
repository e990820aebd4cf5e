# SPDX-License-Identifier: MIT
"""Delegated sections and servers, as tables and as JSON."""

from __future__ import annotations

from typing import Any

from hasp.profile.model.delegation import Delegates, Delegation, Server
from hasp.profile.model.distribution import Distribution
from hasp.profile.report.figures import STATISTICS, statistic
from hasp.profile.report.words import count, few, share, short_time

TITLE = "delegated sections"
SERVERS_TITLE = "servers"
HEADINGS = (
    *("delegate", "executor", "sec-\ntions", "wait\np50", "wait\np99"),
    *("service\np50", "service\np99", "queue\ndepth", "most", "con-\ntext B"),
)
SERVER_HEADINGS = (
    *("server", "dele-\ngates", "sec-\ntions", "use\nrate", "false\nserial."),
    *("service\np50", "service\np99", "queue\ndepth", "re-\nplaced"),
)


def cells(one: Delegates) -> tuple[str, ...]:
    """Return a row of the table, as in HEADINGS."""
    return (
        one.name,
        one.executor,
        count(one.sections),
        *(short_time(statistic(one.wait, name)) for name in ("p50", "p99")),
        *(short_time(statistic(one.service, name)) for name in ("p50", "p99")),
        few(one.queue_depth),
        "-" if one.served else count(one.held_most),
        few(one.context_mean),
    )


def server_cells(one: Server) -> tuple[str, ...]:
    """Return a row of the table, as in SERVER_HEADINGS."""
    return (
        one.executor,
        count(one.delegates),
        count(one.sections),
        share(one.use_rate),
        share(one.false_serialisation),
        *(short_time(statistic(one.service, name)) for name in ("p50", "p99")),
        few(one.queue_depth),
        count(one.replaced),
    )


def _times(found: Distribution) -> dict[str, float | None]:
    return {name: statistic(found, name) for name in STATISTICS}


def as_json(found: Delegation) -> dict[str, list[dict[str, Any]]]:
    """Return all delegates and servers; times in ns, null: not known."""
    return {
        "delegates": [
            {
                "name": one.name,
                "executor": one.executor,
                "instances": one.instances,
                "sections": one.sections,
                "wait_ns": _times(one.wait),
                "service_ns": _times(one.service),
                "queue_depth": one.queue_depth,
                "longest_hold": None if one.served else one.held_most,
                "context_bytes": one.context_mean,
                "largest_context_bytes": one.context_most or None,
            }
            for one in found.delegates
        ],
        "servers": [
            {
                "server": one.executor,
                "delegates": one.delegates,
                "sections": one.sections,
                "rounds": one.rounds,
                "use_rate": one.use_rate,
                "false_serialisation": one.false_serialisation,
                "service_ns": _times(one.service),
                "queue_depth": one.queue_depth,
                "replaced": one.replaced,
            }
            for one in found.servers
        ],
    }
