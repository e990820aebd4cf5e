# SPDX-License-Identifier: MIT
"""tools/verdict_corpus.py: resumes, counts, and keeps the set-aside half to itself."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from lock_list import BUILD, ROOT

sys.path.insert(0, str(ROOT / "tools"))

import make_verdict_page
import verdict_corpus
from verdict_corpus import DATA, count, read_data, results
from verdict_real import real_programs

RIGHT = {
    "cause": "blocking-section",
    "lock": "access_log.c:9 &log_mu",
    "remedy": "move-blocking-out",
    "sentence": "access_log.c:9 &log_mu: ...",
    "confidence": "high",
}


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    """The exit status of the tool with these arguments."""
    words = ["verdict_corpus.py", "--build", str(BUILD), *map(str, arguments)]
    monkeypatch.setattr(sys, "argv", words)
    return verdict_corpus.main()


def test_continues_where_it_stopped(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ran: list[str] = []

    def profile(command: list[str]) -> dict[str, Any]:
        if len(ran) == 2:
            ran.clear()
            raise KeyboardInterrupt
        ran.append(command[2])
        return RIGHT

    monkeypatch.setattr(verdict_corpus, "profile", profile)
    data = tmp_path / "data.json"
    arguments = ("--only", "access_log", "--json", data)
    assert run(monkeypatch, *arguments) == 130
    assert sorted(read_data(data)["states"]["after"]["access_log"]) == ["1", "2"]
    assert run(monkeypatch, *arguments) == 0
    assert ran == ["4", "8"]


def test_a_doubtful_verdict_is_measured_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = [{**RIGHT, "confidence": "low"}, RIGHT, RIGHT]
    monkeypatch.setattr(verdict_corpus, "profile", lambda _: found.pop(0))
    data = tmp_path / "data.json"
    options = ("--only", "access_log", "--threads", 4, "--json", data, "--tries", 3)
    assert run(monkeypatch, *options) == 0
    assert len(found) == 1
    kept = read_data(data)["states"]["after"]["access_log"]["4"]
    assert kept["confidence"] == "high"


def test_counts_and_gains(tmp_path: Path) -> None:
    data = {
        "states": {"after": {"access_log": {"4": RIGHT, "8": {**RIGHT, "lock": None}}}},
        "gains": {"access_log": {"4": {"move-blocking-out": 2.0, "pad": 9.0}}},
    }
    counts = count(results(data, "after"))
    # The gains with four threads also judge the verdict with eight.
    assert counts == {"all": 2, "lock": 1, "cause": 2, "remedy": 0}


def test_set_aside_half_is_only_counted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data.json"
    wrong = {**RIGHT, "cause": "herd"}
    states = {"after": {"sms_gateway": {"4": wrong}, "job_queue": {"4": RIGHT}}}
    data.write_text(json.dumps({"states": states, "gains": {}}), encoding="utf-8")
    assert run(monkeypatch, "--half", "both", "--print", "--json", data) == 0
    printed = capsys.readouterr().err
    assert "set-aside: 1 verdicts" in printed
    assert "job_" in printed
    assert "sms_gateway" not in printed


def test_real_programs_run_with_their_own_numbers_of_threads(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ran: list[str] = []

    def profile(command: list[str]) -> dict[str, Any]:
        ran.append(command[-1])
        return {"cause": "not-locks", "lock": None, "remedy": "none"}

    monkeypatch.setattr(verdict_corpus, "profile", profile)
    monkeypatch.setattr(verdict_corpus.verdict_real, "prepare", lambda _: True)
    data = tmp_path / "data.json"
    assert run(monkeypatch, "--half", "real", "--only", "pbzip2", "--json", data) == 0
    program = next(one for one in real_programs() if one.name == "pbzip2")
    assert len(ran) == len(program.threads)
    assert all(
        f"-p{threads} text" in command
        for threads, command in zip(program.threads, ran, strict=True)
    )
    assert count(results(read_data(data), "after"))["cause"] == len(ran)


def test_page_is_that_of_the_data() -> None:
    page = make_verdict_page.PAGE.read_text(encoding="utf-8")
    assert page == make_verdict_page.page(read_data(DATA)), (
        "run tools/make_verdict_page.py"
    )
