# SPDX-License-Identifier: MIT
"""Runs the `hasp` command on this terminal for the demonstration."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence

from hasp.base.errors import Interrupted

STOPPING_TIME = 20  # seconds an interrupted command may take to write its results


def hasp(words: Sequence[str], *, silent: bool = False) -> int:
    """Run `hasp WORDS` and return its exit status; `silent` discards its stdout."""
    process = subprocess.Popen(
        [sys.executable, "-m", "hasp", *words],
        stdout=subprocess.DEVNULL if silent else None,
    )
    try:
        return process.wait()
    except Interrupted as interruption:
        _stop(process, interruption)
        raise


def _stop(process: subprocess.Popen[bytes], interruption: Interrupted) -> None:
    """Let an interrupted command write its results, then make sure it ends.

    Ctrl-C reaches the command too, as it is in the same process group; other signals do
    not.
    """
    if interruption.exit_status != 128 + signal.SIGINT:
        process.terminate()
    try:
        process.wait(STOPPING_TIME)
    except subprocess.TimeoutExpired:
        process.terminate()
        process.wait(STOPPING_TIME)
