# SPDX-License-Identifier: MIT
"""Tests `hasp simulate` with a fake engine: plans, tables, error messages."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hasp.base.errors import HaspError
from hasp.lab.simulate.counts import parse_counts
from hasp.lab.simulate.machines.machine import load
from hasp.lab.simulate.placement import cpus
from hasp.locks import native

# Throughput is computed from the CPUs; spinlock deadlocks, and clh runs until it is
# killed.
ENGINE = r"""#!{python}
import json, sys, time
words = sys.argv[1:]
if words == ["--list"]:
    knobs = [{{"name": "cs_lines", "default": 1}}, {{"name": "locks", "default": 512}}]
    for name, unpinned in (("one-lock", False), ("n-locks", False), ("free", True)):
        print(json.dumps({{"workload": name, "summary": "sum", "lock": True,
            "threads_least": 1, "threads_most": 4096, "unpinned": unpinned,
            "shorthand": "locks" if name == "n-locks" else None, "knobs": knobs}}))
    sys.exit()
given = dict(zip(words[::2], words[1::2]))
if given["--lock"] == "spinlock":
    print("hasp-simulate: deadlock: worker 1 waits for worker 0", file=sys.stderr)
    sys.exit(1)
if given["--lock"] == "clh" and given["--seed"] == "666":
    open(sys.argv[0] + ".hangs", "w").close()
    time.sleep(3600)
text = open(given["--machine"]).read()
assert text.startswith("name ") and "latency load modified" in text
cpus = given["--cpus"]
speed = 9 if cpus == "any" else sum(map(int, cpus.split(","))) + int(given["--seed"])
print(json.dumps({{"machine": "m", "workload": given["--workload"].split(":")[0],
    "lock": given["--lock"], "threads": int(given["--threads"]),
    "seed": int(given["--seed"]), "throughput_mops": speed, "jain_fairness": 1.0,
    "acquire_p50_ns": 10.0, "acquire_p99_ns": 90.0, "handover_ns": None,
    "transfers_local": 50, "transfers_remote": 100, "energy_nj_per_op": 7.0,
    "simulated_ns": 11e6 * (50 if given["--lock"] == "tas" else 1.1),
    "operations": 100}}), flush=True)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "native"
    place.mkdir()
    engine = place / "hasp-simulate"
    engine.write_text(ENGINE.format(python=sys.executable))
    engine.chmod(engine.stat().st_mode | stat.S_IXUSR)
    (place / "hasp-locks").symlink_to(native.program("hasp-locks"))
    return place


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "HASP_NATIVE_DIR": str(folder)}


def simulate(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hasp", "simulate", *options],
        capture_output=True,
        text=True,
        env=environment(folder),
        timeout=50,
    )


def test_ranges_double_or_use_steps() -> None:
    assert parse_counts("1..80") == [1, 2, 4, 8, 16, 32, 64, 80]
    assert parse_counts("1..80:20") == [1, 21, 41, 61, 80]
    assert parse_counts("6,1..4,2") == [1, 2, 4, 6]
    for wrong in ("0", "4..2", "1..x", "1..9:0", "", "5000"):
        with pytest.raises(ValueError):
            parse_counts(wrong)


def test_placements() -> None:
    opteron, niagara = load("opteron-48"), load("niagara-64")
    assert cpus(opteron, 7, "default", 1) == [0, 1, 2, 3, 4, 5, 6]
    assert cpus(opteron, 9, "spread", 1) == [0, 6, 12, 18, 24, 30, 36, 42, 1]
    assert cpus(niagara, 9, "default", 1) == [0, 8, 16, 24, 32, 40, 48, 56, 1]
    drawn = cpus(opteron, 48, "random", 1)
    assert sorted(drawn) == list(range(48))
    assert drawn == cpus(opteron, 48, "random", 1) != cpus(opteron, 48, "random", 2)
    with pytest.raises(HaspError, match="48 CPUs, too few for 49"):
        cpus(opteron, 49, "fill", 1)


def test_records_come_in_order_with_their_keys(folder: Path) -> None:
    done = simulate(
        folder, "--machine", "xeon-80", "--locks", "mcs,ticket", "--threads", "1,2,80",
        "--json",
    )  # fmt: skip
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stderr
    assert [(row["lock"], row["threads"]) for row in records] == [
        (lock, count) for lock in ("ticket", "mcs") for count in (1, 2, 80)
    ]
    assert {row["machine"] for row in records} == {"xeon-80"}
    assert all(row["schema"] == "hasp.simulate/1" for row in records)
    assert records[1]["throughput_mops"] == 0 + 1 + 1


def test_a_run_that_lasts_much_longer_than_asked_has_a_warning(folder: Path) -> None:
    words = ("--machine", "xeon-80", "--locks", "tas,mcs", "--threads", "2")
    done = simulate(folder, *words)
    assert done.returncode == 0
    assert "tas, 2 threads, seed 1: lasted 50 times as long as asked" in done.stderr
    assert "mcs" not in done.stderr
    done = simulate(folder, *words, "--json")
    warnings = {
        row["lock"]: row["warning"] for row in map(json.loads, done.stdout.splitlines())
    }
    assert warnings["mcs"] is None
    assert warnings["tas"].startswith("lasted 50 times as long as asked")


def test_tables_fit_and_show_ranges_over_seeds(folder: Path) -> None:
    done = simulate(
        folder, "--machine", "xeon-80", "--locks", "mcs,mutexee",
        "--threads", "1..80:20",
        "--seeds", "1,2", "--workload", "n-locks:64",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    assert "simulated" in done.stdout
    assert "1.00-2.00" in done.stdout


def test_a_deadlock_is_a_finding_with_details(folder: Path) -> None:
    done = simulate(
        folder, "--machine", "xeon-80", "--locks", "spinlock,mcs", "--threads", "2"
    )
    assert done.returncode == 1
    assert "worker 1 waits for worker 0" in done.stdout
    assert "failed" in done.stdout and "mcs" in done.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--machine", "xeon-80", "--threads", "81"), "too few for 81 threads"),
        (("--machine", "xenon"), "no machine called 'xenon'"),
        ((), "add --machine NAME"),
        (("--machine", "xeon-80", "--workload", "one-luck"), "mean one-lock"),
        (("--machine", "xeon-80", "--workload", "one-lock:3"), "after a colon"),
        (("--machine", "xeon-80", "--locks", "glibc"), "`futex` is the same"),
        (("--machine", "xeon-80", "--locks", "mcz"), "no lock called"),
        (("--machine", "xeon-80", "--knob", "x=1"), "has no knob 'x'"),
        (("--machine", "xeon-80", "--plot", "x.pdf"), "unknown format"),
        (("--machine", "xeon-80", "--threads", "4..1"), "not a range"),
    ],
)
def test_usage_errors_end_with_2(
    folder: Path, options: tuple[str, ...], words: str
) -> None:
    done = simulate(folder, *options)
    assert done.returncode == 2
    assert words in done.stderr


def test_a_broken_machine_file_is_named_with_its_line(
    folder: Path, tmp_path: Path
) -> None:
    text = load("xeon-80").path.read_text()
    broken = tmp_path / "broken.toml"
    broken.write_text(text.replace("llc = 44", "llc = -44"))
    done = simulate(folder, "--machine", str(broken))
    line = text.splitlines().index("llc = 44") + 1
    assert done.returncode == 2
    assert f"{broken}:{line}: local.llc: -44 is negative" in done.stderr


def test_the_scheduler_places_unpinned_threads(folder: Path) -> None:
    done = simulate(
        folder, "--machine", "xeon-80", "--locks", "mcs", "--workload", "free",
        "--threads", "320", "--json",
    )  # fmt: skip
    assert json.loads(done.stdout)["throughput_mops"] == 9, done.stderr


def test_an_interrupt_keeps_finished_results(folder: Path, tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    # With one job at a time, the second one starts when the first has finished.
    words = ["--machine", "xeon-80", "--locks", "mcs,clh", "--threads", "2"]
    words += ["--seeds", "666", "--jobs", "1"]
    with subprocess.Popen(
        [sys.executable, "-m", "hasp", "simulate", *words, "--json", str(results)],
        env=environment(folder),
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        while not (folder / "hasp-simulate.hangs").exists():
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        table, _ = process.communicate(timeout=20)
    assert process.returncode == 130
    assert [json.loads(line)["lock"] for line in results.read_text().splitlines()] == [
        "mcs"
    ]
    assert "mcs" in table


def test_a_figure_says_that_it_is_simulated(folder: Path, tmp_path: Path) -> None:
    figure = tmp_path / "x.svg"
    words = ("--machine", "opteron-48", "--locks", "mcs,clh", "--threads", "1..48")
    done = simulate(folder, *words, "--plot", str(figure))
    assert done.returncode == 0, done.stderr
    text = figure.read_text()
    assert "Simulated, not measured" in text and "clh" in text
