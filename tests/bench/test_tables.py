# SPDX-License-Identifier: MIT
"""`hasp bench hash-table`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest


def bench(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hasp", "bench", "hash-table", *words]
    return subprocess.run(command, capture_output=True, text=True)


def test_it_measures_and_shows_again(tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    words = ("--cases", "read", "--runs", "1", "--locks", "ticket")
    done = bench(*words, "--json", str(results))
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in results.read_text().splitlines()]
    assert {"hasp", "hasp-insert", "clht"} <= {record["subject"] for record in records}
    ways = {record["lock"] for record in records}
    assert ways == {"", "ticket", "servers=1", "all-by=1"}
    # On a busy machine, the server may not run at all.
    assert all(r["mops"] > 0 for r in records if "=" not in r["lock"])
    again = bench("--from", str(results))
    assert again.stdout == done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--cases", "none"), "there is no case none of hash tables"),
        (("--plot", "x.txt"), "use a name that ends in .png or .svg"),
        (("--from", "/dev/null"), "/dev/null has no results of hash tables"),
        (("--locks", "no-such"), "no-such"),
    ],
)
def test_bad_input_is_refused(words: tuple[str, ...], said: str) -> None:
    done = bench(*words)
    assert done.returncode == 2
    assert said in done.stderr
