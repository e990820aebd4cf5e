# SPDX-License-Identifier: MIT
"""`hasp bench transactions`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hasp.lab.bench.transactions import CASES, CAUSES, summarise_aborts


def row(subject: str, run: int, mtps: float, **more: Any) -> dict[str, Any]:
    return {
        "schema": "hasp.transaction/1",
        "case": CASES[0].name,
        "subject": subject,
        "lock": "",
        "run": run,
        "mtps": mtps,
        **more,
    }


def bench(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hasp", "bench", "transactions", *words]
    return subprocess.run(command, capture_output=True, text=True)


def test_aborts_are_for_each_thousand_transactions() -> None:
    aborts = dict.fromkeys(CAUSES, 0)
    first = row(
        "hasp",
        0,
        1.0,
        transactions=3000,
        aborts={**aborts, "closed": 6},
        alone=3,
        most_retries=2,
    )
    second = {**first, "transactions": 1000, "aborts": aborts, "most_retries": 5}
    ((case, counts, most),) = summarise_aborts([first, second, row("lock", 0, 1.0)])
    assert (case, most) == (CASES[0].name, 5)
    assert counts == [0.0, 0.0, 0.0, 0.0, 1.5, 1.5]


def test_it_measures_and_shows_again(tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    words = ("--cases", "bank-read-all,list", "--runs", "1", "--locks", "ticket")
    done = bench(*words, "--json", str(results))
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in results.read_text().splitlines()]
    assert {"hasp", "lock"} <= {record["subject"] for record in records}
    assert all(record["right"] for record in records)
    # On a busy machine, the server may not run at all.
    assert all(r["mtps"] > 0 for r in records if "=" not in r["lock"])
    over_messages = {"fair=1", "none=1", "services=1"}
    assert over_messages < {record["lock"] for record in records}
    assert "lock (ticket)" in done.stdout
    assert "for each thousand of Hasp's transactions" in done.stdout
    again = bench("--from", str(results))
    assert again.stdout == done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--cases", "none"), "there is no case none of transactions"),
        (("--plot", "x.txt"), "use a name that ends in .png or .svg"),
        (("--from", "/dev/null"), "/dev/null has no results of transactions"),
    ],
)
def test_bad_input_is_refused(words: tuple[str, ...], said: str) -> None:
    done = bench(*words)
    assert done.returncode == 2
    assert said in done.stderr
