# SPDX-License-Identifier: MIT
"""The part of a run that is recorded."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hasp.profile.record.files import Trace
from hasp.profile.record.window import Times, Window


@pytest.mark.parametrize("commands", ["start\nstop\n", "stop\nstart\nbogus\nstop\n"])
def test_commands_that_arrive_together_are_all_obeyed(
    tmp_path: Path, commands: str
) -> None:
    control = tmp_path / "control"
    os.mkfifo(control)
    window = Window(Times(control=control), list)
    control.write_text(commands)
    window.turn()
    assert window.done


def test_traces_that_cannot_be_copied_are_left_as_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    control, trace = tmp_path / "control", tmp_path / "hasp.trace"
    os.mkfifo(control)
    trace.write_text("the whole run")
    paths = trace, tmp_path / "removed"
    window = Window(
        Times(control=control), lambda: [Trace(path, 1, 1, True) for path in paths]
    )
    control.write_text("start\n")
    window.turn()
    assert window.done
    said = capsys.readouterr().err
    assert "cannot cut a part of the run out of the traces" in said
    assert "No such file" in said
    window.turn()
    window.finish()
    assert trace.read_text() == "the whole run"
    assert not capsys.readouterr().err
