# SPDX-License-Identifier: MIT
"""The figures that a machine file consists of, each with its unit and its bounds."""

from __future__ import annotations

from dataclasses import dataclass

SCHEMA = 1

# In table 2's order; fetch-and-or and the like are priced as compare_exchange.
OPERATIONS = (
    *("load", "store", "compare_exchange"),
    *("fetch_add", "test_and_set", "exchange"),
)
STATES = ("modified", "owned", "exclusive", "shared", "invalid")

# The row of the same operation that stands in for an absent one, or else the load's.
STANDS_IN = {"owned": "shared", "exclusive": "modified"}

PROTOCOLS = ("moesi-broadcast", "moesi-directory", "mesif-inclusive", "home")
PLACEMENTS = ("fill", "spread")

MOST_CPUS = 2048
MOST_PLACES = 256
MOST_CYCLES = 10_000_000


@dataclass(frozen=True)
class Figure:
    """One integer of a machine file, in cycles unless its name has another unit."""

    table: str
    key: str
    meaning: str
    least: int = 0
    most: int = MOST_CYCLES
    default: str | None = None  # the key of the same table that stands in

    @property
    def keys(self) -> tuple[str, str]:
        """Where it stands."""
        return (self.table, self.key)


FIGURES = (
    Figure("clock", "mhz", "cycles of a microsecond", 1, 100_000),
    Figure("local", "l1", "a load that hits the nearest cache", 1),
    Figure("local", "l2", "likewise; without it as `llc`", 1, default="llc"),
    Figure("local", "llc", "a load from the last-level cache of its place", 1),
    Figure("local", "ram", "a load from the memory of its node", 1),
    Figure("sharers", "store_millicycles", "what each further sharer adds to a store"),
    Figure("power", "active_mw", "a core that executes"),
    Figure("power", "pausing_mw", "a core in a pause or waiting for a line"),
    Figure("power", "parked_mw", "a core without a thread to run"),
    Figure("power", "base_mw", "all but the cores"),
    Figure("power", "transfer_local_pj", "a line moved within a place"),
    Figure("power", "transfer_remote_pj", "a line moved between places"),
)

# What no table of a paper gives; model.toml has the values, and a machine file may have
# its own.
CONSTANTS = (
    Figure("local", "atomic", "an atomic on a line that is exclusive here", 1),
    Figure("local", "store", "the issue of a store"),
    Figure("local", "timer", "reading the time"),
    Figure("local", "pause", "one turn of a waiting loop", 1),
    Figure("local", "code", "other instructions, for each access to shared memory"),
    Figure("model", "occupancy_permille", "of a transfer, its line is busy", 0, 1000),
    Figure("model", "home_occupancy_permille", "the same at a home tile", 0, 1000),
    Figure("model", "occupancy_least", "a line is busy at least"),
    Figure("model", "grace_permille", "of a transfer, the old holder hits", 0, 1000),
    Figure("model", "store_buffer", "stores that may wait", 0, 1024),
    Figure("model", "hashed_home", "1: lines are spread over the places", 0, 1),
    Figure("model", "cold_after", "a pause after which caches are cold", 1, 10**9),
    Figure("model", "cold_start", "what that costs"),
    Figure("scheduler", "slice_us", "microseconds until another thread's turn", 1),
    Figure("scheduler", "switch", "a context switch"),
    Figure("scheduler", "migration", "what going to another core costs more"),
    Figure("scheduler", "futex_call", "a call that sleeps, wakes or yields"),
    Figure("scheduler", "futex_wake", "from the waking call until the thread runs"),
)

TRANSACTIONS = (
    Figure("transactions", "read_lines", "lines that a transaction may read", 1),
    Figure("transactions", "write_lines", "lines that it may write", 1),
    Figure("transactions", "nesting", "levels", 1, 1000),
    Figure("transactions", "begin", ""),
    Figure("transactions", "commit", ""),
    Figure("transactions", "abort", ""),
    Figure("transactions", "interrupt", "between two that abort; 0: none", 0, 10**10),
)

TOP_KEYS = (
    "schema",
    "title",
    "sources",
    "estimates",
    "topology",
    "protocol",
    "latency",
)


def tables() -> dict[str, set[str]]:
    """The keys that each table of figures may have."""
    found: dict[str, set[str]] = {}
    for figure in (*FIGURES, *CONSTANTS, *TRANSACTIONS):
        found.setdefault(figure.table, set()).add(figure.key)
    return found
