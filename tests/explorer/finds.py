# SPDX-License-Identifier: MIT
"""Runs the model checker on code with a seeded bug, and fails unless it reports one.

usage: finds.py CHECKER OPTION...
"""

from __future__ import annotations

import subprocess
import sys

FOUND = 1  # the checker's exit status; wrong usage and a crash have others

if __name__ == "__main__":
    status = subprocess.run(sys.argv[1:], check=False).returncode
    sys.exit(None if status == FOUND else f"finds.py: exit status {status}, not 1")
