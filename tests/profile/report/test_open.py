# SPDX-License-Identifier: MIT
"""`hasp report --open` opens the page, where there is a browser."""

from __future__ import annotations

import stat

import pytest
from waiting import wait_until

ABSENT = ("SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY", "DISPLAY", "WAYLAND_DISPLAY")


@pytest.fixture
def desktop(monkeypatch, tmp_path):
    """A browser that writes its arguments to a file, and nothing else."""
    for name in (*ABSENT, "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("browser", "xdg-open"):
        script = folder / name
        script.write_text(
            f'#!/bin/sh\necho {name} "$@" > {tmp_path}/part\n'
            f"/bin/mv {tmp_path}/part {tmp_path}/opened\n"
        )
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(folder))
    return monkeypatch


def opened(tmp_path) -> str:
    path = tmp_path / "opened"
    wait_until(path.exists)
    return path.read_text().strip()


def test_the_browser_of_the_environment_is_first(desktop, report, tmp_path):
    desktop.setenv("BROWSER", "absent:browser --new %s")
    desktop.setenv("DISPLAY", ":0")
    status, out, err = report("hot_lock", "--open")
    assert (status, out) == (0, "")
    page = tmp_path / "hasp.trace.html"
    assert opened(tmp_path) == f"browser --new {page}"
    assert page.read_text().startswith("<!")
    assert "opened in the browser" in err


def test_otherwise_that_of_the_desktop(desktop, report, tmp_path):
    desktop.setenv("WAYLAND_DISPLAY", "wayland-0")
    page = tmp_path / "locks.html"
    assert report("hot_lock", "--html", page, "--open")[0] == 0
    assert opened(tmp_path) == f"xdg-open {page}"


@pytest.mark.parametrize(
    "environment",
    [{}, {"DISPLAY": ":0", "SSH_CONNECTION": "1"}, {"BROWSER": "b", "SSH_TTY": "x"}],
)
def test_without_a_browser_the_page_is_named(desktop, report, tmp_path, environment):
    for name, value in environment.items():
        desktop.setenv(name, value)
    status, _, err = report("hot_lock", "--open")
    assert status == 0
    assert f"{tmp_path}/hasp.trace.html is the page" in err
    assert not (tmp_path / "opened").exists()


def test_a_page_on_standard_output_cannot_be_opened(desktop, report):
    status, out, err = report("hot_lock", "--html", "-", "--open")
    assert status == 2
    assert not out
    assert "--open needs a page in a file" in err
