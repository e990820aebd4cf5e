# SPDX-License-Identifier: MIT
"""A stand-in for the native parts, with which tests exercise the command line alone.

Its library interposes nothing, but reports that it was loaded. Its lock list is fixed.
Other tests check how programs behave under the real locks.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import warm_hasp
from lock_list import ROOT

RUN_HASP = "import sys; from hasp.cli.main import main; sys.exit(main())"

LIBRARY = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char hasp_version[] = "stand-in";

/* A line per program that loads it, so that tests see who did. */
__attribute__((constructor)) static void tell(void) {
    const char *log = getenv("STAND_IN_LOG"), *lock = getenv("HASP_LOCK");
    FILE *file = log ? fopen(log, "a") : 0;
    if (file) {
        extern char *program_invocation_short_name;
        fprintf(file, "%s %s\n", program_invocation_short_name, lock ? lock : "-");
        fclose(file);
    }
}
"""

# Records nothing. If STAND_IN_TRACE is set, it writes the header of a trace where the
# recorder would. Most tests do not set it, because reading the trace takes time.
RECORDER = r"""
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profiler/trace.h"

static struct trace_header *header;

__attribute__((constructor)) static void begin(void) {
    extern char *program_invocation_short_name;
    const char *path = getenv("HASP_TRACE");
    char name[4096];
    int file = -1;
    if (!path || !getenv("STAND_IN_TRACE"))
        return;
    snprintf(name, sizeof name, "%s", path);
    for (int n = 2; (file = open(name, O_RDWR | O_CREAT | O_EXCL, 0666)) < 0; n++)
        snprintf(name, sizeof name, "%s.%d", path, n);
    if (ftruncate(file, TRACE_CHUNK) == 0)
        header = mmap(0, TRACE_CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    header->version = TRACE_VERSION;
    header->byte_order = 0x01020304;
    header->chunk_bytes = TRACE_CHUNK;
    header->chunks = 1;
    header->session = strtoull(getenv("HASP_TRACE_SESSION"), 0, 16);
    header->pid = (uint32_t)getpid();
    header->mode = TRACE_FULL;
    header->begin.monotonic_ns = 1;
    header->latest.monotonic_ns = header->latest.ticks = 1000000001;
    strcpy(header->lock, getenv("HASP_TRACE_LOCK"));
    strcpy(header->command, program_invocation_short_name);
    memcpy(header->magic, TRACE_MAGIC, sizeof TRACE_MAGIC);
    close(file);
}

__attribute__((destructor)) static void end(void) {
    if (header)
        header->ended = TRACE_EXITED;
}
"""

# The columns are name, waiting, fifo, parks, bypasses, alias.
Lock = tuple[str, str, bool, bool, bool, str]

LOCKS = (
    ("glibc", "park", False, True, True, "pthread"),
    ("ttas", "spin", False, False, True, "ttas"),
    ("ticket", "spin", True, False, False, "ticket"),
    ("mcs", "spin", True, False, False, "mcs_spin"),
    ("mcs-park", "spin-then-park", True, True, False, "mcs_stp"),
    ("futex", "park", False, True, True, ""),
)
RWLOCKS = (
    ("glibc", "park", False, True, True, "pthread"),
    ("rw-spin", "spin", False, False, True, ""),
    ("rw-fair", "spin-then-park", True, True, False, ""),
    ("ticket", "spin", True, False, False, ""),  # as a mutex is called
)
WRAPPED_RWLOCKS = (
    ("bravo+rw-fair", "spin-then-park", False, True, True, ""),
    ("mutex:mcs", "spin", True, False, False, ""),
)
DEFAULTS = ("futex", "rw-fair")


def lock_record(kind: str, place: int, lock: Lock) -> dict[str, object]:
    name, waiting, fifo, parks, bypasses, alias = lock
    return {
        "kind": kind,
        "name": name,
        "index": place,
        "default": name in DEFAULTS,
        "category": "competitive" if bypasses else "direct handoff",
        "waiting": waiting,
        "fifo": fifo,
        "numa": False,
        "parks": parks,
        "light": not fifo,
        "trylock_hardened": True,
        "bypasses": bypasses,
        "bypass_bound": -1 if bypasses else 0,
        "bypass_each": False,
        "outside_bytes": 0,
        "node_bytes": 0,
        "bytes": 16,
        "waiter_bytes": 0,
        "summary": f"what {name} is, in a line of words",
        "source": "a paper",
        "caution": "",
        "aliases": [alias] if alias else [],
    }


def lock_lines(kind: str, locks: Sequence[Lock]) -> list[str]:
    """Return what hasp-locks prints about locks of a kind."""
    records = (lock_record(kind, place, lock) for place, lock in enumerate(locks))
    return [f"{json.dumps(record)}\n" for record in records]


def make_executable(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def compile_c(source: str, output: Path, *options: str) -> Path:
    subprocess.run(
        ["cc", "-x", "c", "-", "-o", str(output), *options],
        input=source,
        text=True,
        check=True,
        capture_output=True,
    )
    return output


@pytest.fixture(scope="session")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a HASP_NATIVE_DIR with a library, a lock list and a calibration."""
    folder = tmp_path_factory.mktemp("native")
    options = ("-shared", "-fPIC", "-D_GNU_SOURCE", f"-I{ROOT / 'src'}")
    compile_c(LIBRARY, folder / "libhasp.so", *options)
    compile_c(RECORDER, folder / "libhasp-profile.so", *options)
    mutexes, rwlocks = lock_lines("mutex", LOCKS), lock_lines("rwlock", RWLOCKS)
    (folder / "locks.jsonl").write_text("".join(mutexes + rwlocks))
    wrapped = [line.replace('"name": "', '"name": "gcr+') for line in mutexes[1:]]
    wrapped += lock_lines("rwlock", WRAPPED_RWLOCKS)
    (folder / "locks--wrapped.jsonl").write_text("".join(wrapped))
    make_executable(folder / "hasp-locks", f"#!/bin/sh\ncat {folder}/locks$1.jsonl\n")
    topology = {"cohorts": 23, "by_cache": True, "caches": 24}
    (folder / "topology.json").write_text(json.dumps(topology))
    make_executable(
        folder / "hasp-calibrate",
        f"#!/bin/sh\n[ $# = 0 ] || exec cat {folder}/topology.json\n"
        'echo run >> "${CALIBRATIONS:-/dev/null}"\n'
        'echo \'{"park_ns": 4321, "pause_ns": 20}\'\n',
    )
    return folder


@pytest.fixture
def environment(stand_in: Path, tmp_path: Path) -> dict[str, str]:
    """Return an environment with the stand-in, and with a cache for this test."""
    result = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("HASP_", "LD_", "NO_COLOR"))
    }
    result["HASP_NATIVE_DIR"] = str(stand_in)
    result["XDG_CACHE_HOME"] = str(tmp_path / "cache")
    return result


Cli = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def cli(environment: dict[str, str], tmp_path: Path) -> Cli:
    """Return cli(*words, **environment), which runs `hasp` in a folder of its own."""

    def run(*words: object, **extra: str) -> subprocess.CompletedProcess[str]:
        found = {**environment, **extra}
        done = warm_hasp.run([*map(str, words)], found, tmp_path)
        return done or subprocess.run(
            [sys.executable, "-c", RUN_HASP, *map(str, words)],
            env=found,
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=50,
        )

    return run


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], Path]:
    """Return script(body), which creates a shell script with a unique name."""
    count = 0

    def write(body: str) -> Path:
        nonlocal count
        count += 1
        return make_executable(tmp_path / f"script{count}", f"#!/bin/sh\n{body}\n")

    return write
