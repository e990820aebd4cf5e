# SPDX-License-Identifier: MIT
"""The library function that a call instruction names."""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from hasp.base.elf.sections import read_elf
from hasp.profile.symbols.callees import Callees

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64" or shutil.which("gcc") is None,
    reason="needs gcc for x86-64",
)

SOURCE = """
#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) int own(int n) { return n + 1; }
char *zeroed(size_t size) { char *p = calloc(size, 1); p[0] = 1; return p; }
char *filled(char *p, size_t size) { memset(p, 7, size); p[0] = 1; return p; }
int called(int n) { return own(n) + 1; }
"""


def compiled(folder: Path, *options: str) -> Callees:
    source = folder / "made.c"
    source.write_text(SOURCE)
    library = folder / "libmade.so"
    words = ["gcc", "-O1", "-fPIC", "-shared", "-fno-builtin", *options]
    subprocess.run([*words, "-o", library, source], check=True)
    elf = read_elf(library)
    assert elf
    return Callees(elf)


def names(callees: Callees, folder: Path, function: str) -> set[str | None]:
    """Return the answers for each address in a function."""
    with (folder / "libmade.so").open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        (symbol,) = table.get_symbol_by_name(function)
        begin, size = symbol["st_value"], symbol["st_size"]
    return {callees.at(address) for address in range(begin, begin + size + 1)}


@pytest.mark.parametrize("option", ["-fcf-protection", "-fcf-protection=none"])
@pytest.mark.parametrize("linkage", ["-fplt", "-fno-plt"])
def test_the_called_function_is_found(
    tmp_path: Path, option: str, linkage: str
) -> None:
    callees = compiled(tmp_path, option, linkage)
    assert names(callees, tmp_path, "zeroed") == {"calloc", None}
    assert names(callees, tmp_path, "filled") == {"memset", None}


def test_a_call_within_the_file_has_no_name(tmp_path: Path) -> None:
    callees = compiled(tmp_path, "-Wl,-Bsymbolic", "-fvisibility=hidden")
    assert names(callees, tmp_path, "called") == {None}


def test_addresses_outside_the_file_have_no_name(tmp_path: Path) -> None:
    callees = compiled(tmp_path)
    assert callees.at(0) is None
    assert callees.at(1 << 40) is None
