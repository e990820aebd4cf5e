# SPDX-License-Identifier: MIT
"""Schema of machine files: the figures with their meanings and bounds."""

from __future__ import annotations

from dataclasses import dataclass

from hasp.lab.simulate.machines import speed, wakeups

SCHEMA = 1

# In the order of table 2 of SSYNC. Fetch-and-or and -and cost as compare_exchange.
OPERATIONS = (
    *("load", "store", "compare_exchange"),
    *("fetch_add", "test_and_set", "exchange"),
)
STATES = ("modified", "owned", "exclusive", "shared", "invalid")

# A missing row defaults to the row of the same operation for this state.
STANDS_IN = {"owned": "shared", "exclusive": "modified"}

PROTOCOLS = (
    *("moesi-broadcast", "moesi-directory", "moesi-grouped"),
    *("mesif-inclusive", "home"),
)
PLACEMENTS = ("fill", "spread")
COHORTS = ("auto", "cache", "node")  # as enum cohort_choice

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
    default: str | None = None  # key of the same table to use if this one is absent

    @property
    def keys(self) -> tuple[str, str]:
        """Its table and its key."""
        return (self.table, self.key)


FIGURES = (
    Figure("clock", "mhz", "cycles per microsecond", 1, 100_000),
    Figure("local", "l1", "a load that hits the first-level cache", 1),
    Figure("local", "l2", "a load that hits the second level", 1, default="llc"),
    Figure("local", "llc", "a load from the last-level cache of its place", 1),
    Figure("local", "ram", "a load from the memory of its node", 1),
    Figure("sharers", "store_millicycles", "added to a store by each further sharer"),
    Figure("power", "active_mw", "a core that executes"),
    Figure("power", "pausing_mw", "a core that pauses or waits for a line"),
    Figure("power", "parked_mw", "an idle core"),
    Figure("power", "base_mw", "the machine without its cores"),
    Figure("power", "transfer_local_pj", "a transfer of a line within a place"),
    Figure("power", "transfer_remote_pj", "a transfer of a line between places"),
)

# Constants that no paper publishes. model.toml has their values; a machine file may
# override them.
CONSTANTS = (
    Figure("local", "atomic", "an atomic on a line that the core owns", 1),
    Figure("local", "store", "issuing a store", 1),
    Figure("local", "timer", "reading the time-stamp counter"),
    Figure("local", "pause", "one iteration of a spin loop", 1),
    Figure("local", "code", "other instructions around each shared access"),
    Figure("local", "issue_millicycles", "a load that hits or a store, beside others"),
    Figure("model", "occupancy_permille", "share of a transfer; line busy", 0, 1000),
    Figure("model", "home_occupancy_permille", "the same at a home tile", 0, 1000),
    Figure("model", "occupancy_least", "least time for which a line is busy"),
    Figure("model", "grace_permille", "share of a transfer; old holder hits", 0, 1000),
    Figure("model", "store_buffer", "entries of the store buffer", 0, 1024),
    Figure("model", "misses_in_flight", "misses of a core that overlap", 1, 32),
    Figure("model", "migratory", "distances at which loads take lines", 0, 64),
    Figure("model", "hashed_home", "1: homes are hashed over the places", 0, 1),
    Figure("model", "cold_after", "a pause after which caches are cold", 1, 10**9),
    Figure("model", "cold_start", "added after such a pause"),
    Figure("scheduler", "slice_us", "time slice in microseconds", 1),
    Figure("scheduler", "switch", "a context switch"),
    Figure("scheduler", "migration", "added if a thread moves to another core"),
    Figure("scheduler", "futex_call", "a system call that sleeps, wakes or yields"),
    Figure("scheduler", "waking", "added to one that wakes a thread on another CPU"),
    Figure("scheduler", "futex_wake", "from the wake-up call until the thread runs"),
    Figure("scheduler", "kernel_lock", "lock of a futex's bucket in the kernel", 0, 2),
    Figure("scheduler", "fairness", "who preempts whom, and who may move", 0, 1),
)

TRANSACTIONS = (
    Figure("transactions", "read_lines", "lines that a transaction may read", 1),
    Figure("transactions", "write_lines", "lines that a transaction may write", 1),
    Figure("transactions", "nesting", "nesting levels", 1, 1000),
    Figure("transactions", "begin", "cycles to begin"),
    Figure("transactions", "commit", "cycles to commit"),
    Figure("transactions", "abort", "cycles to abort"),
    Figure(
        "transactions", "interrupt", "cycles between interrupts; 0: none", 0, 10**10
    ),
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
    """Return the keys that each table of figures may have."""
    found: dict[str, set[str]] = {}
    for figure in (*FIGURES, *CONSTANTS, *TRANSACTIONS):
        found.setdefault(figure.table, set()).add(figure.key)
    found[speed.TABLE] = set(speed.KEYS)
    found[wakeups.TABLE] = set(wakeups.KEYS)
    return found
