# SPDX-License-Identifier: MIT
"""What Ctrl-C leaves of a comparison."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from hasp.study.store import load

from .conftest import RUN_HASP
from .test_compare import alive


def interrupted(environment, folder, program, number, *words):
    """A comparison that is interrupted in its fourth run."""
    process = subprocess.Popen(
        [
            *(
                sys.executable,
                "-c",
                RUN_HASP,
                "compare",
                "--locks",
                "mcs",
                "--runs",
                "9",
            ),
            *("--warmup", "0", "--json", "out.jsonl", *words, "--", str(program)),
        ],
        env=environment,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 40
    while not (folder / "hanging").exists():
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.02)
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
    assert "interrupted: this is what was measured" in output
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
