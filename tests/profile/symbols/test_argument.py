# SPDX-License-Identifier: MIT
"""`type.field` of a lock, from the DWARF description of a call's first argument."""

from __future__ import annotations

import re
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from hasp.base.elf.sections import read_elf
from hasp.profile.symbols.argument import Fields

SOURCE = r"""
typedef struct { long words[5]; } pthread_mutex_t;
#ifdef __cplusplus
extern "C" int pthread_mutex_lock(pthread_mutex_t *);
namespace store {
#else
int pthread_mutex_lock(pthread_mutex_t *);
#endif
struct latch { int owner; pthread_mutex_t m; };
typedef struct table { long n; struct latch rows[4]; struct latch own; } table_t;
typedef struct blob { long length; long space[10]; } blob;
#ifdef __cplusplus
}
using namespace store;
#endif
static __attribute__((noinline)) void use(void *p)
{
    __asm__ volatile("" :: "r"(p) : "memory");
}
static inline void take(struct latch *latch) { pthread_mutex_lock(&latch->m); }

__attribute__((noinline)) void field(table_t *t)
{
    use(t);
    pthread_mutex_lock(&t->own.m);
    use(t);
}
__attribute__((noinline)) void element(table_t *t)
{
    use(t);
    take(&t->rows[2]);
    use(t);
}
__attribute__((noinline)) void on_stack(void)
{
    table_t table;
    use(&table);
    pthread_mutex_lock(&table.own.m);
    use(&table);
}
__attribute__((noinline)) void bytes(blob *b)
{
    use(b);
    pthread_mutex_lock((pthread_mutex_t *)b->space); /* may be anything */
    use(b);
}
__attribute__((noinline)) void alone(pthread_mutex_t *m)
{
    use(m);
    pthread_mutex_lock(m);
    use(m);
}
int main(void)
{
    table_t table;
    field(&table);
    element(&table);
    on_stack();
    blob b;
    bytes(&b);
    alone(&table.own.m);
    return 0;
}
"""
EXPECTED = {
    "field": "table_t.own.m",
    "element": "table_t.rows[].m",
    "on_stack": "table_t.own.m",
    "bytes": None,
    "alone": None,
}
CALL = re.compile(r"\b(?:call|bl)q?\s.*<pthread_mutex_lock")
PLACE = re.compile(r"\s*([0-9a-f]+):")


def fields(folder: Path, *command: str) -> dict[str, str | None]:
    """Return the answers, by function."""
    if not shutil.which(command[0]):
        pytest.skip(f"{command[0]} is not installed")
    source = folder / ("store.cc" if "++" in command[0] else "store.c")
    source.write_text(SOURCE)
    program = folder / "store"
    options = ("-O2", "-fno-ipa-sra", "-fno-builtin", "-o", program, source)
    subprocess.run([*command, *options], check=True)
    disassembly = ["objdump", "-d", "--no-show-raw-insn", program]
    done = subprocess.run(disassembly, check=True, capture_output=True, text=True)
    elf = read_elf(program)
    assert elf is not None
    asked = Fields(elf)
    found: dict[str, str | None] = {}
    lines = done.stdout.splitlines()
    function = ""
    for line, following in pairwise(lines):
        if named := re.match(r"[0-9a-f]+ <(.+)>:$", line):
            function = next((n for n in EXPECTED if n in named[1]), "")
        if function and CALL.search(line) and (place := PLACE.match(following)):
            found[function] = asked.at(int(place[1], 16))
    return found


@pytest.mark.parametrize("version", ["-gdwarf-4", "-gdwarf-5"])
def test_fields_of_structures(tmp_path: Path, version: str) -> None:
    assert fields(tmp_path, "gcc", version) == EXPECTED


def test_namespaces(tmp_path: Path) -> None:
    found = fields(tmp_path, "g++", "-g")
    assert found["field"] in ("store::table_t.own.m", "store::table.own.m")


def test_without_debug_information_there_is_no_answer(tmp_path: Path) -> None:
    assert set(fields(tmp_path, "gcc").values()) == {None}


def test_damaged_files(tmp_path: Path) -> None:
    """Whatever bytes a file has, the result is an answer or none."""
    assert fields(tmp_path, "gcc", "-g") == EXPECTED
    program = tmp_path / "store"
    whole = program.read_bytes()
    elf = read_elf(program)
    assert elf is not None
    for index in range(0, len(whole), len(whole) // 40):
        damaged = bytearray(whole)
        damaged[index : index + 64] = b"\xff" * 64
        program.write_bytes(damaged)
        Fields(elf).at(0x1150)
