# SPDX-License-Identifier: MIT
"""The `hasp` command, run by the demonstration on this terminal."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence

from hasp.base.errors import Interrupted

STOPPING_TIME = 20  # seconds that an interrupted command gets to write its results


def hasp(words: Sequence[str], *, silent: bool = False) -> int:
    """Run `hasp WORDS`, and return its exit status; `silent`: without its stdout."""
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
    """Let an interrupted command write its results, then see that it has ended.

    Ctrl-C reaches it, too, being in the same process group; other signals do not.
    """
    if interruption.exit_status != 128 + signal.SIGINT:
        process.terminate()
    try:
        process.wait(STOPPING_TIME)
    except subprocess.TimeoutExpired:
        process.terminate()
        process.wait(STOPPING_TIME)
