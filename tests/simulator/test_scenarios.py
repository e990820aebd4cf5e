# SPDX-License-Identifier: MIT
"""Simulated performance in the scenarios is exactly as expected."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from hasp.base.errors import HaspError
from hasp.lab.simulate.job import Job
from hasp.lab.simulate.machines.flat import flatten
from hasp.lab.simulate.machines.machine import load
from hasp.lab.simulate.pool import run_jobs
from hasp.lab.simulate.scenario import differences, find, names, read, run
from hasp.locks.native import engine

HASP = [sys.executable, "-m", "hasp", "simulate"]


def simulator_is_built() -> bool:
    try:
        engine("hasp-simulate")
    except HaspError:
        return False
    return True


pytestmark = pytest.mark.skipif(
    not simulator_is_built(), reason="a build with a sanitizer has no simulator"
)


@pytest.mark.parametrize("name", names())
def test_results_are_exactly_those_expected(name: str) -> None:
    scenario = read(find(name)[0])
    assert list(differences(scenario.expected, run(scenario))) == [], (
        "if the change is intended: hasp simulate --scenario all --update"
    )


def test_a_change_of_performance_is_a_finding(tmp_path: Path) -> None:
    copy = tmp_path / "copy.toml"
    shutil.copy(find("free-lock")[0], copy)
    text = copy.read_text()
    before, after = re.findall(r'("mcs/2" = \{ operations = )(\d+)', text)[0]
    copy.write_text(text.replace(before + after, f"{before}{int(after) + 1}"))
    done = subprocess.run(
        [*HASP, "--scenario", str(copy)], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "mcs/2: operations" in done.stdout and "is now" in done.stdout
    done = subprocess.run([*HASP, "--scenario", str(copy), "--update"])
    assert done.returncode == 0
    assert copy.read_text() == text


def test_a_slower_machine_shows_in_every_run(tmp_path: Path) -> None:
    text = load("xeon-80").path.read_text()
    slower = tmp_path / "xeon-80.toml"
    slower.write_text(text.replace("one_hop = 324", "one_hop = 424"))
    scenario = tmp_path / "scenario.toml"
    original = find("free-lock")[0].read_text()
    scenario.write_text(original.replace('"xeon-80"', f'"{slower}"'))
    read_back = read(scenario)
    said = list(differences(read_back.expected, run(read_back)))
    assert any(line.startswith("mcs/2: operations") for line in said), said
    assert not any("/1:" in line for line in said), said


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("threads = 3", "threads: not a list of numbers"),
        ("colour = 3", "colour: unknown key"),
        ("schema = 9", "schema: unknown version"),
    ],
)
def test_a_wrong_scenario_is_refused_with_its_line(
    tmp_path: Path, line: str, words: str
) -> None:
    key = line.partition(" ")[0]
    lines = find("free-lock")[0].read_text().splitlines()
    lines = [line if text.startswith(f"{key} ") else text for text in lines]
    if line not in lines:
        lines.insert(2, line)
    wrong = tmp_path / "wrong.toml"
    wrong.write_text("\n".join(lines))
    done = subprocess.run(
        [*HASP, "--scenario", str(wrong)], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert f"{wrong}:{lines.index(line) + 1}: {words}" in done.stderr


def command(machine: Path, seed: int, *, lock: str = "ttas", threads: int = 20) -> Job:
    return Job(
        machine=str(machine),
        workload="one-lock",
        lock=lock,
        threads=threads,
        cpus=tuple(range(threads)),
        seed=seed,
        warm_up_ns=50_000,
        duration_ns=200_000,
    )


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    machine = tmp_path / "m"
    machine.write_text(flatten(load("opteron-48")))

    def bytes_of(seed: int) -> bytes:
        words = command(machine, seed).command
        return subprocess.run(words, capture_output=True, check=True).stdout

    assert bytes_of(1) == bytes_of(1) != bytes_of(2)


@pytest.fixture
def large_machine(tmp_path: Path) -> Path:
    text = load("arm-128").path.read_text()
    text = text.replace("cpus = 128", "cpus = 1024").replace("[8, 4]", "[16, 16]")
    large = tmp_path / "large.toml"
    large.write_text(text)
    machine = tmp_path / "m"
    machine.write_text(flatten(load(str(large))))
    return machine


def test_a_thousand_waiters_cost_no_events(large_machine: Path) -> None:
    job = command(large_machine, 1, lock="mcs", threads=1024)
    # after all threads have begun to wait
    (record,) = run_jobs([replace(job, warm_up_ns=2_000_000, duration_ns=2_000_000)])
    assert record["operations"] > 500
    transfers = record["transfers_local"] + record["transfers_remote"]
    assert record["simulator_events"] < 2.5 * transfers


def test_memory_grows_with_the_threads_only(large_machine: Path) -> None:
    def kilobytes(threads: int) -> int:
        job = command(large_machine, 1, lock="mcs", threads=threads)
        with subprocess.Popen(job.command, stdout=subprocess.DEVNULL) as run:
            _, status, usage = os.wait4(run.pid, 0)
            run.returncode = os.waitstatus_to_exitcode(status)
        assert run.returncode == 0
        return usage.ru_maxrss

    few, many = kilobytes(128), kilobytes(1024)
    assert many - few < 24 * (1024 - 128)
