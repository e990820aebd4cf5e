# SPDX-License-Identifier: MIT
"""The other program that used most CPU time, from a made-up /proc and in a trace."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from trace_samples import Synthetic

from hasp.profile.model.build import load
from hasp.profile.model.neighbour import Neighbour
from hasp.profile.record import files, neighbours
from hasp.profile.record.neighbours import Neighbours

TICKS = os.sysconf("SC_CLK_TCK")


class Machine:
    """A /proc with the processes that a test adds, and a clock."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.now = 0.0

    def run(self, number: int, name: str, seconds: float, started: int = 1) -> None:
        """Add a process, or set the CPU time that it has used."""
        fields = ["S", *["0"] * 10, f"{round(seconds * TICKS)}", *["0"] * 7]
        (self.folder / str(number)).mkdir(exist_ok=True)
        (self.folder / str(number) / "stat").write_text(
            f"{number} ({name}) {' '.join(fields)} {started} 0 0\n"
        )

    def end(self, number: int) -> None:
        shutil.rmtree(self.folder / str(number))


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine(tmp_path)
    monkeypatch.setattr(neighbours, "PROC", tmp_path)
    monkeypatch.setattr(neighbours.time, "monotonic", lambda: made.now)
    return made


def test_the_processes_of_a_program_count_together(machine: Machine) -> None:
    machine.run(10, "load) (x", 100)
    machine.run(11, "idle", 900)
    before = Neighbours()
    machine.now = 10
    machine.run(10, "load) (x", 104)
    machine.run(12, "load) (x", 4)  # began meanwhile
    machine.run(13, "one", 6)
    assert before.busiest("server") == Neighbour("load) (x", 0.8)


def test_the_recorded_program_and_this_process_are_not_neighbours(
    machine: Machine,
) -> None:
    before = Neighbours()
    machine.now = 10
    machine.run(20, "server", 8)
    machine.run(os.getpid(), "hasp", 8)
    machine.run(21, "other", 1)
    assert before.busiest("server") == Neighbour("other", 0.1)


def test_a_recorded_process_with_another_name_is_not_a_neighbour(
    machine: Machine,
) -> None:
    before = Neighbours()
    machine.now = 10
    machine.run(22, "server", 8)
    machine.run(23, "other", 1)
    assert before.busiest("sh", {22}) == Neighbour("other", 0.1)


def test_time_before_the_recording_does_not_count_if_processes_were_too_many(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neighbours, "MOST_PROCESSES", 1)
    machine.run(24, "old", 900)
    machine.run(25, "brief", 0)
    before = Neighbours()
    machine.end(25)
    machine.now = 10
    assert before.busiest("server") is None


def test_a_reused_process_number_is_another_process(machine: Machine) -> None:
    machine.run(30, "old", 50)
    before = Neighbours()
    machine.now = 10
    machine.end(30)
    machine.run(30, "new", 5, started=2)
    assert before.busiest("server") == Neighbour("new", 0.5)


def test_a_program_that_ended_first_counts_up_to_the_last_look(
    machine: Machine,
) -> None:
    before = Neighbours()
    machine.now = 8
    machine.run(50, "load", 6)
    before.look()
    machine.now = 10
    machine.end(50)
    assert before.busiest("server") == Neighbour("load", 0.6)


def test_little_cpu_time_does_not_matter(machine: Machine) -> None:
    before = Neighbours()
    machine.now = 100
    machine.run(40, "daemon", 1)
    assert before.busiest("server") is None


def test_the_trace_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "hasp.trace"
    Synthetic().write(path)
    assert load(path).neighbour is None
    head = files.head(path)
    assert head is not None
    files.tell_neighbour(head, "a-name-of-sixteen-bytes", 1.256)
    assert load(path).neighbour == Neighbour("a-name-of-sixtee", 1.26)
