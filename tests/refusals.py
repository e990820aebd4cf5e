# SPDX-License-Identifier: MIT
"""Checks how Hasp's native programs reject arguments that they cannot use."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence


def assert_refuses(program: str, arguments: Sequence[str], words: str) -> None:
    """Assert that the program exits with 2 and prints only a reason, on stderr."""
    completed = subprocess.run(
        [program, *arguments], capture_output=True, text=True, timeout=20
    )
    assert completed.returncode == 2
    assert words in completed.stderr
    assert completed.stdout == ""
