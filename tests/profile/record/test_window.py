# SPDX-License-Identifier: MIT
"""The part of a run that is recorded."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

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
