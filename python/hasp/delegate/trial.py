# SPDX-License-Identifier: MIT
"""Running the program's own tests with the rewritten source, in a copy of it.

A section may be executed by its own thread, by any thread that waits, by the server
that executes all others, too, or by a server of its own. The tests run in each way.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from hasp.base.errors import HaspError
from hasp.base.progress import Display
from hasp.locks.library import settings

ORIGINAL = "unchanged"
OWN_THREAD = "lock:futex"  # executes each section on its own thread, under a lock
ONE_SERVER = "rcl"  # the server of all delegated locks of the program
OTHER_SERVER = "rcl:1"  # a second one: sections that nest go from server to server
LEFT_OUT = (".git", ".hg", ".svn")
LINES = 12  # of the output of a failure


@dataclass(frozen=True)
class Trial:
    """One run of the tests."""

    executor: str  # or ORIGINAL
    status: int
    seconds: float
    output: str


def try_executors(
    command: str,
    root: Path,
    executors: list[str],
    contents_for: Callable[[str], Mapping[Path, bytes]],
) -> list[Trial]:
    """Run a shell command in copies of `root`: unchanged, then with each executor.

    Stops after the first failure. Raises HaspError if the unchanged program fails.
    """
    trials: list[Trial] = []
    with (
        tempfile.TemporaryDirectory(prefix="hasp-delegate-") as name,
        Display() as show,
    ):
        for number, executor in enumerate([ORIGINAL, *executors]):
            show.show_words(f"running {command} with {executor}")
            copy = Path(name, str(number))
            shutil.copytree(
                root, copy, symlinks=True, ignore=shutil.ignore_patterns(*LEFT_OUT)
            )
            contents = {} if executor == ORIGINAL else contents_for(executor)
            for path, content in contents.items():
                target = copy / path.relative_to(root)
                target.write_bytes(content)
                os.utime(target)
            trials.append(_run(command, copy, executor))
            shutil.rmtree(copy, ignore_errors=True)
            if trials[-1].status:
                break
    if trials[0].status:
        raise HaspError(
            f"`{command}` fails with the unchanged source, in a copy of {root}: exit "
            f"status {trials[0].status}\n{trials[0].output}".rstrip(),
            "give a command that builds and tests the program in a fresh copy",
        )
    return trials


def _run(command: str, folder: Path, executor: str) -> Trial:
    known = settings()
    paths = [known["pkg-config-dir"], os.environ.get("PKG_CONFIG_PATH", "")]
    environment = {
        **os.environ,
        "PKG_CONFIG_PATH": ":".join(filter(None, paths)),
        "HASP_CFLAGS": known["cflags"],
        "HASP_LIBS": known["libs"],
        "HASP_EXECUTOR": executor,
    }
    begun = time.monotonic()
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    lines = done.stdout.strip().splitlines()[-LINES:]
    return Trial(
        executor,
        done.returncode,
        time.monotonic() - begun,
        "\n".join(f"  {line}" for line in lines),
    )
