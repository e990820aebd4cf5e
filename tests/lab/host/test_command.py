# SPDX-License-Identifier: MIT
"""Tests the command `hasp machine`."""

from __future__ import annotations

import csv
import json
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from hasp.base.host import processor
from hasp.lab.host.toml_file import text_of
from hasp.lab.simulate.machines import flat, machine
from hasp.lab.simulate.machines.speed import Speed
from hasp.lab.simulate.processors import speed_of

Hasp = Callable[..., "subprocess.CompletedProcess[str]"]
needs_two = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="two CPUs are needed"
)
CPU = str(min(os.sched_getaffinity(0)))
WIDTH = 80


@pytest.fixture(scope="module")
def measured(hasp: Hasp, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with all output files of one quick run."""
    folder = tmp_path_factory.mktemp("machine")
    done = hasp(
        *("machine", "--quick", "--json", folder / "host.jsonl"),
        *("--csv", folder / "host.csv", "--toml", folder / "host.toml"),
        *("--plot", folder / "heat.svg"),
    )
    assert done.returncode == 0, done.stderr
    (folder / "stdout").write_text(done.stdout)
    return folder


def rows(folder: Path, kind: str | None = None) -> list[dict[str, Any]]:
    lines = (folder / "host.jsonl").read_text().splitlines()
    found = [json.loads(line) for line in lines]
    assert all(row["schema"] == "hasp.machine/1" for row in found)
    return [row for row in found if row["kind"] == (kind or row["kind"])]


@needs_two
def test_every_kind_of_row(measured: Path) -> None:
    (host,) = rows(measured, "host")
    assert host["cycles_per_second"] > 1e6
    assert not host["simulated"]
    kinds = ("cpu", "pair", "level", "line", "load", "wait", "wakeup", "atomic")
    for kind in (*kinds, "message"):
        assert rows(measured, kind), kind
    for row in [*rows(measured, "pair"), *rows(measured, "line")]:
        if not row.get("absent"):
            assert row["low_cycles"] <= row["cycles"] <= row["high_cycles"]
            assert row["samples"] > 50
            expected = row["cycles"] / host["cycles_per_second"] * 1e9
            assert row["ns"] == pytest.approx(expected, abs=0.02)


@needs_two
def test_cases_that_need_a_third_cpu_are_absent(measured: Path) -> None:
    if len(os.sched_getaffinity(0)) > 2:
        pytest.skip("this machine has a third CPU")
    absent = [row for row in rows(measured, "line") if row["absent"]]
    assert {row["state"] for row in absent} == {"owned", "shared"}
    assert all("cycles" not in row for row in absent)
    assert rows(measured, "crowd") == []


@needs_two
def test_the_tables_fit(measured: Path) -> None:
    text = (measured / "stdout").read_text()
    assert max(map(len, text.splitlines())) <= WIDTH
    for words in (
        "by state",
        "dependent loads at random addresses",
        "messages of one cache",
        "by how long that CPU had been idle",
    ):
        assert words in text


def known_speed() -> Speed | None:
    """Return the published score of this host's processor, as its file names it."""
    found = speed_of(processor())
    return found and replace(found, words="host")


@needs_two
def test_the_machine_file_can_be_simulated(measured: Path) -> None:
    described = machine.load(str(measured / "host.toml"))
    assert described.topology.cpus == len(os.sched_getaffinity(0))
    assert "latency compare_exchange modified" in flat.flatten(described)
    assert "MEASURED" in described.sources
    # Estimates are listed, and include no measured figure.
    assert "protocol" in described.estimates
    assert "latency.load.modified" not in described.estimates
    # Cached accesses beside an atomic operation take less than their latency.
    assert described.figures["local", "timer"] > 0
    issue = described.figures["local", "issue_millicycles"]
    assert 0 < issue < 1000 * described.figures["local", "l1"]
    assert described.figures["model", "migratory"] in (0, 1)
    assert described.speed == known_speed()
    first, *_ = described.wakeups
    (call,) = (row for row in rows(measured, "wait") if row["name"] == "call")
    shortest = rows(measured, "wakeup")[0]
    assert (shortest["name"], first.idle_us) == ("wake", 0)
    assert first.futex_wake == round(shortest["cycles"] - call["cycles"])
    assert [one.idle_us for one in described.wakeups[1:]] == [
        row["idle_us"] for row in rows(measured, "wakeup") if row["name"] == "wake"
    ][1:]


@pytest.mark.parametrize("migratory", [1, 2])
def test_the_machine_file_tells_how_far_loads_take_lines(
    hasp: Hasp, tmp_path: Path, migratory: int
) -> None:
    """Two sockets of two dies of two cores have three distances."""
    text = machine.load("epyc-48").path.read_text()
    for key, value in (("dies", 2), ("cores", 2), ("migratory", migratory)):
        text = re.sub(rf"^{key} = .*", f"{key} = {value}", text, flags=re.M)
    changed = tmp_path / "changed.toml"
    changed.write_text(text)
    results = tmp_path / "host.jsonl"
    done = hasp("machine", "--quick", "--simulate", changed, "--json", results)
    assert done.returncode == 0, done.stderr
    assert f"\nmigratory = {migratory}\n" in text_of(rows(tmp_path))


@needs_two
def test_csv_and_figure(measured: Path) -> None:
    with (measured / "host.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    kinds = {line["kind"] for line in lines}
    assert {"pair", "line", "load", "wait", "wakeup", "atomic", "message"} <= kinds
    assert len([line for line in lines if line["kind"] == "line"]) == len(
        rows(measured, "line")
    )
    assert "<svg" in (measured / "heat.svg").read_text()


@needs_two
def test_earlier_results_can_be_displayed(
    hasp: Hasp, measured: Path, tmp_path: Path
) -> None:
    source = measured / "host.jsonl"
    again = hasp("machine", "--from", source, "--toml", tmp_path / "again.toml")
    assert again.returncode == 0, again.stderr
    assert again.stdout == (measured / "stdout").read_text()
    first, second = (
        (folder / name).read_text()
        for folder, name in ((measured, "host.toml"), (tmp_path, "again.toml"))
    )
    assert first == second
    lines = hasp("machine", "--from", source, "--json").stdout
    assert lines == source.read_text()


def test_one_cpu_is_enough(hasp: Hasp) -> None:
    done = hasp("machine", "--quick", "--cpus", CPU, "--json")
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = {row["kind"] for row in found}
    assert "one_cpu" in {row.get("doubt") for row in found}
    assert {"load", "wait", "atomic"} <= kinds
    assert "pair" not in kinds


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--cpus", "0,9999"], "may not use CPU 9999"),
        (["--cpus", "one"], "not a list such as"),
        (["--plot", "heat.gif"], "unknown format"),
        (["--csv", "/nonexistent/x.csv"], "cannot be written"),
        (["--from", "/nonexistent.jsonl"], "cannot be read as results"),
        (["--simulate", "nowhere"], "no machine called 'nowhere'"),
        (["--simulate", "xeon-80", "--toml", "x.toml"], "not simulated ones"),
        (["--cpus", CPU, "--toml", "x.toml"], "at least two CPUs"),
    ],
)
def test_refusals(hasp: Hasp, words: list[str], message: str) -> None:
    done = hasp("machine", *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert "about" not in done.stderr  # refused before it measures


def test_other_files_are_not_results(hasp: Hasp, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text('{"schema":"hasp.bench.locks/1"}\n')
    done = hasp("machine", "--from", other)
    assert done.returncode == 2
    assert "contains no results of `hasp machine`" in done.stderr


BURN = "print(flush=True)\nwhile True: pass"


@pytest.mark.slow
@pytest.mark.timeout(300)
@needs_two
def test_a_remote_load_is_steady_on_a_busy_host(hasp: Hasp, tmp_path: Path) -> None:
    """Beside two busy programs, half of the runs agree with the next one but for 5 %.

    The CPUs of a virtual machine move between two threads of one core (a transfer takes
    52 cycles) and two cores (312), also within a run: each place shows as a mode.
    """
    words = [sys.executable, "-c", BURN]
    burners = [subprocess.Popen(words, stdout=subprocess.PIPE) for _ in range(2)]
    try:
        for burner in burners:
            assert burner.stdout and burner.stdout.readline()
        modes = []
        for number in range(10):
            path = tmp_path / f"{number}.jsonl"
            done = hasp("machine", "--quick", "--json", path)
            assert done.returncode == 0, done.stderr
            lines = map(json.loads, path.read_text().splitlines())
            pair = next(row for row in lines if row["kind"] == "pair")
            modes.append(pair["modes"] or [pair["cycles"]])
    finally:
        for burner in burners:
            burner.kill()
            burner.communicate()
    steps = [
        min(max(one, two) / min(one, two) for one in before for two in after)
        for before, after in pairwise(modes)
    ]
    assert statistics.median(steps) < 1.05, modes
