# SPDX-License-Identifier: MIT
"""The public headers stand alone, and bring no short names into a program."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from library_folder import Installed
from lock_list import ROOT

HEADERS = sorted(path.name for path in (ROOT / "include/hasp").glob("*.h*"))
C_HEADERS = [name for name in HEADERS if name.endswith(".h")]
EXAMPLES = ROOT / "docs/examples/library"
COMPILERS = (
    "gcc -std=c11",
    "gcc -std=gnu17",
    "g++ -std=c++17",
    "g++ -std=c++20 -fno-exceptions -fno-rtti",
)


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("header", HEADERS)
def test_each_compiles_alone(installed: Installed, header: str, compiler: str) -> None:
    if header.endswith(".hpp") and "++" not in compiler:
        return
    options = ("-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
    done = installed.include(compiler, header, *options)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("compiler", ["gcc -std=c11", "g++ -std=c++17"])
@pytest.mark.parametrize("order", [1, -1])
def test_all_compile_together(installed: Installed, compiler: str, order: int) -> None:
    headers = HEADERS if "++" in compiler else C_HEADERS
    together = " ".join(headers[::order])
    done = installed.include(compiler, together, "-fsyntax-only", "-Werror")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("header", C_HEADERS)
def test_missing_declarations_of_the_system_are_explained(
    installed: Installed, header: str
) -> None:
    done = installed.include(
        "gcc -std=c11", header, "-U_DEFAULT_SOURCE", "-fsyntax-only"
    )
    first = next(line for line in done.stderr.splitlines() if "error:" in line)
    assert "compile with -D_DEFAULT_SOURCE" in first


IGNORED = """
void ignore(struct hasp_mutex *mutex, struct hasp_mutex_mcs *mcs, struct hasp_tx *tx,
            struct hasp_map **map, struct hasp_rwlock *rwlock)
{
    hasp_mutex_trylock(mutex);
    hasp_mutex_mcs_timedlock(mcs, NULL);
    hasp_rwlock_write_trylock(rwlock);
    hasp_tx_commit(tx);
    hasp_map_create(map, NULL);
}
"""


@pytest.mark.parametrize("compiler", COMPILERS)
def test_ignoring_a_result_that_matters_is_warned_about(
    installed: Installed, compiler: str, tmp_path: Path
) -> None:
    source = tmp_path / ("ignored.cpp" if "++" in compiler else "ignored.c")
    headers = "".join(f"#include <hasp/{header}>\n" for header in C_HEADERS)
    source.write_text(headers + IGNORED)
    flags = installed.flags("--cflags")
    command = [*compiler.split(), *flags, "-S", "-o", "-", str(source)]
    said = subprocess.run(command, capture_output=True, text=True).stderr
    assert said.count("[-Wunused-result]") == 5, said


@pytest.mark.parametrize("header", C_HEADERS)
def test_every_macro_has_the_prefix(installed: Installed, header: str) -> None:
    all_of_it = installed.include("gcc -std=c11", header, "-dD", "-E").stdout
    ours, foreign = False, set()
    for line in all_of_it.splitlines():
        place = re.match(r'# \d+ "([^"]*)"', line)
        if place:
            ours = "/include/hasp/" in place[1]
        defined = re.match(r"#define (\w+)", line)
        if ours and defined and not defined[1].lower().startswith("hasp_"):
            foreign.add(defined[1])
    assert foreign == set()


@pytest.mark.parametrize("header", C_HEADERS)
def test_every_function_has_the_prefix(
    installed: Installed, header: str, tmp_path: Path
) -> None:
    prototypes = tmp_path / "prototypes"
    options = ("-fsyntax-only", "-aux-info", str(prototypes))
    installed.include("gcc -std=c11", header, *options)
    ours = re.findall(
        r"/\* [^:\n]*/include/hasp/.*?\*/ .*?(\w+) \(", prototypes.read_text()
    )
    assert len(ours) > 10
    assert [name for name in ours if not name.startswith("hasp_")] == []


@pytest.mark.parametrize("header", C_HEADERS)
def test_every_type_and_constant_has_the_prefix(
    installed: Installed, header: str
) -> None:
    folder = installed.prefix / "include/hasp"
    text = (folder / header).read_text() + (folder / "internal" / header).read_text()
    bare = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    tags = re.findall(r"\b(?:struct|union|enum) (\w+) \{", bare)
    bodies = re.findall(r"\benum(?: \w+)? \{(.*?)\}", bare, flags=re.DOTALL)
    constants = []
    for body in bodies:
        if "LOCK(" not in body:  # that one contains the list
            names = re.sub(r"\([^)]*\)|=[^,]*", "", body)
            constants += re.findall(r"(?:^|,)\s*(\w+)", names)
    assert len(tags) > 3
    assert [
        name for name in [*tags, *constants] if not name.lower().startswith("hasp_")
    ] == []


def test_a_program_s_own_short_names_do_not_clash(
    installed: Installed, tmp_path: Path
) -> None:
    source = tmp_path / "program.c"
    source.write_text(
        "static int park(void) { return 1; }\n"
        "struct lock { int word; };\n"
        "enum { SPIN = 5, FIFO };\n"
        "#define load_acquire(x) x\n#define likely(x) x\n#define LOCK 3\n"
        "#include <hasp/mutex.h>\n#include <hasp/rwlock.h>\n#include <hasp/barrier.h>\n"
        "int main(void) { struct lock l = {LOCK}; return park() + l.word != 4; }\n"
    )
    program = installed.compile(source, tmp_path / "program")
    assert installed.run(program).returncode == 0


@pytest.mark.parametrize("header", HEADERS)
def test_each_has_an_example(header: str) -> None:
    texts = [path.read_text() for path in EXAMPLES.iterdir()]
    assert any(f"#include <hasp/{header}>" in text for text in texts)
