# SPDX-License-Identifier: MIT
"""The table of the cases has what their pages show."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_table_of_the_cases_agrees_with_their_pages() -> None:
    command = [sys.executable, ROOT / "tools/make_case_table.py", "--check"]
    checked = subprocess.run(command, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
