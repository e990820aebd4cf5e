# SPDX-License-Identifier: MIT
"""Fixtures for all tests: the location of the build, and runners of `hasp`.

Tests use the native programs of the Meson build folder (`build/`, or the folder in
HASP_NATIVE_DIR) and the `hasp` package of the environment that pytest runs in.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import warm_hasp
from lock_list import BUILD, records

# The `hasp` command of this interpreter, even if its scripts folder is not on PATH.
RUN_HASP = "import sys; from hasp.cli.main import main; sys.exit(main())"

# Inherited by everything that a test starts, whether or not make exported it.
os.environ["HASP_NATIVE_DIR"] = str(BUILD)

# The threads of the linear algebra spin, and wait for each other on a busy machine.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A shell's background jobs ignore SIGINT, and their children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A developer's own settings must not leak into the tests.
for name in (
    "HASP_LOCK",
    "HASP_BIAS",
    "HASP_COHORTS",
    "HASP_TOPOLOGY",
    "HASP_VERBOSE",
    "HASP_PARK_NS",
    "HASP_PLAN",
):
    os.environ.pop(name, None)


def pytest_sessionfinish() -> None:
    warm_hasp.close()


@cache
def native_program(name: str) -> Path:
    """Return the file NAME below the build folder; fail if the build is incomplete."""
    found = sorted(path for path in BUILD.rglob(name) if path.is_file())
    if not found:
        pytest.fail(f"{name} does not exist below {BUILD}: run `make build` first")
    return found[0]


@cache
def all_lock_names() -> tuple[str, ...]:
    """Return the names in locks.def, in its order."""
    return tuple(record["name"] for record in records())


DELEGATING = "libhasp-delegate.so"


@pytest.fixture(scope="session")
def build_dir() -> Path:
    """Return the Meson build folder."""
    return BUILD


@pytest.fixture(scope="session")
def lock_names() -> list[str]:
    """Return every lock of the list, including the pass-through `glibc`."""
    return list(all_lock_names())


@pytest.fixture(scope="session")
def native_env() -> Callable[..., dict[str, str]]:
    """Return native_env(lock, **extra), which makes an environment for `lock`.

    For `glibc` and None it is the environment without Hasp, as with `hasp run`.
    """

    def environment(lock: str | None, **extra: str) -> dict[str, str]:
        result = {**os.environ, **extra}
        if lock is not None and lock != "glibc":
            delegates = lock == "delegate"
            library = str(native_program(DELEGATING if delegates else "libhasp.so"))
            if delegates:
                result["GLIBC_TUNABLES"] = "glibc.pthread.rseq=0"
            earlier = result.get("LD_PRELOAD")
            result["LD_PRELOAD"] = f"{library}:{earlier}" if earlier else library
            result["HASP_LOCK"] = lock
        return result

    return environment


@pytest.fixture(scope="session")
def hasp() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return hasp(*arguments, **options), which runs the command line with
    subprocess.run.

    By default, both streams are captured in text mode, and the limit is 50 seconds, so
    that a hang ends before pytest's own limit of 60.
    """

    def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
        if options.keys() <= {"env", "cwd", "timeout"}:
            done = warm_hasp.run([*map(str, arguments)], **options)
            if done:
                return done
        settings: dict[str, object] = {"timeout": 50, "text": True}
        if "stdout" not in options and "stderr" not in options:
            settings["capture_output"] = True
        settings.update(options)
        command = [sys.executable, "-c", RUN_HASP, *map(str, arguments)]
        return subprocess.run(command, **settings)  # type: ignore[call-overload,no-any-return]

    return run
