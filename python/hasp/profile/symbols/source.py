# SPDX-License-Identifier: MIT
"""Read source lines, unless the source has changed since the program ran."""

from __future__ import annotations

import stat
from pathlib import Path

QUOTED = 4  # lines: a call may continue over several
LONGEST_SOURCE = 16 << 20  # bytes; longer files are generated code


class Sources:
    """Reads each file once. A file that changed after `began` is not quoted."""

    def __init__(self, began: float) -> None:
        self._began = began
        self._files: dict[str, list[str]] = {}
        self.quoted: dict[tuple[str, int], list[str]] = {}

    def lines(self, path: str, line: int) -> list[str]:
        """Return a few lines from this one on; none if the source is unavailable."""
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
