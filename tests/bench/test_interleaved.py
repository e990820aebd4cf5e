# SPDX-License-Identifier: MIT
"""Tests measurements in interleaved rounds, with a program that prints numbers."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hasp.base.errors import HaspError, Interrupted
from hasp.lab.bench import interleaved
from hasp.lab.bench.interleaved import Benchmark, Record, Subject


@dataclass(frozen=True)
class Case:
    name: str


CASES = (Case("small"), Case("large"))
BENCHMARK = Benchmark("tests", "hasp.test/1", "speed", CASES)


def row(subject: str, run: int, speed: float, lock: str = "") -> dict[str, Any]:
    return {
        "schema": "hasp.test/1",
        "case": "small",
        "subject": subject,
        "lock": lock,
        "run": run,
        "speed": speed,
    }


def test_the_ratio_compares_the_same_rounds() -> None:
    records = [row("hasp", run, 10.0 * (run + 1)) for run in range(3)]
    records += [row("peer", run, 5.0 * (run + 1)) for run in range(3)]
    records.append(row("hasp", 0, 20.0, "mcs"))
    found = {one.label: one for one in interleaved.summarise(BENCHMARK, records)}
    assert (found["hasp"].median, found["hasp"].hasp_is) == (20.0, None)
    ratio = found["peer"].hasp_is
    assert ratio is not None
    assert ratio.value == pytest.approx(2.0)
    assert "hasp (mcs)" in found


def command(case: Case, subject: Subject) -> list[str]:
    words = "import sys; print('{\"words\": \"' + ' '.join(sys.argv[1:]) + '\"}')"
    return [sys.executable, "-c", words, case.name]


def test_each_round_has_every_case_and_subject() -> None:
    subjects = [("hasp", ""), ("hasp", "mcs"), ("peer", "")]
    records = list(interleaved.measure(CASES, subjects, 2, command))
    words = {(record["run"], record["words"]) for record in records}
    expected = ("--subject hasp", "--lock mcs --subject hasp", "--subject peer")
    assert len(records) == len(words) == 12
    assert words == {
        (run, f"{case.name} {said}")
        for run in range(2)
        for case in CASES
        for said in expected
    }


def test_a_program_that_fails_is_named() -> None:
    def failing(case: Case, subject: Subject) -> list[str]:
        return [sys.executable, "-c", "import sys; sys.exit('no memory')"]

    with pytest.raises(HaspError, match="peer failed in small: no memory"):
        list(interleaved.measure(CASES[:1], [("peer", "")], 1, failing))


@pytest.fixture
def own_signals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the signal handlers of the process that runs the tests."""
    monkeypatch.setattr(interleaved, "interrupt_on_signals", lambda: None)


def interrupted(*records: Record) -> Iterator[Record]:
    yield from records
    raise Interrupted(signal.SIGINT)


@pytest.mark.usefixtures("own_signals")
def test_an_interruption_keeps_the_results(tmp_path: Path) -> None:
    path, shown = str(tmp_path / "results"), []
    measured = interrupted(row("hasp", 0, 1.0), row("peer", 0, 2.0))
    results = interleaved.Results(shown.extend, path)
    status = interleaved.collect(measured, results)
    assert status == 128 + signal.SIGINT
    lines = Path(path).read_text().splitlines()
    assert [json.loads(line) for line in lines] == shown
    assert len(shown) == 2


@pytest.mark.usefixtures("own_signals")
def test_an_interruption_without_results_ends_the_command(tmp_path: Path) -> None:
    with pytest.raises(Interrupted):
        interleaved.collect(interrupted(), interleaved.Results(list))
