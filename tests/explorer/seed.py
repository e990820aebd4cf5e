# SPDX-License-Identifier: MIT
"""Writes C sources with one seeded bug to one C file.

usage: seed.py NAME OUTPUT SOURCE... -- OLD NEW [LIST LOCK]

The sources are joined, their includes of each other removed, and OLD, which must occur
exactly once, is replaced by NEW. Names with external linkage get the suffix NAME. If a
LIST (locks.def) is given, its includes are replaced by its entry LOCK and its last one,
the default: all of it would take ten times as long to compile.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from list_entries import ENTRY, only

EXTERNAL = re.compile(
    r"\b(condition_(?:enqueue|withdraw|take|patience|flags_offset|with_\w+|client_\w+))\b"
)
LIST = re.compile(r'#include "locks/locks\.def"\n')


def main() -> None:
    split = sys.argv.index("--")
    name, output, *sources = sys.argv[1:split]
    old, new, *short = sys.argv[split + 1 :]
    text = "\n".join(Path(source).read_text(encoding="utf-8") for source in sources)
    if text.count(old) != 1:
        sys.exit(f"seed.py: {old!r} occurs {text.count(old)} times, not once")
    text = text.replace(old, new)
    if short:
        listing = Path(short[0]).read_text(encoding="utf-8")
        *_, default = ENTRY.finditer(listing)
        listed = only(listing, short[1], default[1])
        text, count = LIST.subn(lambda _: listed, text)
        if not count:
            sys.exit("seed.py: no source includes the list")
    text = re.sub(r'#include "(condition|explorer/clients/condition).*\n', "", text)
    Path(output).write_text(EXTERNAL.sub(rf"\1_{name}", text), encoding="utf-8")


if __name__ == "__main__":
    main()
