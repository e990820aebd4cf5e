# SPDX-License-Identifier: MIT
"""Writes C sources with one seeded bug to one C file.

usage: seed.py NAME OUTPUT SOURCE... -- OLD NEW

The sources are joined, their includes of each other removed, and OLD, which must occur
exactly once, is replaced by NEW. Names with external linkage get the suffix NAME.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

EXTERNAL = re.compile(
    r"\b(condition_(?:enqueue|withdraw|take|patience|flags_offset|with_\w+|client_\w+))\b"
)


def main() -> None:
    split = sys.argv.index("--")
    name, output, *sources = sys.argv[1:split]
    old, new = sys.argv[split + 1 :]
    text = "\n".join(Path(source).read_text(encoding="utf-8") for source in sources)
    if text.count(old) != 1:
        sys.exit(f"seed.py: {old!r} occurs {text.count(old)} times, not once")
    text = text.replace(old, new)
    text = re.sub(r'#include "(condition|explorer/clients/condition).*\n', "", text)
    Path(output).write_text(EXTERNAL.sub(rf"\1_{name}", text), encoding="utf-8")


if __name__ == "__main__":
    main()
