# SPDX-License-Identifier: MIT
"""One frame of a stack: module, function, source line."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Frame:
    """One return address, or an inlined call at it; the innermost comes first."""

    address: int
    module: str  # file name, "" if not known
    offset: int  # address in the module's file
    function: str  # demangled; "" if not known
    file: str | None
    line: int | None
    inlined: bool = False


Stack = tuple[Frame, ...]
