# SPDX-License-Identifier: MIT
"""The exceptions that pyelftools raises for a damaged file."""

from __future__ import annotations

from struct import error as StructError

from elftools.common.exceptions import DWARFError, ELFError
from elftools.construct import ConstructError

DAMAGED = (
    *(DWARFError, ELFError, OSError, ValueError, KeyError, IndexError, TypeError),
    *(AttributeError, AssertionError, NotImplementedError, RecursionError),
    *(ArithmeticError, EOFError, StructError, ConstructError),
    MemoryError,  # for a section header with an impossible size
)
