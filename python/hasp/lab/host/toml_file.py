# SPDX-License-Identifier: MIT
"""Writes the measured host as a machine file (docs/machines.md).

Measured values are marked as such. Values that a host cannot provide are estimates,
listed as such with their derivation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from itertools import takewhile
from pathlib import Path
from typing import NoReturn

from hasp.base.errors import HaspError
from hasp.base.files import write_file
from hasp.lab.host.placement import Places, places_of
from hasp.lab.host.rows import loads_take_modified, mean_cycles, of_kind
from hasp.lab.host.target import Row
from hasp.lab.simulate.machines import wakeups
from hasp.lab.simulate.processors import source_of, speed_of

# Operation names in the file, and in the rows.
OPERATIONS = {
    "load": "load",
    "store": "store",
    "compare_exchange": "cas",
    "fetch_add": "fai",
    "test_and_set": "tas",
    "exchange": "swap",
}
STATES = ("modified", "owned", "exclusive", "shared", "invalid")
# With two CPUs, no line is shared by two others; these states are used instead.
STAND_INS = {
    "load": ("exclusive", "no third CPU: taken from a line that one other CPU has"),
    "other": (
        "shared_mine",
        "no third CPU: taken from a line shared with the CPU",
    ),
}
# Per core of a server processor, for hosts without energy counters.
ACTIVE_MW, BASE_MW = 5000, 30000
PAUSING_SHARE, PARKED_SHARE = 0.9, 0.25
TRANSFER_LOCAL_PJ, TRANSFER_REMOTE_PJ = 2000, 20000
CALLS_OF_A_SWITCH = 2  # the measured switch includes a wake-up call and one that sleeps
LAG = (6, 6)  # the Linux that schedules by it: src/simulator/fairness.h
# By a word in the processor's name; the first that matches counts. "" always does.
PROTOCOLS = {
    "Intel": "mesif-inclusive",
    "EPYC": "moesi-grouped",
    "Ryzen": "moesi-grouped",
    "": "moesi-directory",
}


class _Text:
    """The tables of the file, and the estimates among their values."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.estimates: dict[str, str] = {}
        self.sources: dict[str, str] = {}

    def table(self, name: str, source: str | None) -> None:
        self.lines += ["", f"[{name}]"]
        if source:
            self.lines.append(f'source = "{source}"')

    def figure(self, key: str, value: float | None, least: int = 0) -> None:
        if value is not None:
            self.lines.append(f"{key} = {max(least, round(value))}")

    def figures(self, key: str, values: Iterable[float], least: int = 0) -> None:
        numbers = ", ".join(str(max(least, round(value))) for value in values)
        self.lines.append(f"{key} = [{numbers}]")


def refuse_one_cpu() -> NoReturn:
    """Raise HaspError: a machine file needs transfers between two CPUs."""
    raise HaspError(
        "a machine file needs at least two CPUs to be measured",
        "leave out --toml, or measure with more CPUs",
    )


def write(rows: Sequence[Row], path: Path) -> None:
    """Write the machine file of `rows` to `path`."""
    write_file(path, text_of(rows))


def text_of(rows: Sequence[Row]) -> str:
    """Return the text of the machine file.

    Raises HaspError if fewer than two CPUs were measured.
    """
    first = rows[0]
    if not of_kind(rows, "pair"):
        refuse_one_cpu()
    places = places_of(rows)
    body = _Text()
    body.table("clock", "MEASURED, against the system clock")
    body.figure("mhz", first["cycles_per_second"] / 1e6, 1)
    _speed(body, first.get("processor") or "")
    _topology(body, places)
    _protocol(body, first)
    _local(body, rows)
    _sharers(body, rows)
    for name, operation in OPERATIONS.items():
        _latency(body, rows, places, name, operation)
    _model(body, rows, places)
    _scheduler(body, rows, first["cycles_per_second"])
    _wakeups(body, rows)
    _power(body, rows, places)
    model = first["host"]["cpu_model"]
    count = sum(map(len, places.cpus))
    head = [
        "# SPDX-License-Identifier: MIT",
        f"# Written by `{first['command']}`, Hasp {first['version']}.",
        f"# CPUs are numbered group by group: {_numbering(places)}.",
        "schema = 1",
        f"title = {_quoted(f'{model}, {count} CPUs, as measured')}",
        "",
        "[sources]",
        f"MEASURED = {_quoted(_source(first))}",
        *(f"{name} = {_quoted(words)}" for name, words in body.sources.items()),
        "",
        "[estimates]",
        *(f"{_quoted(key)} = {_quoted(why)}" for key, why in body.estimates.items()),
    ]
    return "\n".join([*head, *body.lines]) + "\n"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _source(first: Row) -> str:
    host = first["host"]
    how = "in real time" if first["real_time"] else "without real time"
    return (
        f"hasp machine {first['version']}, {how}, on {host['cpu_model']}, "
        f"Linux {host['kernel']}, {host['architecture']}"
    )


def _numbering(places: Places) -> str:
    groups = [",".join(map(str, group)) for group in places.cpus]
    return "; ".join(groups[:4]) + ("; ..." if len(groups) > 4 else "")


def _speed(body: _Text, processor: str) -> None:
    """Add the published score of the processor, or of its generation, if there is one.

    It is not measured: a machine file is compared with machines that are not at hand.
    """
    speed = speed_of(processor)
    if speed is None:
        return
    body.sources["PUBLISHED"] = source_of(processor)
    words = f"PUBLISHED, {speed.words}"
    body.table("speed", None if speed.estimated else words)
    body.lines.append(f"benchmark = {_quoted(speed.benchmark)}")
    body.figure("score", speed.score)
    if speed.estimated:
        body.estimates["speed"] = f"{words}: the median, and the range, of its models"
        body.figure("low", speed.low)
        body.figure("high", speed.high)


def _topology(body: _Text, places: Places) -> None:
    body.table("topology", "MEASURED, and as hwloc reports the host")
    body.figure("cpus", sum(map(len, places.cpus)))
    body.figure("threads_per_core", places.threads_per_core)
    body.figure("places", len(places.cpus))
    body.figure("numa_nodes", places.nodes)
    body.lines.append(f"distances = {json.dumps(list(places.distances))}")
    if len(places.cpus) > 1:
        body.lines.append("between_places = [")
        body.lines += [f"  {list(row)}," for row in places.between]
        body.lines.append("]")
    if not places.even:
        body.estimates["topology"] = (
            "cores or caches of the host differ, or hwloc does not know them: "
            "all CPUs form one place"
        )


def _protocol(body: _Text, first: Row) -> None:
    model = first["host"]["cpu_model"]
    kind = next(kind for word, kind in PROTOCOLS.items() if word in model)
    body.table("protocol", None)
    body.lines.append(f'kind = "{kind}"')
    body.estimates["protocol"] = "not measured: typical of the vendor's processors"


def _own(rows: Sequence[Row], operation: str, state: str = "mine") -> float | None:
    for row in of_kind(rows, "line"):
        if (row["operation"], row["state"]) == (operation, state):
            return None if row["absent"] else float(row["cycles"])
    return None


def _local(body: _Text, rows: Sequence[Row]) -> None:
    loads = {row["level"]: row["cycles"] for row in of_kind(rows, "load")}
    body.table("local", "MEASURED, pointer chasing, and operations on a local line")
    l1 = loads.get("L1")
    if l1 is None:
        l1 = 4.0
        body.estimates["local.l1"] = "not measured: four cycles"
    body.figure("l1", l1, 1)
    body.figure("l2", loads.get("L2"), 1)
    llc = loads.get("LLC", loads.get("L2"))
    if llc is None:
        llc = mean_cycles(rows, "load", "exclusive") or 10 * l1
        body.estimates["local.llc"] = "not measured: taken from a line of another CPU"
    body.figure("llc", llc, 1)
    ram = loads.get("RAM")
    if ram is None:
        ram = mean_cycles(rows, "load", "invalid") or 5 * llc
        body.estimates["local.ram"] = "not measured: taken from an evicted line"
    body.figure("ram", ram, 1)
    waits = {row["name"]: row["cycles"] for row in of_kind(rows, "wait")}
    body.figure("atomic", waits.get("atomic", _own(rows, "cas")), 1)
    body.figure("store", _own(rows, "store"), 1)
    body.figure("timer", waits.get("timer"))
    body.figure("pause", waits.get("pause"), 1)
    if "issue" in waits:
        body.figure("issue_millicycles", 1000 * waits["issue"], 1)
        body.figure("code", 0)  # was measured with each operation


def _sharers(body: _Text, rows: Sequence[Row]) -> None:
    crowds = {
        row["sharers"]: row["cycles"]
        for row in of_kind(rows, "crowd")
        if row["operation"] == "store"
    }
    few, many = min(crowds, default=0), max(crowds, default=0)
    if many > few:
        body.table(
            "sharers", f"MEASURED, stores to a line with {few} and {many} sharers"
        )
        slope = 1000 * (crowds[many] - crowds[few]) / (many - few)
    else:
        body.table("sharers", None)
        slope = 0.0
        body.estimates["sharers"] = "too few CPUs to measure the slope"
    body.figure("store_millicycles", slope)


def _latency(
    body: _Text, rows: Sequence[Row], places: Places, name: str, operation: str
) -> None:
    body.table(f"latency.{name}", f"MEASURED, {operation}")
    for state in STATES:
        cells = {
            distance: mean_cycles(rows, operation, state, places.relation[distance])
            for distance in places.distances
        }
        if any(cell is None for cell in cells.values()) and state == "shared":
            other, why = STAND_INS["load" if operation == "load" else "other"]
            cells = {
                distance: mean_cycles(rows, operation, other, places.relation[distance])
                for distance in places.distances
            }
            body.estimates[f"latency.{name}.{state}"] = why
        if any(cell is None for cell in cells.values()):
            continue  # the reader substitutes another row: docs/machines.md
        row = ", ".join(
            f"{distance} = {max(1, round(cell or 0))}"
            for distance, cell in cells.items()
        )
        body.lines.append(f"{state} = {{ {row} }}")


def _model(body: _Text, rows: Sequence[Row], places: Places) -> None:
    # Threads of a core share its caches, so no line moves at that distance. It counts
    # as migratory if the next one does.
    within_core = 1 if places.threads_per_core > 1 else 0
    takes = [
        loads_take_modified(rows, places.relation[distance])
        for distance in places.distances[within_core:]
    ]
    if all(each is None for each in takes):
        return
    near = sum(1 for _ in takewhile(bool, takes))
    body.table("model", "MEASURED, stores to a line that another CPU had modified")
    body.figure("migratory", near and near + within_core)


def _scheduler(body: _Text, rows: Sequence[Row], rate: float) -> None:
    waits = {row["name"]: row["cycles"] for row in of_kind(rows, "wait")}
    if not waits:
        return
    call = waits.get("call", 0.0)
    body.table("scheduler", "MEASURED, each without the system calls around it")
    if "slice" in waits:
        body.figure("slice_us", waits["slice"] / rate * 1e6, 1)
    if "switch" in waits:
        body.figure("switch", waits["switch"] / 2 - CALLS_OF_A_SWITCH * call)
    body.figure("futex_call", waits.get("call"), 1)
    if "wake" in waits:
        body.figure("futex_wake", waits["wake"] - call)
    if "waking" in waits:
        body.figure("waking", waits["waking"] - call)
    body.figure("fairness", _linux(rows[0]["host"]["kernel"]) >= LAG)


def _wakeups(body: _Text, rows: Sequence[Row]) -> None:
    """Add the table of wake-ups. A figure holds from its measured idle time on."""
    calls = [row["cycles"] for row in of_kind(rows, "wait") if row["name"] == "call"]
    found = {
        (row["name"], row["idle_us"]): row["cycles"] for row in of_kind(rows, "wakeup")
    }
    times = sorted(
        idle_us
        for name, idle_us in found
        if name == "wake" and ("waking", idle_us) in found
    )
    if not times or not calls:
        return
    body.table(wakeups.TABLE, "MEASURED, each without the system calls around it")
    # The shortest measured time stands for CPUs that are idle for less, or busy.
    body.figures("idle_us", [0, *times[1:]])
    for key, name in (("futex_wake", "wake"), ("waking", "waking")):
        costs = [found[name, idle_us] - calls[0] for idle_us in times]
        body.figures(key, costs, wakeups.LEAST[key])


def _linux(release: str) -> tuple[int, ...]:
    """Return the first two numbers of a kernel's release, such as 6.12.3-generic."""
    return tuple(int(number) for number in re.findall(r"\d+", release)[:2])


def _power(body: _Text, rows: Sequence[Row], places: Places) -> None:
    watts = {row["way"]: row["watts"] for row in of_kind(rows, "energy")}
    cores = sum(map(len, places.cpus)) / places.threads_per_core
    transfers = "512 bits per line, about 4 pJ per bit on a die and 40 off it"
    if {"active", "pausing", "parked"} <= set(watts):
        body.table("power", "MEASURED, energy counters of all packages")
        base = watts["parked"] * (1 - PARKED_SHARE)
        figures = {
            "active_mw": 1000 * (watts["active"] - base) / cores,
            "pausing_mw": 1000 * (watts["pausing"] - base) / cores,
            "parked_mw": 1000 * (watts["parked"] - base) / cores,
            "base_mw": 1000 * base,
        }
        body.estimates["power.base_mw"] = "three quarters of the power with all parked"
        body.estimates["power.transfer_local_pj"] = transfers
        body.estimates["power.transfer_remote_pj"] = transfers
    else:
        body.table("power", None)
        body.estimates["power"] = (
            f"no energy counters on the host: {ACTIVE_MW} mW per core, nine tenths "
            f"of it while pausing, a quarter while parked; {transfers}"
        )
        figures = {
            "active_mw": ACTIVE_MW,
            "pausing_mw": ACTIVE_MW * PAUSING_SHARE,
            "parked_mw": ACTIVE_MW * PARKED_SHARE,
            "base_mw": BASE_MW,
        }
    for key, value in figures.items():
        body.figure(key, value)
    body.figure("transfer_local_pj", TRANSFER_LOCAL_PJ)
    body.figure("transfer_remote_pj", TRANSFER_REMOTE_PJ)
