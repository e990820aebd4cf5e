# SPDX-License-Identifier: MIT
"""`hasp profile`, `hasp report` and `hasp top` show delegated sections and servers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from library_folder import Installed
from lock_list import ROOT

SOURCE = ROOT / "tests/library/delegated.c"
ALL, SECOND = 3 * 4000, 3 * 1000  # sections of both objects, and of the second one
LATE = 300  # sections after the last one that is timed; more are very improbable


@pytest.fixture(scope="module")
def program(installed: Installed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("delegated")
    return installed.compile(SOURCE, folder / "delegated", "-g")


def hasp(installed: Installed, *words: str | Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "hasp", *words],
        env={**os.environ, "LD_LIBRARY_PATH": str(installed.library)},
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def record(installed: Installed, trace: Path, *command: str | Path) -> dict[str, Any]:
    hasp(installed, "profile", "-o", trace, "--", *command)
    report = trace.with_suffix(".json")
    hasp(installed, "report", trace, "--json", report)
    found: dict[str, Any] = json.loads(report.read_text())
    return found


def test_a_server_and_its_delegates(
    installed: Installed, program: Path, tmp_path: Path
) -> None:
    trace, page = tmp_path / "trace", tmp_path / "page.html"
    hasp(installed, "profile", "-o", trace, "--", program, "rcl", "destroy")
    hasp(installed, "report", trace, "--html", page, "--json", tmp_path / "json")
    report = json.loads((tmp_path / "json").read_text())
    assert "<h2>Delegated sections</h2>" in page.read_text()
    first, second = report["delegates"]
    assert (first["sections"], second["sections"]) == (ALL - SECOND, SECOND)
    assert first["name"].startswith("delegated.c:") and "books" in first["name"]
    assert first["context_bytes"] == first["largest_context_bytes"] == 64
    assert first["executor"] == "rcl"
    times = first["service_ns"]
    assert 0 < times["p50"] <= times["p99"] <= times["max"]
    assert first["wait_ns"]["p50"] > times["p50"]
    (server,) = report["servers"]
    # The last round is not counted before its last section has ended.
    assert ALL - 10 <= server["sections"] <= ALL
    assert server["delegates"] == 2
    assert 0 < server["use_rate"] <= 1
    assert 0 <= server["false_serialisation"] <= 1
    assert server["queue_depth"] == server["sections"] / server["rounds"]
    text = hasp(installed, "report", trace)
    assert "\ndelegated sections\n" in text and "\nservers\n" in text


def test_a_combining_executor_has_a_queue_depth(
    installed: Installed, program: Path, tmp_path: Path
) -> None:
    report = record(installed, tmp_path / "trace", program, "cc-synch", "destroy")
    assert report["servers"] == []
    for delegate in report["delegates"]:
        assert delegate["queue_depth"] >= 1
        assert delegate["longest_hold"] >= delegate["queue_depth"]


def test_a_forked_child_has_its_own_counts(
    installed: Installed, program: Path, tmp_path: Path
) -> None:
    trace = tmp_path / "trace"
    hasp(installed, "profile", "-o", trace, "--", program, "rcl", "fork")
    sums = []
    for path in (trace, next(tmp_path.glob("trace.*"))):
        report = tmp_path / "report.json"
        hasp(installed, "report", path, "--json", report)
        found = json.loads(report.read_text())
        sums.append([one["sections"] for one in found["delegates"]])
        (server,) = found["servers"]
        assert sum(sums[-1]) == pytest.approx(server["sections"], abs=LATE)
    # Neither process destroys its objects.
    assert sums[0] == pytest.approx([ALL - SECOND, SECOND], abs=LATE)
    assert sums[1] == pytest.approx([3500, 1000], abs=LATE)


def test_few_sections_are_all_timed_and_many_at_times(
    installed: Installed, program: Path, tmp_path: Path
) -> None:
    report = record(installed, tmp_path / "trace", program, "cc-synch", "destroy")
    first, second = report["delegates"]
    assert (first["sections"], second["sections"]) == (ALL - SECOND, SECOND)
    wait = first["wait_ns"]
    assert wait["total"] == pytest.approx(wait["mean"] * first["sections"], rel=0.01)
    few = record(installed, tmp_path / "few", program, "lock:futex", "few")
    assert [one["sections"] for one in few["delegates"]] == [90, 30]


def test_top_shows_rates(installed: Installed, program: Path) -> None:
    printed = hasp(installed, "top", "--plain", "1", "--", program, "rcl", "destroy")
    assert "tions/s" in printed and "servers" in printed
