# SPDX-License-Identifier: MIT
"""Names of functions and variables as their source has them."""

from __future__ import annotations

import re
from functools import cache

MANGLED = re.compile(r"_Z|_R|\?")
# What compilers append to copies of a function.
COPY = re.compile(r"\.(?:cold|part|isra|constprop|lto_priv|llvm|localalias|clone)\b.*$")


@cache
def demangled(name: str) -> str:
    """A C++ or Rust name in readable form; others as they are."""
    plain = COPY.sub("", name)
    if not MANGLED.match(plain):
        return plain
    import pydemumble

    return str(pydemumble.demangle(plain)) or plain
