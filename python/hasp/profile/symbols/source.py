# SPDX-License-Identifier: MIT
"""Lines of a program's own source, where it is still what was compiled."""

from __future__ import annotations

import stat
from pathlib import Path

QUOTED = 4  # lines: calls may go over several
LONGEST_SOURCE = 16 << 20  # bytes; generated files are longer, and say nothing


class Sources:
    """Reads each file once. What was changed after `began` is not quoted."""

    def __init__(self, began: float) -> None:
        self._began = began
        self._files: dict[str, list[str]] = {}
        self.quoted: dict[tuple[str, int], list[str]] = {}

    def lines(self, path: str, line: int) -> list[str]:
        """From this line on, a few; none where they cannot be had."""
        if (path, line) not in self.quoted:
            if path not in self._files:
                self._files[path] = self._read(Path(path))
            found = self._files[path][line - 1 : line - 1 + QUOTED] if line > 0 else []
            self.quoted[path, line] = found
        return self.quoted[path, line]

    def _read(self, path: Path) -> list[str]:
        try:
            facts = path.stat()
            if not stat.S_ISREG(facts.st_mode) or facts.st_size > LONGEST_SOURCE:
                return []
            if facts.st_mtime > self._began > 0:
                return []
            return path.read_text(encoding="utf-8", errors="replace").splitlines()
        except (OSError, ValueError):
            return []
