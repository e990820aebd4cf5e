# SPDX-License-Identifier: MIT
"""`hasp elide -- COMMAND`: emulated transactions are labelled; else it predicts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import wait_until

from hasp.base.errors import Interrupted
from hasp.compare import recorded_run
from hasp.elide import measure
from hasp.elide.configurations import ELIDE
from hasp.elide.measure import _files
from hasp.elide.measured_report import _judged
from hasp.elide.statistics import counts_in
from hasp.locks import native
from hasp.statistics import Ratio


@pytest.fixture
def command() -> list[str]:
    program = str(native.program("hasp-shapes"))
    return [program, "one-lock", "--threads=2", "--seconds=0.02"]


def test_emulated_transactions_are_labelled(
    hasp, command, tmp_path, monkeypatch
) -> None:
    monkeypatch.setenv("HASP_ELISION", "seed:1")
    file = tmp_path / "runs.jsonl"
    words = ("elide", "--runs", "1", "--warmup", "0", "--json", file, "--", *command)
    status, out, _ = hasp(*words)
    assert status == 0
    assert out.startswith("Emulated, so times mean nothing: ")
    assert "nothing can be gained" in " ".join(out.split())
    *_, last = map(json.loads, file.read_text().splitlines())
    assert (last["schema"], last["kind"]) == ("hasp.elide/1", "emulation")
    elided = [one for one in last["configurations"] if one["transactions"]]
    assert len(elided) == 4
    for one in elided:
        counts = one["transactions"]
        assert counts["begins"] == counts["commits"] + sum(counts["aborts"].values())
        assert counts["begins"] > 0
    assert last["locks"]
    for one in last["locks"]:
        assert one["begins"] == one["commits"] + sum(one["aborts"].values())
    status, out, _ = hasp("compare", "--from", file)
    assert status == 0
    assert "elide-nest" in out


def test_a_script_decides_what_becomes_of_the_sections(
    hasp, command, tmp_path, monkeypatch
) -> None:
    script = tmp_path / "script"
    script.write_text("capacity\n")
    monkeypatch.setenv("HASP_ELISION", f"script:{script}")
    status, out, _ = hasp("elide", "--runs", "1", "--warmup", "0", "--", *command)
    assert status == 0
    assert "capacity 100%" in out


def test_without_transactions_the_command_is_recorded_and_predicted(
    hasp, command, tmp_path, monkeypatch
) -> None:
    monkeypatch.setenv("HASP_ELISION", "never")
    words = ("elide", "--threads", "2", "--budget", "1ms", "--", *command)
    status, out, err = hasp(*words)
    assert status == 0
    assert out.startswith("Predicted")
    said = "HASP_ELISION=never turns transactions off, so this is a prediction"
    assert f"{said} from one recorded run" in " ".join(err.split())
    assert (tmp_path / "hasp.trace").exists()


def test_a_program_that_does_not_start_is_an_error(hasp, monkeypatch) -> None:
    monkeypatch.setenv("HASP_ELISION", "seed:1")
    status, _, err = hasp("elide", "--", "/nowhere/program")
    assert status == 2
    assert "/nowhere/program" in err


def test_a_trace_and_a_command_exclude_each_other(hasp, trace) -> None:
    status, _, err = hasp("elide", trace, "--", "true")
    assert status == 2
    assert "name one of them" in err


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (1.1, 1.3, "Elision gains"),
        (0.7, 0.9, "Elision loses"),
        (0.98, 1.02, "Elision changes nothing"),
        (0.9, 1.3, "Cannot tell"),
        (None, None, "Too few runs to tell"),
    ],
)
def test_the_judgement_follows_from_the_interval(low, high, words) -> None:
    assert _judged(Ratio(1.0, low, high, 7)) == words


def test_a_server_that_gave_up_its_rights_can_write_statistics(tmp_path) -> None:
    folder = tmp_path / "made"
    folder.mkdir(0o700)
    (file,) = _files(folder, (ELIDE,)).values()
    assert folder.stat().st_mode & 0o1
    assert file.stat().st_mode & 0o2


def test_a_cut_line_of_statistics_is_ignored(tmp_path) -> None:
    record = {"begins": 3, "commits": 2, "elided": 2, "acquired": 5}
    record["aborts"] = {"conflict": 1, "busy": 0}
    line = json.dumps(record)
    (tmp_path / "file").write_text(f"{line}\n{line}\n{line[:20]}")
    counts = counts_in(tmp_path / "file")
    assert not counts.ended
    assert (counts.begins, counts.commits, counts.share_elided) == (6, 4, 4 / 14)
    assert counts.causes() == "conflict 100%"


def test_the_end_of_one_lock_for_all_is_counted(tmp_path) -> None:
    record = {"begins": 0, "commits": 0, "elided": 0, "acquired": 1, "aborts": {}}
    lines = [json.dumps({**record, "scope": scope}) for scope in ("global", "ended")]
    (tmp_path / "file").write_text("\n".join(lines))
    assert counts_in(tmp_path / "file").ended == 1


def test_an_interruption_shows_the_runs_so_far(command, tmp_path) -> None:
    words = [sys.executable, "-m", "hasp", "elide", "--runs", "1000", "--warmup", "0"]
    file = tmp_path / "runs.jsonl"
    words += ["--json", str(file), "--", *command]
    environment = {**os.environ, "HASP_ELISION": "seed:1"}
    process = subprocess.Popen(
        words, env=environment, stdout=subprocess.PIPE, text=True, cwd=tmp_path
    )
    wait_until(lambda: runs_in(file) >= 8)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Interrupted: these are the runs so far." in out
    assert json.loads(file.read_text().splitlines()[-1])["interrupted"]


def test_an_interruption_of_the_recorded_run_keeps_the_measurements(
    hasp, command, tmp_path, monkeypatch
) -> None:
    def interrupted(*_: object) -> None:
        raise Interrupted(signal.SIGINT)

    monkeypatch.setenv("HASP_ELISION", "seed:1")
    monkeypatch.setattr(measure, "_recorded", interrupted)
    file = tmp_path / "runs.jsonl"
    words = ("elide", "--runs", "1", "--warmup", "0", "--json", file, "--", *command)
    status, out, _ = hasp(*words)
    assert status == 130
    assert out.startswith("Emulated, so times mean nothing: ")
    last = json.loads(file.read_text().splitlines()[-1])
    assert (last["kind"], last["interrupted"]) == ("emulation", True)


@pytest.mark.parametrize(
    ("setting", "kind"), [("seed:1", "emulation"), ("never", "prediction")]
)
def test_an_interruption_of_the_first_run_is_in_the_file(
    hasp, command, tmp_path, monkeypatch, setting: str, kind: str
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise Interrupted(signal.SIGINT)

    monkeypatch.setenv("HASP_ELISION", setting)
    monkeypatch.setattr(measure, "measure", interrupted)
    monkeypatch.setattr(recorded_run, "recorded", interrupted)
    file = tmp_path / "runs.jsonl"
    status, _, _ = hasp("elide", "--json", file, "--", *command)
    assert status == 130
    last = json.loads(file.read_text().splitlines()[-1])
    assert (last["schema"], last["kind"]) == ("hasp.elide/1", kind)
    assert last["interrupted"]


def runs_in(file: Path) -> int:
    return file.read_text().count('"kind":"run"') if file.exists() else 0
