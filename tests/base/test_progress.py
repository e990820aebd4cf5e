# SPDX-License-Identifier: MIT
"""Progress on stderr is a bar on a terminal, and occasional lines elsewhere."""

from __future__ import annotations

import io
import sys

import pytest

from hasp.base.progress import Display


class Terminal(io.StringIO):
    """A text stream that is a terminal."""

    def isatty(self) -> bool:
        return True


def shown(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return what a display with one line per step writes to `stream` as stderr."""
    monkeypatch.setattr(sys, "stderr", stream)
    with Display(line_interval=0.0) as display:
        display.show("mcs [run 1]", 3, 8, 4.2)
        display.show_time("latency", 1.0, 300.0)
        display.say("clh: hang")
    return stream.getvalue()


def test_lines_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(io.StringIO(), monkeypatch).splitlines() == [
        "hasp: mcs [run 1] (3 of 8 done, about 4 s left)",
        "hasp: latency (about 5 min 00 s left)",
        "hasp: clh: hang",
    ]


def test_lines_on_a_dumb_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    assert "\033" not in shown(Terminal(), monkeypatch)


@pytest.mark.parametrize("colour", [True, False])
def test_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch, colour: bool) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "" if colour else "1")
    text = shown(Terminal(), monkeypatch)
    assert "3 of 8 done, about 4 s left mcs [run 1]" in text
    assert "hasp: clh: hang" in text
    assert ("\033[9" in text) == colour
    assert text.rstrip("\n").endswith("\033[2K")  # the bar is erased at the end
