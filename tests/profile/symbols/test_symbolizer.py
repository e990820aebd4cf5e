# SPDX-License-Identifier: MIT
"""Compares the addresses of small programs, built in many ways, with their source."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from hasp.profile.symbols.frame import Frame
from hasp.profile.symbols.modules import Module, ModuleMap
from hasp.profile.symbols.symbolizer import Symbolizer

# Prints the addresses of two calls and of a field of an object, relative to its file.
SOURCE = r"""
#include <stdio.h>
extern "C" char __executable_start;
namespace bank {
struct account { long balance; int mutex; };
account accounts[4];
static int hidden_lock;
__attribute__((noinline)) void tell(const char *what, const void *at)
{
    printf("%s %lx\n", what, (unsigned long)((const char *)at - BASE));
}
__attribute__((noinline)) void here(const char *what)
{
    tell(what, __builtin_return_address(0));
}
template <typename T> inline __attribute__((always_inline)) void take(T)
{
    here("call"); /* the call */
}
__attribute__((noinline)) void pay()
{
    take<int>(1); /* the caller */
    hidden_lock++;
}
}
int main()
{
    bank::pay(); /* the outermost */
    bank::tell("object", &bank::accounts[2].mutex);
    bank::tell("static", &bank::hidden_lock);
    bank::tell("code", &__executable_start);
    return 0;
}
"""
IN_C = (
    SOURCE.replace('extern "C"', "extern")
    .replace("template <typename T> inline", "static inline")
    .replace("take(T)", "take(int x)")
    .replace("take<int>", "take")
    .replace("namespace bank {", "")
    .replace("bank::", "")
    .replace("}\nint main", "int main")
    .replace("\naccount accounts", "\nstruct account accounts")
)
STRIPPED = "stripped"
VARIANTS = {
    "dwarf-4": ("-gdwarf-4",),
    "dwarf-5": ("-gdwarf-5",),
    "compressed": ("-gdwarf-5", "-gz=zlib"),
    "fixed-address": ("-gdwarf-5", "-no-pie"),
    "debuglink": ("-gdwarf-5", STRIPPED),
}


@dataclass(frozen=True)
class Built:
    """A program, its output, and its module as if it were mapped at `bias`."""

    module: Module
    printed: dict[str, int]

    def symbolizer(self) -> Symbolizer:
        return Symbolizer(ModuleMap([self.module]), began=0)

    def frames(self, name: str = "call") -> list[Frame]:
        return list(self.symbolizer().frames(self.module.bias + self.printed[name]))


def build(folder: Path, *options: str, plus: bool = True) -> Built:
    compiler = "g++" if plus else "cc"
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    source = folder / ("bank.cc" if plus else "bank.c")
    base = "(char *)0" if "-no-pie" in options else "&__executable_start"
    source.write_text((SOURCE if plus else IN_C).replace("BASE", base))
    program = folder / "bank"
    flags = [option for option in options if option != STRIPPED]
    command = [compiler, "-O2", "-Wl,--build-id", *flags, "-o", program, source]
    subprocess.run(command, check=True, cwd=folder)
    said = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    printed = {line.split()[0]: int(line.split()[1], 16) for line in said.splitlines()}
    if STRIPPED in options:
        separate(program)
    bias = 0 if "-no-pie" in options else 0x555500000000
    module = Module(bias, bias + 0x1000000, bias, build_id(program), str(program))
    return Built(module, printed)


def separate(program: Path) -> None:
    """Move debug information into a file beside the program, as distributions do."""
    beside = program.parent / ".debug"
    beside.mkdir()
    debug = beside / "bank.debug"
    objcopy = "objcopy"
    subprocess.run([objcopy, "--only-keep-debug", program, debug], check=True)
    subprocess.run([objcopy, "--strip-all", program], check=True)
    link = f"--add-gnu-debuglink={debug}"
    subprocess.run([objcopy, link, program], check=True)


def build_id(program: Path) -> str:
    done = subprocess.run(["readelf", "-n", program], capture_output=True, text=True)
    return done.stdout.rpartition("Build ID: ")[2].split()[0]


def line_of(program: Path, marker: str) -> int:
    source = next(program.parent.glob("bank.c*"))
    lines = source.read_text().splitlines()
    return next(n for n, line in enumerate(lines, 1) if marker in line)


@pytest.mark.parametrize("variant", VARIANTS)
def test_inlined_calls_and_lines(tmp_path: Path, variant: str) -> None:
    built = build(tmp_path, *VARIANTS[variant])
    inner, outer = built.frames()
    program = Path(built.module.path)
    assert inner.inlined
    assert not outer.inlined
    assert "bank::take<int>(int)" in inner.function
    assert outer.function == "bank::pay()"
    assert (inner.line, outer.line) == (
        line_of(program, "the call"),
        line_of(program, "the caller"),
    )
    assert inner.file == outer.file == str(tmp_path / "bank.cc")
    assert inner.offset == outer.offset == built.printed["call"]
    assert inner.module == "bank"


@pytest.mark.parametrize("variant", VARIANTS)
def test_global_and_static_objects(tmp_path: Path, variant: str) -> None:
    built = build(tmp_path, *VARIANTS[variant])
    symbolizer, bias = built.symbolizer(), built.module.bias
    datum = symbolizer.datum(bias + built.printed["object"])
    assert datum is not None
    assert (datum.symbol, datum.offset) == ("bank::accounts", 2 * 16 + 8)
    assert datum.address_offset == built.printed["object"]
    static = symbolizer.datum(bias + built.printed["static"])
    assert static is not None
    assert static.symbol == "bank::hidden_lock"
    assert symbolizer.datum(bias + built.printed["code"]) is None
    behind = symbolizer.datum(bias + built.printed["object"] + 2 * 16 - 8)
    assert behind is None or behind.symbol != "bank::accounts"


def test_c(tmp_path: Path) -> None:
    built = build(tmp_path, "-gdwarf-5", plus=False)
    assert [frame.function for frame in built.frames()] == ["take", "pay"]


def test_a_path_need_not_be_utf_8(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"latin-1-\xe9")
    folder.mkdir()
    built = build(folder, "-gdwarf-5", plus=False)
    assert [frame.function for frame in built.frames()] == ["take", "pay"]


def test_without_debug_information_functions_are_resolved(tmp_path: Path) -> None:
    built = build(tmp_path)
    (frame,) = built.frames()
    assert (frame.function, frame.file, frame.line) == ("bank::pay()", None, None)


def test_a_stripped_program_has_offsets(tmp_path: Path) -> None:
    built = build(tmp_path, "-s")
    (frame,) = built.frames()
    assert (frame.module, frame.offset) == ("bank", built.printed["call"])
    assert frame.file is None


def test_debug_files_are_found_by_build_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = build(tmp_path, *VARIANTS["debuglink"])
    identity = built.module.build_id
    root = tmp_path / "debug"
    place = root / ".build-id" / identity[:2] / f"{identity[2:]}.debug"
    place.parent.mkdir(parents=True)
    (tmp_path / ".debug/bank.debug").rename(place)
    assert not built.frames()[0].line
    monkeypatch.setattr("hasp.profile.symbols.files.DEBUG_ROOT", root)
    assert built.frames()[0].line
    Path(built.module.path).unlink()  # and without the program itself
    assert built.frames()[0].line


def test_a_rebuilt_program_is_not_used(tmp_path: Path) -> None:
    built = build(tmp_path, "-gdwarf-5")
    other = Built(replace(built.module, build_id="00" * 20), built.printed)
    symbolizer = other.symbolizer()
    (frame,) = symbolizer.frames(built.module.bias + built.printed["call"])
    assert frame.function == ""
    assert "not the file that ran" in symbolizer.doubts[0]
    assert len(symbolizer.doubts) == 1


def test_a_missing_program_gives_a_warning(tmp_path: Path) -> None:
    built = build(tmp_path, "-gdwarf-5")
    Path(built.module.path).unlink()
    symbolizer = built.symbolizer()
    symbolizer.frames(built.module.bias + built.printed["call"])
    assert "not here any more" in symbolizer.doubts[0]


@pytest.mark.parametrize("damage", [b"", b"\x7fELF", b"\x7fELF" + bytes(400)])
def test_incomplete_files(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "bank"
    path.write_bytes(damage)
    symbolizer = Symbolizer(ModuleMap([Module(0, 4096, 0, "", str(path))]), 0)
    (frame,) = symbolizer.frames(100)
    assert frame.function == ""
    assert symbolizer.datum(100) is None


def test_addresses_outside_modules_are_not_resolved() -> None:
    symbolizer = Symbolizer(ModuleMap([Module(0x1000, 0x2000, 0, "", "[vdso]")]), 0)
    (jit,) = symbolizer.frames(0x7F0000001234)
    assert (jit.module, jit.offset, jit.function) == ("", 0x7F0000001234, "")
    (vdso,) = symbolizer.frames(0x1100)
    assert (vdso.module, vdso.offset) == ("[vdso]", 0x1100)
    assert symbolizer.doubts == []


def test_the_last_module_at_an_address_is_used() -> None:
    modules = ModuleMap(
        [
            Module(0x1000, 0x9000, 0x1000, "", "/old.so"),
            Module(0x3000, 0x4000, 0x3000, "", "/new.so"),
        ]
    )
    names = [m and m.name for m in map(modules.find, (0xFFF, 0x1000, 0x3500, 0x4000))]
    assert names == [None, "old.so", "new.so", "old.so"]
    assert modules.find(0x9000) is None


def test_source_is_quoted_if_it_was_not_changed(tmp_path: Path) -> None:
    source = tmp_path / "bank.c"
    source.write_text("one\ntwo\nthree\n")
    written = source.stat().st_mtime
    later = Symbolizer(ModuleMap([]), written + 1)
    assert later.lines(str(source), 2) == ["two", "three"]
    assert later.lines(str(source), 99) == later.lines(str(source), 0) == []
    assert Symbolizer(ModuleMap([]), written - 1).lines(str(source), 2) == []
    os.mkfifo(tmp_path / "pipe")
    assert later.lines(str(tmp_path / "pipe"), 1) == []
