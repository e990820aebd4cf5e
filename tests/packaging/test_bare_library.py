# SPDX-License-Identifier: MIT
"""Builds programs with the library in a Debian root that has compilers."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from bare_root import RELEASES, Shell, bare_root
from lock_list import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

PACKAGES = "gcc,g++,libc6-dev,make,cmake,pkgconf"
EXAMPLES = ROOT / "docs/examples/library"
COMPILERS = {".c": "gcc -std=c11", ".cpp": "g++ -std=c++17"}


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Build the library as docs/library.md says; return how to install it."""
    meson = str(Path(sys.executable).with_name("meson"))
    folder = str(tmp_path_factory.mktemp("build"))
    options = ("-Dpython=false", "-Dtests=false")
    subprocess.run([meson, "setup", folder, *options], cwd=ROOT, check=True)
    subprocess.run([meson, "compile", "-C", folder, "library"], check=True)
    return [meson, "install", "-C", folder, "--no-rebuild", "--tags", "devel"]


@pytest.fixture(scope="module", params=RELEASES)
def shell(
    request: pytest.FixtureRequest,
    build: list[str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Shell]:
    """Return a shell in a new root file system, in which the library is installed."""
    root = tmp_path_factory.mktemp("root")
    with bare_root(root, request.param, PACKAGES) as run:
        subprocess.run([*build, f"--destdir={root}"], check=True)
        shutil.copytree(EXAMPLES, root / "root/examples")
        assert run("ldconfig").returncode == 0
        yield run


def test_all_examples_build_and_run(shell: Shell) -> None:
    for source in sorted(EXAMPLES.iterdir()):
        compiler = f"{COMPILERS[source.suffix]} -Wall -Wextra -Werror"
        done = shell(
            f"{compiler} examples/{source.name} -o program"
            " $(pkg-config --cflags --libs hasp) && ./program"
        )
        assert (done.returncode, done.stderr) == (0, ""), source.name


def test_cmake_finds_it(shell: Shell) -> None:
    done = shell(
        "mkdir -p cmake && cd cmake && printf '%s\\n' > CMakeLists.txt"
        " 'cmake_minimum_required(VERSION 3.13)' 'project(program C CXX)'"
        " 'find_package(hasp REQUIRED)'"
        " 'add_executable(c ../examples/mutex.c)'"
        " 'add_executable(cxx ../examples/mutex.cpp)'"
        " 'target_link_libraries(c hasp::hasp)' 'target_link_libraries(cxx hasp::hasp)'"
        " && cmake -S . -B build && cmake --build build && build/c && build/cxx"
    )
    assert done.returncode == 0, done.stdout + done.stderr
