# SPDX-License-Identifier: MIT
"""The short form of a machine file: sockets, dies, cores, and a latency for each level.

    [topology]
    sockets = 2
    dies = 12     # of each socket, with a last-level cache each
    cores = 8     # of each die

    [latency]     # of an atomic operation on a line that another core modified
    same_die = 55
    same_socket = 257
    other_socket = 473

It is converted to the long form. Loads take nine tenths of an atomic operation, and
stores 19 twentieths, as in SSYNC's tables; a line that is shared within the die comes
from its last-level cache. Tables without a figure of the machine get estimates.
"""

from __future__ import annotations

import copy
from itertools import pairwise
from typing import Any

from hasp.base.document import Document
from hasp.lab.simulate.machines.problems import Problems
from hasp.lab.simulate.machines.schema import (
    MOST_CPUS,
    MOST_CYCLES,
    MOST_PLACES,
    OPERATIONS,
)

COUNTS = ("sockets", "dies", "cores")
KEYS = (*COUNTS, "source", "numa_nodes", "placement", "cohorts")
LEVELS = ("same_die", "same_socket", "other_socket")
LOAD, STORE = 0.9, 0.95  # parts of an atomic operation's latency
CORE_MW = 2500  # of a core that executes, as on epyc-192
DERIVED = {
    "load": "nine tenths of [latency], as in SSYNC's tables; from the last-level cache "
    "or from memory as [local] says",
    "store": "19 twentieths of [latency], as in SSYNC's tables",
}
ESTIMATES = {
    "protocol": "a directory that tracks who has a line; if a socket has several dies, "
    "the cache of a die answers its cores where it can",
    "sharers": "as on opteron-48",
    "power": "2.5 W for a core, as on epyc-192, nine tenths of it while pausing, a "
    "quarter while parked; half as much outside of the cores; a line as on opteron-48",
}


def is_short(document: Document) -> bool:
    """Return true if the file has the short form."""
    table = document.get(("topology",))
    return isinstance(table, dict) and any(key in table for key in COUNTS)


def expanded(document: Document, problems: Problems) -> Document:
    """Return the long form of a short file; what is wrong in it is replaced by 1."""
    table: dict[str, Any] = document.get(("topology",))
    for key in table:
        if key not in KEYS:
            remedy = f"with {', '.join(COUNTS)}, the keys are {', '.join(KEYS)}"
            problems.tell(document.fail, ("topology", key), "unknown key", remedy)
    counts = [
        problems.tell(_number, document, ("topology", key), MOST_CPUS) for key in COUNTS
    ]
    known = [count or 1 for count in counts]
    levels = _levels(known[0], known[1]) if all(counts) else list(LEVELS)
    cycles = problems.tell(_cycles, document, levels, problems)
    if known[0] * known[1] > MOST_PLACES:
        problems.tell(
            document.fail,
            ("topology", "dies"),
            f"more than {MOST_PLACES} dies",
            "describe a smaller machine",
        )
        known = [1, 1, 1]
    levels = _levels(known[0], known[1])
    cycles = {level: (cycles or {}).get(level, 1) for level in levels}
    made = copy.copy(document)
    made.data = {**document.data}
    llc, ram = (_local(document, key) for key in ("llc", "ram"))
    made.data["topology"] = _topology(table, levels, *known)
    made.data["latency"] = _latency(document, cycles, llc, ram)
    _add_estimates(made.data, *known)
    return made


def _local(document: Document, key: str) -> int:
    """Return the figure of [local]; 1 if it is wrong, which is reported with others."""
    value = document.get(("local", key))
    return value if isinstance(value, int) and 1 <= value <= MOST_CYCLES else 1


def _number(document: Document, keys: tuple[str, str], most: int) -> int:
    value = document.get(keys)
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        numbers = f"a whole number from 1 to {most}"
        words = "missing" if value is None else f"{value!r} is not {numbers}"
        document.fail(keys, words, f"write {numbers}")
    return value


def _levels(sockets: int, dies: int) -> list[str]:
    """Return the distances of the machine."""
    has = {"same_socket": dies > 1, "other_socket": sockets > 1}
    return [level for level in LEVELS if has.get(level, True)]


def _cycles(
    document: Document, levels: list[str], problems: Problems
) -> dict[str, int]:
    table = document.get(("latency",))
    remedy = f"write [latency] with {', '.join(levels)}"
    if not isinstance(table, dict):
        document.fail(("latency",), "missing", remedy)
    for key in table:
        if key not in (*levels, "source"):
            problems.tell(document.fail, ("latency", key), "unknown level", remedy)
    found = {
        level: problems.tell(_number, document, ("latency", level), MOST_CYCLES)
        for level in levels
    }
    for near, far in pairwise(levels):
        least, cycles = found[near], found[far]
        if least and cycles and cycles < least:
            problems.tell(
                document.fail,
                ("latency", far),
                f"{cycles} is less than the {least} of {near}, which is nearer",
                "swap them, or give the latencies of each operation in the long form",
            )
    return {level: cycles or 1 for level, cycles in found.items()}


def _topology(
    table: dict[str, Any], levels: list[str], sockets: int, dies: int, cores: int
) -> dict[str, Any]:
    def distance(one: int, other: int) -> int:
        if one == other:
            return 0
        same_socket = one // dies == other // dies
        return levels.index("same_socket" if same_socket else "other_socket")

    places = range(sockets * dies)
    kept: dict[str, Any] = {
        key: table[key] for key in ("source", "placement", "cohorts") if key in table
    }
    return {
        **kept,
        "cpus": len(places) * cores,
        "places": len(places),
        "numa_nodes": table.get("numa_nodes", sockets),
        "distances": levels,
        "between_places": [[distance(a, b) for b in places] for a in places],
    }


def _latency(
    document: Document, cycles: dict[str, int], llc: int, ram: int
) -> dict[str, Any]:
    def times(factor: float) -> dict[str, int]:
        return {level: max(1, round(factor * one)) for level, one in cycles.items()}

    source = document.get(("latency", "source"))
    named = {} if source is None else {"source": source}
    rows: dict[str, Any] = {
        operation: {**named, "modified": times(1), "shared": times(1)}
        for operation in OPERATIONS
    }
    shared = {**times(LOAD), "same_die": llc}
    nearest = cycles.get("same_socket", cycles["same_die"])
    far = LOAD * (cycles.get("other_socket", nearest) - nearest)
    memory = {level: ram + round(far) * (level == "other_socket") for level in cycles}
    rows["load"] = {"modified": times(LOAD), "shared": shared, "invalid": memory}
    rows["store"] = {"modified": times(STORE), "shared": times(STORE)}
    return rows


def _add_estimates(data: dict[str, Any], sockets: int, dies: int, cores: int) -> None:
    """Add the derivations, and the tables that a short file may leave out."""
    cores *= sockets * dies
    given = data.get("estimates")
    estimates = dict(given) if isinstance(given, dict) else {}
    if "latency" in estimates:  # of the levels, so also of what is derived from them
        words = estimates.pop("latency")
        estimates |= {f"latency.{operation}": words for operation in OPERATIONS}
    estimates |= {f"latency.{name}": words for name, words in DERIVED.items()}
    tables = {
        "protocol": {"kind": "moesi-grouped" if dies > 1 else "moesi-directory"},
        "sharers": {"store_millicycles": 220},
        "power": {
            "active_mw": CORE_MW,
            "pausing_mw": CORE_MW * 9 // 10,
            "parked_mw": CORE_MW // 4,
            "base_mw": cores * CORE_MW // 2,
            "transfer_local_pj": 2000,
            "transfer_remote_pj": 20_000,
        },
    }
    for name, table in tables.items():
        if name not in data:
            data[name] = table
            estimates[name] = ESTIMATES[name]
    data["estimates"] = estimates
