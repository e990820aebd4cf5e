# SPDX-License-Identifier: MIT
"""What every test of Hasp needs: where the build is, and how to run things under it.

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

import pytest
from lock_list import BUILD, records

# The `hasp` command of this interpreter, also when its scripts folder is not on PATH.
RUN_HASP = "import sys; from hasp.cli.main import main; sys.exit(main())"

# Inherited by everything that a test starts, whether or not make exported it.
os.environ["HASP_NATIVE_DIR"] = str(BUILD)

# A shell ignores SIGINT in its background jobs, and children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A developer's own settings must not leak into what is being tested.
for name in (
    "HASP_LOCK",
    "HASP_BIAS",
    "HASP_TOPOLOGY",
    "HASP_VERBOSE",
    "HASP_PARK_NS",
    "HASP_PLAN",
):
    os.environ.pop(name, None)


@cache
def native_program(name: str) -> Path:
    """The file NAME below the build folder; without it the build is incomplete."""
    found = sorted(path for path in BUILD.rglob(name) if path.is_file())
    if not found:
        pytest.fail(f"{name} is not below {BUILD}: run `make build` first")
    return found[0]


@cache
def all_lock_names() -> tuple[str, ...]:
    """The names of locks.def, in its order."""
    return tuple(record["name"] for record in records())


@pytest.fixture(scope="session")
def build_dir() -> Path:
    """The Meson build folder."""
    return BUILD


@pytest.fixture(scope="session")
def lock_names() -> list[str]:
    """Every lock of the list, the pass-through `glibc` included."""
    return list(all_lock_names())


@pytest.fixture(scope="session")
def native_env() -> Callable[..., dict[str, str]]:
    """native_env(lock, **extra): an environment in which programs run under `lock`.

    `glibc` and None give the environment without Hasp, as `hasp run` does.
    """

    def environment(lock: str | None, **extra: str) -> dict[str, str]:
        result = {**os.environ, **extra}
        if lock is not None and lock != "glibc":
            library = str(native_program("libhasp.so"))
            earlier = result.get("LD_PRELOAD")
            result["LD_PRELOAD"] = f"{library}:{earlier}" if earlier else library
            result["HASP_LOCK"] = lock
        return result

    return environment


@pytest.fixture(scope="session")
def hasp() -> Callable[..., subprocess.CompletedProcess[str]]:
    """hasp(*arguments, **options): run the command line; options go to subprocess.run.

    Text mode with both streams captured unless the options say otherwise, and a limit
    of 50 seconds, so that a hang ends before pytest's own limit of 60 strikes.
    """

    def run(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
        settings: dict[str, object] = {"timeout": 50, "text": True}
        if "stdout" not in options and "stderr" not in options:
            settings["capture_output"] = True
        settings.update(options)
        command = [sys.executable, "-c", RUN_HASP, *map(str, arguments)]
        return subprocess.run(command, **settings)  # type: ignore[call-overload,no-any-return]

    return run
