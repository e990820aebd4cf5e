# SPDX-License-Identifier: MIT
"""Tests comparisons that are interrupted or killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from waiting import wait_until

from hasp.compare.store import load

from .conftest import RUN_HASP
from .test_compare import alive


def started(environment, folder, program, errors=subprocess.PIPE):
    """Start a comparison; return it once its program has created `hanging`."""
    options = ("--locks", "mcs", "--runs", "9", "--warmup", "0", "--json", "out.jsonl")
    process = subprocess.Popen(
        [sys.executable, "-c", RUN_HASP, "compare", *options, "--", str(program)],
        env=environment,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
    )
    deadline = time.monotonic() + 40
    while not (folder / "hanging").exists():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return process


def interrupted(environment, folder, program, number):
    """Send a signal to a comparison, and return its exit status and output."""
    process = started(environment, folder, program)
    process.send_signal(number)
    output, errors = process.communicate(timeout=30)
    return process.returncode, output, errors


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_leaves_what_was_measured(
    environment, script, tmp_path, number
):
    stay = f"74.{os.getpid()}{number:02}"
    place = tmp_path / "temporary"
    place.mkdir()
    program = script(
        f"echo x >> count; [ $(wc -l < count) -lt 4 ] && exit\n"
        f"touch hanging; setsid sleep {stay} & sleep {stay}"
    )
    environment = {**environment, "TMPDIR": str(place)}
    status, output, errors = interrupted(environment, tmp_path, program, number)
    assert status == 128 + number
    assert "Traceback" not in errors
    assert "interrupted: these are the runs until then" in output
    assert "glibc" in output
    assert alive(stay) == []
    assert list(place.iterdir()) == []
    study = load(tmp_path / "out.jsonl")
    assert len(study.runs) == 3
    assert study.interrupted


def test_an_interruption_before_the_first_result(environment, script, tmp_path):
    stay = f"73.{os.getpid()}"
    program = script(f"touch hanging; sleep {stay}")
    status, output, errors = interrupted(environment, tmp_path, program, signal.SIGINT)
    assert (status, output) == (130, "")
    assert "Traceback" not in errors
    assert alive(stay) == []


def test_a_killed_comparison_with_a_slow_program_leaves_no_folder(
    environment, script, tmp_path
):
    place = tmp_path / "temporary"
    place.mkdir()
    program = script("touch hanging; until [ -e goon ]; do sleep 0.05; done")
    environment = {**environment, "TMPDIR": str(place)}
    # The program's helper keeps stderr open, so a pipe would not end with the command.
    process = started(environment, tmp_path, program, errors=subprocess.DEVNULL)
    assert len(list(place.iterdir())) == 1
    process.kill()
    process.communicate(timeout=30)
    (tmp_path / "goon").touch()
    wait_until(lambda: not list(place.iterdir()))
