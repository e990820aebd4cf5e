# SPDX-License-Identifier: MIT
"""Measuring a simulated machine reproduces its latencies.

The reference is table 2 of SSYNC (David, Guerraoui and Trigonakis, SOSP 2013), in
tests/lab/host/table2.csv: 173 latencies of four machines. If the measurement reproduces
a cell, the machine file, the simulator's protocol and the script that produces the
state are consistent.
"""

from __future__ import annotations

import csv
import itertools
import json
import statistics
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from hasp.lab.host import pairs as plan
from hasp.lab.host.described import topology_of
from hasp.lab.host.toml_file import CALLS_OF_A_SWITCH
from hasp.lab.simulate.machines import machine
from hasp.lab.simulate.machines.flat import flatten

TABLE = Path(__file__).with_name("table2.csv")
MACHINES = {
    "Opteron": "opteron-48",
    "Xeon": "xeon-80",
    "Niagara": "niagara-64",
    "Tilera": "tilera-36",
}
# Names of distances in the table that differ from the machine file.
DISTANCES = {
    ("Tilera", "one hop"): "1_hops",
    ("Tilera", "max hops"): "10_hops",
}
TOLERANCE, TOLERANCE_CYCLES = 0.05, 3


def cells() -> Iterator[dict[str, str]]:
    with TABLE.open(newline="") as file:
        yield from csv.DictReader(file)


def distance_of(cell: dict[str, str]) -> str:
    key = (cell["system"], cell["distance"])
    return DISTANCES.get(key, cell["distance"].lower().replace(" ", "_"))


@cache
def program(build_dir: Path, name: str) -> str:
    return str(next(build_dir.rglob(name)))


@pytest.fixture(scope="session")
def flat_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Flatten the machines; as in SSYNC, the first access decides on the home."""
    folder = tmp_path_factory.mktemp("flat")
    files = {}
    for system, name in MACHINES.items():
        text = flatten(machine.load(name))
        path = folder / name
        path.write_text(text.replace("model.hashed_home 1\n", "model.hashed_home 0\n"))
        files[system] = path
    return files


def measure(build_dir: Path, flat: Path, *words: str) -> list[dict[str, Any]]:
    done = subprocess.run(
        [program(build_dir, "hasp-machine-simulated"), *words, "--machine", str(flat)],
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("system", MACHINES)
def test_every_cell_of_table_2_is_measured_again(
    system: str, build_dir: Path, flat_files: dict[str, Path]
) -> None:
    topology = topology_of(machine.load(MACHINES[system]))
    casts = {cast.relation: cast for cast in plan.casts(topology)}
    wrong = []
    expected = [cell for cell in cells() if cell["system"] == system]
    for distance, group in itertools.groupby(
        sorted(expected, key=distance_of), key=distance_of
    ):
        cast = casts[distance]
        cpus = f"--cpus={cast.cpu},{cast.holder},{cast.sharer}"
        words = ("coherence", cpus, "--samples=20", "--batch=1", "--lines=4")
        found = {
            (row["operation"], row["state"]): statistics.median(row["cycles"])
            - statistics.median(row["overheads"])
            for row in measure(build_dir, flat_files[system], *words)
        }
        for cell in group:
            paper = int(cell["cycles"])
            case = (cell["operation"].lower(), cell["state"].lower())
            if abs(found[case] - paper) > max(TOLERANCE * paper, TOLERANCE_CYCLES):
                wrong.append((distance, *case, paper, found[case]))
    assert expected
    assert wrong == []


@pytest.mark.parametrize("system", MACHINES)
def test_threads_that_only_read_the_clock_share_a_cpu(
    system: str, build_dir: Path, flat_files: dict[str, Path]
) -> None:
    simulated = machine.load(MACHINES[system])
    words = ("slice", "--cpus=0", "--milliseconds=100")
    [row] = measure(build_dir, flat_files[system], *words)
    slice_ = simulated.figures["scheduler", "slice_us"] * simulated.mhz
    assert len(row["cycles"]) >= 2
    assert row["cycles"] == pytest.approx([slice_] * len(row["cycles"]), rel=0.01)


@pytest.mark.parametrize("system", ["Opteron", "Xeon"])
def test_an_atomic_operation_is_measured(
    system: str, build_dir: Path, flat_files: dict[str, Path]
) -> None:
    [row] = measure(build_dir, flat_files[system], "atomic", "--cpus=0")
    local = machine.load(MACHINES[system]).figures
    expected = local["local", "atomic"] + local["local", "code"]
    assert statistics.median(row["cycles"]) / row["batch"] == pytest.approx(
        expected, rel=0.01
    )


@pytest.mark.parametrize("system", ["Opteron", "Xeon"])
@pytest.mark.parametrize(
    ("cpus", "migratory", "takes"),
    [
        ("0,1", 0, False),
        ("0,1", 1, True),
        ("0,12", 1, False),  # in another place
        ("0,12", 4, True),
    ],
)
def test_a_load_takes_a_modified_line_on_some_machines(
    system: str,
    cpus: str,
    migratory: int,
    takes: bool,
    build_dir: Path,
    flat_files: dict[str, Path],
    tmp_path: Path,
) -> None:
    """The next store is local then, and the former owner has lost its copy."""
    flat = tmp_path / "flat"
    text = flat_files[system].read_text()
    flat.write_text(
        text.replace("model.migratory 0\n", f"model.migratory {migratory}\n")
    )
    words = ("--samples=20", "--batch=1", "--lines=4")
    found = {
        (row["operation"], row["state"]): statistics.median(row["cycles"])
        - statistics.median(row["overheads"])
        for row in measure(build_dir, flat, "coherence", f"--cpus={cpus}", *words)
    }
    modified, own = found["load", "modified"], found["store", "mine"]
    assert (found["store", "taken"] == own) == takes
    assert (found["load", "probe_owned"] == modified) == takes
    # Once the former owner has read it again, both have a copy.
    assert found["load", "probe_taken"] == found["load", "mine"]
    assert found["store", "probe_taken"] > own


@pytest.mark.parametrize(
    ("protocol", "cpus", "distances"),
    [
        ("moesi-grouped", "0,1", {0}),  # in a group
        ("moesi-grouped", "8,16", {1, 2}),  # in a socket
        ("moesi-grouped", "8,100", {2}),
        ("moesi-directory", "0,1", {0, 1, 2}),
    ],
)
def test_a_home_is_on_the_way_between_groups_only(
    protocol: str, cpus: str, distances: set[int], build_dir: Path, tmp_path: Path
) -> None:
    """Homes are anywhere. A far one makes a transfer between near groups a far one."""
    described = machine.load("epyc-192")
    latencies = described.latencies["load", "modified"]
    code = described.figures["local", "code"]
    text = flatten(replace(described, protocol=protocol))
    flat = tmp_path / "flat"
    flat.write_text(text.replace("model.hashed_home 0\n", "model.hashed_home 1\n"))
    words = ("coherence", f"--cpus={cpus}", "--samples=30", "--batch=1", "--lines=16")
    [found] = [
        {
            cycles - empty
            for cycles, empty in zip(row["cycles"], row["overheads"], strict=True)
        }
        for row in measure(build_dir, flat, *words)
        if (row["operation"], row["state"]) == ("load", "modified")
    ]
    assert found == {latencies[distance] + code for distance in distances}


@pytest.mark.parametrize("system", ["Opteron", "Xeon"])
@pytest.mark.parametrize("millicycles", [0, 250])
def test_accesses_beside_an_atomic_are_measured(
    system: str,
    millicycles: int,
    build_dir: Path,
    flat_files: dict[str, Path],
    tmp_path: Path,
) -> None:
    """Six loads and two stores; each takes as long as alone if the core is in order."""
    flat = tmp_path / "flat"
    key = "local.issue_millicycles"
    text = flat_files[system].read_text()
    flat.write_text(text.replace(f"{key} 0\n", f"{key} {millicycles}\n"))
    [row] = measure(build_dir, flat, "issue", "--cpus=0")
    local = machine.load(MACHINES[system]).figures
    load, store = local["local", "l1"], local["local", "store"]
    alone = (6 * load + 2 * store) / 8 + local["local", "code"]
    assert statistics.median(row["cycles"]) / row["batch"] == pytest.approx(
        millicycles / 1000 if millicycles else alone, rel=0.02
    )


@pytest.mark.parametrize("system", MACHINES)
def test_the_timer_is_measured(
    system: str, build_dir: Path, flat_files: dict[str, Path]
) -> None:
    [row] = measure(build_dir, flat_files[system], "timer", "--cpus=0")
    local = machine.load(MACHINES[system]).figures
    ordered = local["local", "timer"] + local["local", "code"]  # behind a fence
    assert {cycles / row["batch"] for cycles in row["cycles"]} == {ordered}


@pytest.mark.parametrize("system", MACHINES)
def test_calls_and_switches_are_measured_apart(
    system: str, build_dir: Path, flat_files: dict[str, Path]
) -> None:
    """So that a file of `hasp machine` describes what was measured."""
    figures = machine.load(MACHINES[system]).figures
    flat = flat_files[system]
    [calls] = measure(build_dir, flat, "call", "--cpus=0")
    call = statistics.median(calls["cycles"]) / calls["batch"]
    assert call == pytest.approx(figures["scheduler", "futex_call"], rel=0.05)
    [switches] = measure(build_dir, flat, "switch", "--cpus=0")
    switch = statistics.median(switches["cycles"]) / 2 - CALLS_OF_A_SWITCH * call
    assert switch == pytest.approx(figures["scheduler", "switch"], rel=0.1)


def test_a_thread_that_wakes_another_pays_for_the_interrupt(
    build_dir: Path, flat_files: dict[str, Path], tmp_path: Path
) -> None:
    flat = tmp_path / "flat"
    text = flat_files["Opteron"].read_text()
    flat.write_text(text.replace("scheduler.waking 0\n", "scheduler.waking 7000\n"))

    def medians(path: Path, name: str) -> float:
        [row] = measure(build_dir, path, name, "--cpus=0,6")
        return statistics.median(row["cycles"])

    before, after = (medians(path, "waking") for path in (flat_files["Opteron"], flat))
    assert after - before == pytest.approx(7000, rel=0.01)
    # The woken thread does not wait for the end of the call.
    before, after = (medians(path, "wake") for path in (flat_files["Opteron"], flat))
    assert after == pytest.approx(before, rel=0.01)


def test_wakeups_are_measured_by_the_idle_time(
    build_dir: Path, flat_files: dict[str, Path], tmp_path: Path
) -> None:
    rows = [(0, 5000, 0), (15, 20000, 700), (150, 50000, 7000)]  # us, cycles, cycles
    flat = tmp_path / "flat"
    flat.write_text(
        flat_files["Opteron"].read_text()
        + "".join(f"wakeup {idle * 2100} {wake} {call}\n" for idle, wake, call in rows)
    )

    def medians(path: Path) -> dict[tuple[str, int], float]:
        return {
            (row["part"], row["idle_us"]): statistics.median(row["cycles"])
            for row in measure(build_dir, path, "wakeups", "--cpus=0,6")
        }

    same, found = medians(flat_files["Opteron"]), medians(flat)
    times = sorted({idle for _, idle in found})
    assert times[0] == 2 and times[-1] == 3000
    for idle in times:
        _, wake, call = next(row for row in reversed(rows) if row[0] <= idle)
        # The file without a table has 5000 and 0.
        more = {"wake": wake - 5000, "waking": call}
        for part, cycles in more.items():
            assert found[part, idle] - same[part, idle] == pytest.approx(cycles, abs=99)
        assert same["wake", idle] == pytest.approx(same["wake", 2], abs=99)


def test_the_table_is_complete() -> None:
    assert len(list(cells())) == 173


def test_hasp_machine_measures_a_simulated_machine(hasp: Any, tmp_path: Path) -> None:
    path = tmp_path / "i-20.jsonl"
    words = ("machine", "--simulate", "i-20", "--json", path)
    done = hasp(*words, "--plot", tmp_path / "heat.png")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "heat.png").stat().st_size > 1000
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert rows[0]["simulated"]
    assert [row for row in rows if row["kind"] == "doubt"] == []
    levels = [row for row in rows if row["kind"] == "level"]
    names = [name for row in levels for name in row["relations"]]
    assert names == ["same_die", "one_hop"]
    # With three or more CPUs no case is absent, and sharers slow down a store.
    assert not any(row["absent"] for row in rows if row["kind"] == "line")
    stores = {
        row["sharers"]: row["cycles"]
        for row in rows
        if row["kind"] == "crowd" and row["operation"] == "store"
    }
    assert stores[max(stores)] > stores[2]
    # A single line saturates: throughput does not grow with the number of threads.
    fai = {
        row["threads"]: row["throughput_mops"]
        for row in rows
        if row["kind"] == "atomic" and row["operation"] == "fai"
    }
    assert fai[max(fai)] < max(fai.values())
    assert {row["name"] for row in rows if row["kind"] == "wait"} == {
        *("atomic", "issue", "timer", "pause", "call", "switch", "wake", "waking"),
        "slice",
    }
    wakeups = [row for row in rows if row["kind"] == "wakeup"]
    assert len(wakeups) == 2 * len({row["idle_us"] for row in wakeups}) > 10
    watts = {row["way"]: row["watts"] for row in rows if row["kind"] == "energy"}
    assert watts["active"] > watts["pausing"] > watts["parked"] > 0
    again = tmp_path / "again.jsonl"
    hasp(*words[:-1], again)
    assert again.read_text().splitlines()[1:] == path.read_text().splitlines()[1:]
