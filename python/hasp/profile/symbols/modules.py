# SPDX-License-Identifier: MIT
"""The files mapped into a program, as listed in its trace."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from pathlib import PurePosixPath

import numpy as np

from hasp.base.output import escaped
from hasp.profile.trace.format import Records
from hasp.profile.trace.reader import path_text


@dataclass(frozen=True)
class Module:
    """A mapped file."""

    begin: int  # addresses
    end: int
    bias: int  # mapped address minus address in the file
    build_id: str  # hexadecimal, "" if it has none
    path: str

    @property
    def name(self) -> str:
        """The file's name, safe to print."""
        return escaped(PurePosixPath(self.path).name) or "program"

    def offset(self, address: int) -> int:
        """Return the address in the file."""
        return (address - self.bias) & (1 << 64) - 1


class ModuleMap:
    """Finds the module of an address: the last one mapped if several covered it."""

    def __init__(self, modules: list[Module]) -> None:
        self.modules = modules
        self._by_name = {module.name: module for module in modules}
        # The boundaries of all modules in order. The range between two boundaries
        # belongs to the last module that covers it.
        self._marks = sorted({mark for m in modules for mark in (m.begin, m.end)})
        place = {mark: i for i, mark in enumerate(self._marks)}
        self._owners = np.full(len(self._marks) + 1, -1, np.int64)
        for number, module in enumerate(modules):
            self._owners[place[module.begin] : place[module.end]] = number

    def find(self, address: int) -> Module | None:
        """Return the module; None for memory without a file, such as JIT code."""
        index = bisect_right(self._marks, address) - 1
        owner = int(self._owners[index]) if index >= 0 else -1
        return self.modules[owner] if owner >= 0 else None

    def named(self, name: str) -> Module | None:
        """Return the last module with that file name."""
        return self._by_name.get(name)


def modules_of(records: Records) -> ModuleMap:
    """Return the modules of a trace; invalid ones are skipped."""
    found = []
    for record in records[records["end"] > records["begin"]]:
        length = min(int(record["build_id_bytes"]), len(record["build_id"]))
        found.append(
            Module(
                int(record["begin"]),
                int(record["end"]),
                int(record["bias"]),
                np.asarray(record["build_id"][:length]).tobytes().hex(),
                path_text(record["path"]),
            )
        )
    return ModuleMap(found)
