# SPDX-License-Identifier: MIT
"""Mutexes without the library: hasp/mutex_implementation.h."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from library_folder import Installed
from lock_list import ROOT

EXAMPLE = ROOT / "docs/examples/library/mutex.c"
COUNTER = """
#include <hasp/mutex.hpp>
#include <mutex>
#include <thread>

static hasp::mutex<hasp::mcs> mutex;
static hasp::any_mutex named("hmcs");
static int count;

static void add()
{
    for (int i = 0; i < 20000; i++) {
        std::scoped_lock both(mutex, named);
        count++;
    }
}

int main()
{
    std::thread other(add);
    add();
    other.join();
    return count != 40000;
}
"""


@pytest.fixture(scope="module")
def implementation(
    installed: Installed, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Return the object that a program links instead of the library."""
    source = tmp_path_factory.mktemp("alone") / "hasp.c"
    source.write_text("#include <hasp/mutex_implementation.h>\n")
    return installed.compile(source, source.with_suffix(".o"), "-c", link=[])


def test_a_c_program_needs_no_library(
    installed: Installed, implementation: Path, tmp_path: Path
) -> None:
    link = [str(implementation), "-pthread"]
    program = installed.compile(EXAMPLE, tmp_path / "example", link=link)
    for name in ("mcs", "auto", "futex"):
        ran = subprocess.run([program, name], capture_output=True, text=True)
        assert (ran.returncode, ran.stderr) == (0, "")
        assert f"500500 through a place under {name}, then: Connection" in ran.stdout
    needed = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    assert "libc" in needed
    assert "hasp" not in needed


def test_a_cxx_program_needs_no_library(
    installed: Installed, implementation: Path, tmp_path: Path
) -> None:
    source = tmp_path / "counter.cpp"
    source.write_text(COUNTER)
    link = [str(implementation), "-pthread"]
    program = installed.compile(source, tmp_path / "counter", link=link)
    assert subprocess.run([program]).returncode == 0


@pytest.mark.parametrize(
    ("compiler", "headers"),
    [
        ("g++ -std=c++17", "mutex_implementation.h"),
        ("gcc", "mutex.h mutex_implementation.h"),
        ("gcc", "mutex_implementation.h mutex.h"),
        ("gcc", "map.h mutex_implementation.h"),
        ("gcc", "mutex_implementation.h map.h"),
    ],
)
def test_it_needs_a_c_source_of_its_own(
    installed: Installed, compiler: str, headers: str
) -> None:
    done = installed.include(compiler, headers, "-fsyntax-only")
    assert done.returncode != 0
    first = next(line for line in done.stderr.splitlines() if "error:" in line)
    assert "mutex_implementation.h needs a C source of its own" in first


def test_its_symbols_have_the_prefix(implementation: Path) -> None:
    words = ["nm", "--defined-only", "--extern-only", "--format=just-symbols"]
    ran = subprocess.run([*words, implementation], capture_output=True, text=True)
    names = ran.stdout.split()
    assert len(names) > 100
    assert [name for name in names if not name.startswith("hasp_")] == []
