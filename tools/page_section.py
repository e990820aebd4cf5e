# SPDX-License-Identifier: MIT
"""Write the part of a page that a tool makes, between two marks."""

from __future__ import annotations

import re
from pathlib import Path


def write_section(page: Path, begin: str, end: str, text: str) -> None:
    """Replace what stands between the marks `begin` and `end`, which stay."""
    pattern = re.escape(begin) + ".*?" + re.escape(end)
    old = page.read_text(encoding="utf-8")
    new = re.sub(pattern, lambda _: begin + text + end, old, flags=re.DOTALL)
    page.write_text(new, encoding="utf-8")
