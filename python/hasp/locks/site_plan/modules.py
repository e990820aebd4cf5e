# SPDX-License-Identifier: MIT
"""Reads build-ids, variables and the code of source lines from program files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from elftools.elf.elffile import ELFFile

from hasp.base.elf.build_id import build_id_of
from hasp.base.elf.damaged import DAMAGED

Answer = TypeVar("Answer")


def build_id(path: Path) -> str:
    """Return the file's build-id in hexadecimal, or "" if it has none."""
    return _asked(path, build_id_of) or ""


def variable(path: Path, name: str) -> int | None:
    """Return the address of the variable; None if there is not exactly one."""

    def addresses(elf: Any) -> set[int]:
        tables = map(elf.get_section_by_name, (".symtab", ".dynsym"))
        return {
            int(symbol["st_value"])
            for table in tables
            for symbol in (table and table.get_symbol_by_name(name)) or ()
            if symbol["st_info"]["type"] == "STT_OBJECT"
        }

    found = _asked(path, addresses) or set()
    return found.pop() if len(found) == 1 else None


def code_of_line(
    path: Path, file: str, line: int, text: str
) -> list[tuple[int, int]] | None:
    """Return the address ranges (begin, end) of a line of the source file `file`.

    None without debug information, or if the line of the source does not contain
    `text`.
    """

    def pieces(elf: Any) -> set[tuple[int, int]]:
        ranges: set[tuple[int, int]] = set()
        if not elf.has_dwarf_info():
            return ranges
        dwarf = elf.get_dwarf_info()
        for unit in dwarf.iter_CUs():
            program = dwarf.line_program_for_CU(unit)
            # A file may have two numbers: its own, and that of the unit's primary file.
            for number in _file_numbers(program, file) if program else ():
                found = _ranges(program, number, line)
                if found and _holds(_source(unit, program, number), line, text):
                    ranges.update(found)
        return ranges

    return sorted(_asked(path, pieces) or ()) or None


def _asked(path: Path, question: Callable[[Any], Answer]) -> Answer | None:
    """Apply `question` to the ELF file; None if it is unreadable or damaged."""
    try:
        with path.open("rb") as file:
            return question(ELFFile(file))
    except DAMAGED:
        return None


def _file_numbers(program: Any, name: str) -> list[int]:
    first = 1 if program.header["version"] < 5 else 0
    return [
        number
        for number, entry in enumerate(program.header["file_entry"], first)
        if PurePosixPath(entry.name.decode(errors="replace")).name == name
    ]


def _ranges(program: Any, number: int, line: int) -> list[tuple[int, int]]:
    found = []
    begin = None
    for entry in program.get_entries():
        state = entry.state
        if state is None:
            continue
        if begin is not None and state.address > begin:
            found.append((begin, int(state.address)))
        wanted = not state.end_sequence and (state.file, state.line) == (number, line)
        begin = int(state.address) if wanted else None
    return found


def _source(unit: Any, program: Any, number: int) -> Path:
    version = program.header["version"]
    entry = program.header["file_entry"][number if version >= 5 else number - 1]
    home = unit.get_top_DIE().attributes.get("DW_AT_comp_dir")
    path = Path(home.value.decode(errors="replace") if home else ".")
    folders = program.header["include_directory"]
    index = entry.dir_index if version >= 5 else entry.dir_index - 1
    if 0 <= index < len(folders):
        path /= folders[index].decode(errors="replace")
    return path / str(entry.name.decode(errors="replace"))


def _holds(source: Path, line: int, text: str) -> bool:
    try:
        lines = source.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    return line <= len(lines) and text in lines[line - 1]
