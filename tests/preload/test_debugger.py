# SPDX-License-Identifier: MIT
"""gdb shows interposed mutexes and condvars with the C library's pretty printers."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from preload import matrix
from preload.matrix import Lock

PRINTERS = "libc.so.6-gdb.py"

VARIABLES = (
    "free_mutex",
    "held_mutex",
    "contended_mutex",
    "recursive_mutex",
    "errorcheck_mutex",
    "wait_mutex",
    "free_cond",
    "waited_cond",
)


def find_printers() -> Path:
    found = sorted(Path("/usr/share/gdb/auto-load").rglob(PRINTERS))
    if not found:
        pytest.skip("the C library's pretty printers are not installed")
    return found[0]


def print_all(lock: Lock) -> tuple[str, dict[str, str]]:
    """Stop the target in gdb, and return its thread id and the printed variables."""
    env = matrix.environment(lock)
    preload = env.pop("LD_PRELOAD", None)
    commands = ["set pagination off", "set width 0", f"source {find_printers()}"]
    if preload:
        # Only the program may run under Hasp, not the debugger.
        commands.append(f"set environment LD_PRELOAD {preload}")
    commands += ["break all_set", "run stop", 'printf "own_id = %d\\n", own_id']
    for name in VARIABLES:
        commands.append(f'printf "{name} = "')
        commands.append(f"output {name}")
        commands.append('printf "\\n"')
    commands.append("kill")
    words = ["gdb", "-batch", "-nx", "-iex", "set auto-load no"]
    for command in commands:
        words += ["-ex", command]
    words.append(str(matrix.PROGRAMS / "gdb_target"))
    result = subprocess.run(
        words,
        env=env,
        capture_output=True,
        text=True,
        timeout=50,
        stdin=subprocess.DEVNULL,
    )
    own_id = re.search(r"^own_id = (\d+)", result.stdout, re.MULTILINE)
    assert own_id is not None, result.stdout + result.stderr
    shown = {}
    for name in VARIABLES:
        match = re.search(
            rf"^{name} = (.*?)(?=^\w+ = |\Z)", result.stdout, re.MULTILINE | re.DOTALL
        )
        assert match is not None, result.stdout
        shown[name] = match.group(1)
    return own_id.group(1), shown


@pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed")
@pytest.mark.parametrize("lock", matrix.lock_parameters())
def test_pretty_printers(lock: Lock) -> None:
    own_id, shown = print_all(lock)

    for name in ("free_mutex", "wait_mutex"):
        assert "Not acquired" in shown[name], shown[name]
    for name in (
        "held_mutex",
        "contended_mutex",
        "recursive_mutex",
        "errorcheck_mutex",
    ):
        assert "Acquired" in shown[name], shown[name]
        assert f"Owner ID = {own_id}" in shown[name], shown[name]
    assert "Type = Recursive" in shown["recursive_mutex"]
    assert "Times acquired by the owner = 3" in shown["recursive_mutex"]
    assert "Type = Error check" in shown["errorcheck_mutex"]
    for name in ("free_mutex", "held_mutex", "contended_mutex", "wait_mutex"):
        assert "Type = Normal" in shown[name], shown[name]

    assert "Threads known to still execute a wait function = 0" in shown["free_cond"]
    assert "Threads known to still execute a wait function = 3" in shown["waited_cond"]
