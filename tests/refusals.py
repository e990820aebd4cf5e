# SPDX-License-Identifier: MIT
"""What every native program of ours does with arguments that it cannot use."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence


def assert_refuses(program: str, arguments: Sequence[str], words: str) -> None:
    """It ends at once with 2, says why on stderr, and prints nothing else."""
    completed = subprocess.run(
        [program, *arguments], capture_output=True, text=True, timeout=20
    )
    assert completed.returncode == 2
    assert words in completed.stderr
    assert completed.stdout == ""
