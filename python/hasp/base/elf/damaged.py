# SPDX-License-Identifier: MIT
"""What pyelftools raises when it is asked about a file that is damaged."""

from __future__ import annotations

from struct import error as StructError

from elftools.common.exceptions import DWARFError, ELFError
from elftools.construct import ConstructError

DAMAGED = (
    *(DWARFError, ELFError, OSError, ValueError, KeyError, IndexError, TypeError),
    *(AttributeError, AssertionError, NotImplementedError, RecursionError),
    *(ArithmeticError, EOFError, StructError, ConstructError),
    MemoryError,  # of a section that says it is larger than any file
)
