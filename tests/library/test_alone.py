# SPDX-License-Identifier: MIT
"""Mutexes without the library: hasp/mutex_implementation.h."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from library_folder import Installed
from lock_list import ROOT

STRICT = ("-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
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
    compiled = compile_it(installed, source, "gcc", "-std=c11", "-c", *STRICT)
    assert compiled.returncode == 0, compiled.stderr
    return source.with_suffix(".o")


def compile_it(
    installed: Installed, source: Path, *command: str, link: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    flags = installed.flags("--cflags")
    target = str(source.with_suffix(".o" if "-c" in command else ""))
    words = [*command, *flags, str(source), "-o", target, *link]
    return subprocess.run(words, capture_output=True, text=True)


def test_a_c_program_needs_no_library(
    installed: Installed, implementation: Path, tmp_path: Path
) -> None:
    source = tmp_path / "example.c"
    source.write_text((ROOT / "docs/examples/library/mutex.c").read_text())
    link = (str(implementation), "-pthread")
    done = compile_it(installed, source, "gcc", "-std=c11", *STRICT, link=link)
    assert done.returncode == 0, done.stderr
    program = source.with_suffix("")
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
    link = (str(implementation), "-pthread")
    done = compile_it(installed, source, "g++", "-std=c++17", *STRICT, link=link)
    assert done.returncode == 0, done.stderr
    assert subprocess.run([source.with_suffix("")]).returncode == 0


def test_a_cxx_source_is_refused(installed: Installed, tmp_path: Path) -> None:
    source = tmp_path / "hasp.cpp"
    source.write_text("#include <hasp/mutex_implementation.h>\n")
    done = compile_it(installed, source, "g++", "-std=c++17", "-fsyntax-only")
    assert done.returncode != 0
    assert "mutex_implementation.h needs a C source of its own" in done.stderr


@pytest.mark.parametrize("order", [1, -1])
def test_other_headers_beside_it_are_refused(
    installed: Installed, tmp_path: Path, order: int
) -> None:
    source = tmp_path / "both.c"
    names = ("mutex.h", "mutex_implementation.h")[::order]
    source.write_text("".join(f"#include <hasp/{name}>\n" for name in names))
    done = compile_it(installed, source, "gcc", "-fsyntax-only")
    first = next(line for line in done.stderr.splitlines() if "error:" in line)
    assert "mutex_implementation.h needs a C source of its own" in first


def test_its_symbols_have_the_prefix(implementation: Path) -> None:
    names = subprocess.run(
        [
            "nm",
            "--defined-only",
            "--extern-only",
            "--format=just-symbols",
            implementation,
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert len(names) > 100
    assert [name for name in names if not name.startswith("hasp_")] == []
