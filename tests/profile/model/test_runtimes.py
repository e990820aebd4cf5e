# SPDX-License-Identifier: MIT
"""Runtimes with locks of their own are recognised by files, sections and symbols."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hasp.profile.model.runtimes import runtimes_of
from hasp.profile.symbols.modules import Module


def module(path: str) -> Module:
    return Module(0x1000, 0x2000, 0x1000, "", path)


FILES = {
    "/usr/lib/jvm/lib/server/libjvm.so": "java",
    "/usr/lib/libpython3.11.so.1.0": "python",
    "/usr/share/dotnet/libcoreclr.so": "dotnet",
    "/usr/lib/libgomp.so.1.0.0": "openmp",
    "/usr/lib/libglib-2.0.so.0": "glib",
    "/usr/lib/libQt6Core.so.6": "qt",
    "/usr/lib/libfolly.so.0.58": "folly",
    "/usr/lib/libabsl_synchronization.so.20220623": "abseil",
}


@pytest.mark.parametrize("path", FILES)
def test_loaded_files(path: str) -> None:
    (found,) = runtimes_of([module("/lib/libc.so.6"), module(path)], "")
    assert (found.id, found.evidence) == (FILES[path], Path(path).name)
    assert found.unseen and found.tool


def test_a_plain_program() -> None:
    assert runtimes_of([module("/usr/bin/true")], "/usr/bin/true") == ()


def compiled(source: str, folder: Path) -> Path:
    (folder / "program.c").write_text(source + "\nint main(void) { return 0; }\n")
    program = folder / "program"
    subprocess.run(["cc", "-o", program, folder / "program.c"], check=True)
    return program


SOURCES = {
    "go": '__attribute__((section(".go.buildinfo"))) int info = 1;',
    "rust": "int rust_eh_personality(void) { return 0; }",
    "erlang": "int ethr_mutex_lock(void) { return 0; }",
    "innodb": "int opt_ignore_builtin_innodb;",
    "python": "int PyGILState_Ensure(void) { return 0; }",
}


@pytest.mark.parametrize("runtime", SOURCES)
def test_sections_and_symbols(runtime: str, tmp_path: Path) -> None:
    program = compiled(SOURCES[runtime], tmp_path)
    assert [one.id for one in runtimes_of([], str(program))] == [runtime]


def test_a_missing_or_damaged_file(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    damaged.write_bytes(b"\x7fELF" + bytes(range(200)))
    for path in (damaged, tmp_path / "missing"):
        assert runtimes_of([], str(path)) == ()


def test_a_program_that_uses_the_locks_of_openmp_itself(tmp_path: Path) -> None:
    source = "void GOMP_critical_name_start(void **p) { (void)p; }"
    for text, used in ((source, True), ("", False)):
        program = compiled(text, tmp_path)
        (found,) = runtimes_of([module("/lib/libgomp.so.1")], str(program))
        assert found.is_programs is used
