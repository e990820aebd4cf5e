# SPDX-License-Identifier: MIT
"""Demangle the names of functions and variables."""

from __future__ import annotations

import re
from functools import cache

MANGLED = re.compile(r"_Z|_R|\?")
# Suffixes that compilers append to clones of a function.
COPY = re.compile(r"\.(?:cold|part|isra|constprop|lto_priv|llvm|localalias|clone)\b.*$")


@cache
def demangled(name: str) -> str:
    """Return a C++ or Rust name demangled, and any other name unchanged."""
    plain = COPY.sub("", name)
    if not MANGLED.match(plain):
        return plain
    # Imported here because few programs have C++ or Rust symbols.
    import pydemumble

    return str(pydemumble.demangle(plain)) or plain
