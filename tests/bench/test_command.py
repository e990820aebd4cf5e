# SPDX-License-Identifier: MIT
"""Tests the command `hasp bench locks`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Hasp = Callable[..., "subprocess.CompletedProcess[str]"]

LOCK_CASES = (
    ("uncontended", 2),
    ("uncontended", 1),
    ("contended", 2),
    ("oversubscribed", None),
    ("trylock", 2),
    ("try_first", 2),
    ("trylock_hammer", 2),
    ("condvar_ping_pong", 2),
    ("broadcast_queue", 4),
    ("bytes_per_mutex", 2),
    ("create_destroy", 2),
    ("create_destroy", 1),
    ("startup", 1),
)
WITH_FLOOR = {
    *("uncontended", "contended", "oversubscribed"),
    *("trylock", "try_first", "trylock_hammer", "create_destroy"),
}
OVERSUBSCRIBED_CASES = ("oversubscribed", "baton_ring")


def rows_of(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.slow
@pytest.mark.timeout(220)
def test_every_case_has_a_row_for_every_lock(hasp: Hasp) -> None:
    words = ("bench", "locks", "--runs=2", "--locks=futex,mcs-park", "--json")
    completed = hasp(*words, timeout=200)
    assert completed.returncode == 0, completed.stderr
    rows = rows_of(completed.stdout)
    for case, threads in LOCK_CASES:
        subjects = ["glibc", "mcs-park", "futex"]
        subjects += ["floor"] if case in WITH_FLOOR else []
        for lock in subjects:
            found = [
                row
                for row in rows
                if (row["case"], row["lock"]) == (case, lock)
                and threads in (None, row["threads"])
            ]
            assert len(found) == (2 if case in OVERSUBSCRIBED_CASES else 1)
            for row in found:
                check_row(row)
    rings = {row["threads"]: row for row in rows if row["case"] == "baton_ring"}
    assert len(rings) == 2
    assert all(ring["value"] > 0 for ring in rings.values())
    parking = [
        row
        for row in rows
        if (row["case"], row["lock"]) == ("oversubscribed", "mcs-park")
    ]
    assert {row["threads"] for row in parking} == rings.keys()
    for row in parking:
        assert row["ratio_to_baton"] > 0
        assert row["starvation_ms"] > 0


def check_row(row: dict[str, Any]) -> None:
    assert row["schema"] == "hasp.bench.locks/1"
    # On a busy machine, locks may collapse, but none may hang.
    assert row["outcome"] in ("ok", "collapse"), row
    assert row["value"] > 0
    assert row["unit"]
    assert row["better"] in ("lower", "higher")
    assert row["runs"] == len(row["samples"]) == 2
    assert row["ratio_low"] <= row["ratio_to_glibc"] <= row["ratio_high"]
    assert row["command"].startswith("hasp bench locks --runs=2")


@pytest.mark.slow
def test_quick_measures_every_case(hasp: Hasp) -> None:
    completed = hasp("bench", "locks", "--quick", "--locks=mcs,futex", "--json")
    assert completed.returncode == 0, completed.stderr
    assert len(rows_of(completed.stdout)) >= 2 * len(LOCK_CASES)


def test_the_table_fits_80_columns(hasp: Hasp, tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    completed = hasp(
        "bench",
        "locks",
        "--runs=1",
        "--locks=malthusian-park",
        "--cases=oversubscribed,startup",
        "--check-targets",
        "--json",
        results,
    )
    assert completed.returncode in (0, 1), completed.stderr
    lines = completed.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert "oversubscribed" in completed.stdout
    assert "malthusian-park" in completed.stdout
    assert any(line.startswith("targets: ") for line in lines)
    assert {row["case"] for row in rows_of(results.read_text())} == {
        "oversubscribed",
        "startup",
        "baton_ring",
    }


@pytest.fixture
def hanging_native_dir(build_dir: Path, tmp_path: Path) -> Path:
    """Return a folder of native programs whose libhasp.so hangs when locking."""
    for name in ("hasp-locks", "hasp-bench-locks", "hasp-calibrate"):
        (tmp_path / name).symlink_to(next(build_dir.rglob(name)))
    (tmp_path / "libhasp.so").symlink_to(next(build_dir.rglob("hanging-lock.so")))
    return tmp_path


def test_a_lock_that_hangs_is_a_row(hasp: Hasp, hanging_native_dir: Path) -> None:
    completed = hasp(
        "bench",
        "locks",
        "--runs=1",
        "--locks=mcs",
        "--cases=contended,uncontended,condvar_ping_pong",
        "--json",
        env={**os.environ, "HASP_NATIVE_DIR": str(hanging_native_dir)},
    )
    assert completed.returncode == 0, completed.stderr
    rows = [row for row in rows_of(completed.stdout) if row["lock"] == "mcs"]
    assert len(rows) == 4
    for row in rows:
        assert row["outcome"] == "hang"
        assert row["reason"]
        assert not row["value"]
    others = [row for row in rows_of(completed.stdout) if row["lock"] != "mcs"]
    assert all(row["outcome"] == "ok" for row in others)


def test_a_missed_target_is_a_finding(hasp: Hasp, hanging_native_dir: Path) -> None:
    completed = hasp(
        "bench",
        "locks",
        "--runs=1",
        "--locks=mcs",
        "--cases=create_destroy",
        "--check-targets",
        env={**os.environ, "HASP_NATIVE_DIR": str(hanging_native_dir)},
    )
    assert completed.returncode == 1, completed.stderr
    assert "missed: mcs, create_destroy" in completed.stdout


@pytest.mark.slow
def test_earlier_results_can_be_shown_with_a_figure(hasp: Hasp, tmp_path: Path) -> None:
    results, picture = tmp_path / "rows.jsonl", tmp_path / "locks.svg"
    options = ["--runs=2", "--locks=ttas,futex", "--cases=contended"]
    assert hasp("bench", "locks", *options, "--json", results).returncode == 0
    again = hasp("bench", "locks", "--from", results, "--plot", picture)
    assert again.returncode == 0, again.stderr
    assert "contended, 2 threads" in again.stdout
    drawn = picture.read_text()
    for words in (">ttas<", ">futex<", ">floor<", ">competitive:<"):
        assert words in drawn
    fewer = hasp("bench", "locks", "--from", results, "--locks=ttas")
    assert "ttas" in fewer.stdout and "futex" not in fewer.stdout


def test_the_estimate_comes_first(hasp: Hasp) -> None:
    completed = hasp(
        "bench", "locks", "--runs=1", "--locks=ttas", "--cases=uncontended", "--json"
    )
    first = completed.stderr.splitlines()[0]
    assert "2 locks in 2 cases, at most 1 round: about" in first


def test_interruption_keeps_what_was_measured() -> None:
    command = [sys.executable, "-m", "hasp", "bench", "locks", "--json"]
    command += ["--runs=1000", "--locks=futex", "--cases=uncontended"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    # Each run is a child process, so all but the last of those seen have ended.
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    seen: set[str] = set()
    while len(seen) < 12:
        seen.update(children.read_text().split())
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    output, complaints = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "interrupted" in complaints
    assert any(row["lock"] == "futex" for row in rows_of(output))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["locks", "--locks", "mcz"], "did you mean mcs"),
        (["locks", "--cases", "contendet"], "did you mean contended"),
        (["locks", "--runs", "0"], "--runs"),
        (["locks", "--plot", "locks.txt"], ".png or .svg"),
        (["locks", "--from", "no-such-file"], "cannot be read"),
        (["locks", "--from", __file__], "was not written by"),
        (["lokcs"], "locks"),
        ([], "locks"),
    ],
)
def test_wrong_arguments_are_refused(
    hasp: Hasp, arguments: list[str], words: str
) -> None:
    completed = hasp("bench", *arguments)
    assert completed.returncode == 2
    assert words in completed.stderr
