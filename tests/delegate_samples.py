# SPDX-License-Identifier: MIT
"""C programs with a compile database, to be rewritten by `hasp delegate`."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

from hasp.cli.main import main
from hasp.locks.library import settings

SITE = "db.c:5"
WARNINGS = ("-D_GNU_SOURCE", "-Wall", "-Wextra")
PROLOGUE = """\
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static long count;
"""


def write_database(folder: Path, *names: str, options: str = "") -> None:
    """Write the files' compile database, as a build with gcc would."""
    entries = [
        {
            "directory": str(folder),
            "file": name,
            "arguments": ["gcc", *WARNINGS, *options.split(), "-c", name],
        }
        for name in names
    ]
    (folder / "compile_commands.json").write_text(json.dumps(entries))


def write_program(folder: Path, **files: str) -> None:
    """Write files NAME.c, with the prologue if they do not include anything."""
    for name, text in files.items():
        whole = text if "#include" in text else PROLOGUE + text
        (folder / f"{name}.c").write_text(whole)
    write_database(folder, *(f"{name}.c" for name in files))


def delegate(
    folder: Path, *options: str, lock: str = SITE, compiles: bool = False
) -> int:
    """Run `hasp delegate` on the program in a folder; return the exit status.

    Only a few tests compile before and after, which takes most of the time.
    """
    words = ["delegate", "--lock", lock, "-p", str(folder), *options]
    return main(words if compiles else [*words, "--no-compile"])


def compile_and_run(source: Path, *flags: str) -> str:
    """Return what a program prints; it may use hasp/delegate.h."""
    known = settings()
    program = source.with_suffix("")
    words = ["gcc", "-O0", "-w", "-fwrapv", *flags, *shlex.split(known["cflags"])]
    words += [str(source), "-o", str(program), *shlex.split(known["libs"])]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    ran = subprocess.run([program], capture_output=True, text=True, timeout=50)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout
