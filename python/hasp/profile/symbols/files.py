# SPDX-License-Identifier: MIT
"""Find the files with a module's symbols: the module and its separate debug file.

Debug files are searched where gdb searches them (its manual, "Debugging Information in
Separate Files"): by build-id under /usr/lib/debug, then by .gnu_debuglink beside the
module. A file with a different build-id is ignored, because its addresses differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hasp.base.elf.sections import Elf, read_elf
from hasp.base.output import escaped
from hasp.profile.symbols.modules import Module

DEBUG_ROOT = Path("/usr/lib/debug")


@dataclass(frozen=True)
class ModuleFiles:
    """The files of a module as it ran, the most informative first."""

    elves: tuple[Elf, ...]
    doubt: str | None  # the reason if no file of the module was usable


def files_of(module: Module) -> ModuleFiles:
    """Return the module's files; the first may have line numbers."""
    path, shown = Path(module.path), escaped(module.path)
    if not module.path.startswith("/"):
        return ModuleFiles((), None)  # the vDSO, or a truncated path
    binary = read_elf(path)
    doubt = None
    if binary is None:
        doubt = f"{shown} is not here any more: its addresses have no names"
    elif module.build_id and binary.build_id != module.build_id:
        doubt = (
            f"{shown} is not the file that ran (its build-id differs): its addresses "
            "have no names"
        )
        binary = None
    debug = _debug_file(module, binary, path)
    found = tuple(elf for elf in (debug, binary) if elf)
    return ModuleFiles(found, None if found else doubt)


def _debug_file(module: Module, binary: Elf | None, path: Path) -> Elf | None:
    for candidate in _candidates(module, binary, path):
        elf = read_elf(candidate)
        if elf is None or (binary and elf.path == binary.path):
            continue
        if not module.build_id or elf.build_id == module.build_id:
            return elf
    return None


def _candidates(module: Module, binary: Elf | None, path: Path) -> Iterator[Path]:
    identity = module.build_id
    if len(identity) > 2:
        yield DEBUG_ROOT / ".build-id" / identity[:2] / f"{identity[2:]}.debug"
    if binary and binary.debug_link:
        folder = path.resolve().parent
        yield folder / binary.debug_link
        yield folder / ".debug" / binary.debug_link
        yield DEBUG_ROOT / str(folder).lstrip("/") / binary.debug_link
