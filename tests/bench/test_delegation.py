# SPDX-License-Identifier: MIT
"""`hasp bench delegation` measures every executor beside locks, and refuses options."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hasp.lab.bench import delegation, interleaved


def test_each_executor_is_measured_beside_glibc(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(interleaved, "interrupt_on_signals", lambda: None)
    monkeypatch.setattr(delegation, "WINDOW_NS", 1_000_000)
    case = delegation.Case("few", 2, 400, 1)
    monkeypatch.setattr(delegation, "cases", lambda cpus: (case,))
    written = tmp_path / "runs.jsonl"
    assert delegation.measure_delegation(delegation.Options(runs=1)) == 0
    table = capsys.readouterr().out
    assert "adaptive" in table and "lock:futex" in table
    assert re.search(r"^adaptive to (glibc|lock:futex), few: \d+\.\d\dx", table, re.M)
    assert re.search(
        r"^flat-combining to flat-combining, published, few: ", table, re.M
    )
    delegation.measure_delegation(delegation.Options(runs=1, json=str(written)))
    rows = [json.loads(line) for line in written.read_text().splitlines()]
    subjects = {row["subject"] for row in rows}
    assert {"glibc", "lock:mcs", "cc-synch", "flat-combining", "rcl"} <= subjects
    # A window of 1 ms may be too short for any section of an executor with servers.
    counted = [row for row in rows if row.get("sections_per_hold", 0) >= 1]
    locks = {"glibc", "lock:futex", "lock:mcs", "lock:mcs-park"}
    locks |= {"cc-synch, published", "flat-combining, published"}
    assert locks <= subjects and not locks & {row["subject"] for row in counted}
    assert all(
        row in counted
        for row in rows
        if row["subject"] not in locks and row["sections_per_second"]
    )
    assert {row["schema"] for row in rows} == {"hasp.delegation/1"}


def test_an_option_of_other_subjects_is_refused() -> None:
    command = [sys.executable, "-m", "hasp", "bench", "delegation", "--locks", "mcs"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert "--locks is not for `hasp bench delegation`" in done.stderr
