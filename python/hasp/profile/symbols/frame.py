# SPDX-License-Identifier: MIT
"""A frame of a stack: module, function and source line."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Frame:
    """A return address, or a call inlined at it; the innermost comes first."""

    address: int
    module: str  # file name, "" if unknown
    offset: int  # address in the module's file
    function: str  # demangled; "" if unknown
    file: str | None
    line: int | None
    inlined: bool = False


Stack = tuple[Frame, ...]
