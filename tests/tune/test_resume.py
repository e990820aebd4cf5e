# SPDX-License-Identifier: MIT
"""`hasp tune --resume` continues a race, and neither loses nor confuses runs."""

from __future__ import annotations

import fcntl
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tune.conftest import Tuned

from hasp.base.errors import HaspError
from hasp.tune.store import Claim, settle_timeout

FEW = ("--locks", "mcs-park,spinbit,mutexee,u-scl,futex", "--no-plans")
STORE = "hasp.tune.jsonl"
Tune = Callable[..., Tuned]


def test_a_store_whose_last_line_is_cut_is_resumed_without_that_line(
    tune: Tune, tmp_path: Path
) -> None:
    tune(*FEW, "--runs", "8")
    store = tmp_path / STORE
    whole = store.read_bytes()
    runs = whole.count(b'"kind":"run"')
    store.write_bytes(whole[:-40])
    again = tune(*FEW, "--resume")
    assert again.status == 0, again.errors
    assert f"{runs - 1} of them earlier" in again.text
    assert "its last line is incomplete" in again.errors
    for line in store.read_text().splitlines():
        json.loads(line)


def test_a_damaged_line_of_the_store_is_named_by_its_number(
    tune: Tune, tmp_path: Path
) -> None:
    tune(*FEW, "--runs", "8")
    store = tmp_path / STORE
    lines = store.read_text().splitlines()
    lines[2] = lines[2][:30]
    store.write_text("\n".join(lines) + "\n")
    again = tune(*FEW, "--resume")
    assert again.status == 2
    assert f"{STORE}: line 3 is damaged" in again.errors
    assert "hasp compare" not in again.errors


def test_a_file_that_is_no_store_is_refused_by_the_name_of_tune(
    tune: Tune, tmp_path: Path
) -> None:
    (tmp_path / STORE).write_text('{"kind":"candidate"}\n')
    again = tune(*FEW, "--resume")
    assert again.status == 2
    assert "hasp tune" in again.errors
    assert "hasp compare" not in again.errors


@pytest.mark.slow
def test_a_second_race_keeps_the_runs_of_the_first(tune: Tune, tmp_path: Path) -> None:
    tune(*FEW, "--runs", "8")
    first = (tmp_path / STORE).read_bytes()
    second = tune(*FEW, "--runs", "8")
    assert second.status == 0, second.errors
    assert (tmp_path / f"{STORE}.old").read_bytes() == first
    assert f"kept the earlier race as {STORE}.old" in second.errors
    later = (tmp_path / STORE).read_bytes()
    third = tune(*FEW, "--runs", "8")
    assert f"kept the earlier race as {STORE}.old.2" in third.errors
    assert (tmp_path / f"{STORE}.old").read_bytes() == first
    assert (tmp_path / f"{STORE}.old.2").read_bytes() == later


def test_a_store_that_another_race_writes_is_refused(
    tune: Tune, tmp_path: Path
) -> None:
    store = tmp_path / STORE
    with store.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write("theirs\n")
        file.flush()
        other = tune(*FEW, "--runs", "8")
    assert other.status == 2
    assert f"another `hasp tune` is writing {STORE}" in other.errors
    assert store.read_text() == "theirs\n"


def test_a_refused_race_leaves_no_empty_store(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with pytest.raises(HaspError), Claim(store):
        raise HaspError("no race")
    assert not store.exists()


def test_a_trace_of_another_command_is_refused(
    tune: Tune, tmp_path: Path, program: Path
) -> None:
    tune(*FEW, "--runs", "8")
    other = tune(*FEW, "--trace", "hasp.trace", words=("3",))
    assert other.status == 2
    assert "hasp.trace is a recording of another command" in other.errors
    assert "leave out --trace" in other.errors


@pytest.mark.slow
def test_a_trace_of_this_command_is_used(tune: Tune) -> None:
    tune(*FEW, "--runs", "8")
    again = tune(*FEW, "--runs", "8", "--trace", "hasp.trace")
    assert again.status == 0, again.errors
    assert "recording a run" not in again.errors


@pytest.mark.slow
def test_a_resumed_race_records_anew_if_the_trace_is_of_another_command(
    tune: Tune, tmp_path: Path
) -> None:
    tune(*FEW, "--runs", "8", words=("3",))
    shutil.move(tmp_path / "hasp.trace", tmp_path / "other.trace")
    tune(*FEW, "--runs", "8")
    shutil.move(tmp_path / "other.trace", tmp_path / "hasp.trace")
    again = tune(*FEW, "--runs", "10", "--resume")
    assert again.status == 0, again.errors
    assert "recording a run" in again.errors


@pytest.mark.slow
def test_a_resumed_race_of_a_script_uses_its_recording(
    tune: Tune, tmp_path: Path, program: Path
) -> None:
    """The recorded process is the program, whose command is not the script's."""
    script = tmp_path / "bench"
    script.write_text(f'#!/bin/sh\n{program} "$1"\nexit $?\n')
    script.chmod(0o755)
    first = tune(*FEW, "--runs", "8", command=str(script))
    assert first.status == 0, first.errors
    assert "recording a run" in first.errors
    again = tune(*FEW, "--runs", "10", "--resume", command=str(script))
    assert again.status == 0, again.errors
    assert "recording a run" not in again.errors
    assert "is not used" not in again.errors


def test_changed_locks_are_refused_and_a_changed_seed_is_noted(tune: Tune) -> None:
    tune(*FEW, "--runs", "8", "--seed", "1")
    other = tune("--locks", "mutexee,futex", "--no-plans", "--resume")
    assert other.status == 2
    assert "its --locks differ" in other.errors
    again = tune("--no-plans", "--resume", "--runs", "10", "--seed", "2")
    assert again.status == 0, again.errors
    assert again.result["candidates"] == 6
    assert "--seed 2 orders only the further runs" in again.errors
    assert "--runs 10 includes the " in again.errors


def test_too_few_runs_for_a_resumed_race_are_refused(tune: Tune) -> None:
    tune(*FEW, "--runs", "8")
    again = tune(*FEW, "--runs", "6", "--resume")
    assert again.status == 2
    assert "--runs 6 includes the " in again.errors


@pytest.mark.parametrize(
    ("old", "new", "adapt", "expected"),
    [
        (60.0, 60.0, True, (60.0, True)),
        (2.0, 60.0, True, (2.0, False)),
        (60.0, 3.0, False, (3.0, False)),
    ],
)
def test_the_timeout_of_a_resumed_race(
    old: float, new: float, adapt: bool, expected: tuple[float, bool]
) -> None:
    assert settle_timeout(old, new, adapt=adapt) == expected


@pytest.mark.slow
def test_a_resumed_race_adapts_its_timeout_to_the_earlier_runs(
    tune: Tune, rates: Path
) -> None:
    locks = ("--locks", "ticket,spinbit,futex", "--no-plans")
    tune(*locks, "--runs", "4")
    rates.write_text("spinbit 100\nticket 0\n")
    again = tune(*locks, "--resume", "--runs", "40", "--budget", "50s")
    assert again.status == 0, again.errors
    assert "did not end within 60 s" not in again.text + again.errors
    assert "did not end within 5 s" in again.text + again.errors


def test_a_store_on_stdout_is_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Claim(Path("-")):
        assert not Path("-").exists()
