#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the manual page and the completion scripts from the parsers of the verbs.

make_manual.py VERSION FOLDER [LOCKS]: LOCKS is the program hasp-locks of this build; it
lists the lock algorithms that the scripts complete.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILES = {"bash": "hasp", "zsh": "_hasp", "fish": "hasp.fish"}


def manual_page(version: str) -> str:
    """Return hasp(1) in troff."""
    from argparse_manpage.manpage import Manpage

    from hasp.cli.main import EXAMPLES, whole_parser

    facts = {
        "project_name": "hasp",
        "prog": "hasp",
        "version": version,
        "description": "find the lock that slows down a pthread program",
        "manual_title": "Hasp",
        "manual_section": "1",
    }
    page = Manpage(whole_parser(), facts)
    page.add_section("examples", ">", EXAMPLES.partition(":")[2].strip("\n"))
    return str(page)


def names_of(program: str) -> dict[str, list[str]]:
    """Return the words that complete LOCK, EXECUTOR and KIND, without variants."""
    lines = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    listed = [json.loads(line) for line in lines.splitlines()]
    kinds = list(dict.fromkeys(entry["kind"] for entry in listed))
    of_kind = {
        kind: [entry["name"] for entry in listed if entry["kind"] == kind]
        for kind in kinds
    }
    return {"LOCK": of_kind["mutex"], "EXECUTOR": of_kind["executor"], "KIND": kinds}


def main() -> int:
    sys.path.insert(0, str(ROOT / "python"))
    sys.dont_write_bytecode = True
    from hasp.cli.completion import script

    version, folder, *locks = sys.argv[1:]
    names = names_of(locks[0]) if locks else {}
    target = Path(folder)
    (target / "hasp.1").write_text(manual_page(version))
    for shell, file in FILES.items():
        (target / file).write_text(script(shell, names))
    return 0


if __name__ == "__main__":
    sys.exit(main())
