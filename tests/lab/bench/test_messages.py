# SPDX-License-Identifier: MIT
"""`hasp bench messages`: every implementation delivers, and the table has them all."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from hasp.base.errors import HaspError
from hasp.cli.main import main
from hasp.lab.bench import interleaved, messages

pytestmark = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="messages need two CPUs"
)


def test_every_pattern_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(interleaved, "interrupt_on_signals", lambda: None)
    monkeypatch.setattr(messages, "MESSAGES", 32)
    path = tmp_path / "runs.jsonl"
    assert messages.measure_messages(messages.Options(runs=1, json=str(path))) == 0
    runs = [json.loads(line) for line in path.read_text().splitlines()]
    measured = {(run["implementation"], run["pattern"]) for run in runs}
    small = ("round-trip", "one-way", "batch")
    assert measured >= {
        *(
            (name, pattern)
            for name in ("hasp", "hasp-park", "one-line", "ssmp")
            for pattern in small
        ),
        *((name, "large") for name in ("hasp", "hasp-park", "hasp-ring")),
    }
    assert all(run["ns"] > 0 for run in runs if run["implementation"] != "line")
    table = capsys.readouterr().out
    assert "modified line" in table
    assert "round-trip" in table
    assert "hasp-ring" in table
    assert messages.measure_messages(messages.Options(source=str(path))) == 0
    assert capsys.readouterr().out == table


def test_other_options_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "messages", "--cases", "x"]) == 2
    assert "--cases is not for `hasp bench messages`" in capsys.readouterr().err


def test_a_file_of_another_benchmark_is_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["bench", "messages", "--from", "/dev/null"]) == 2
    assert "/dev/null has no results of messages" in capsys.readouterr().err


def test_one_cpu_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    with pytest.raises(HaspError, match="two CPUs"):
        messages.measure_messages(messages.Options())
