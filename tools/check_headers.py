#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check that every header compiles alone, without includes from other files.

    check_headers.py [--root DIR] -- CC [OPTION...]

The headers of one platform (src/platform/native/*.h) are the pieces of its backend.h,
which platform/platform.h includes after its own types; they are checked through it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sources import ROOT, Finding, files, report

MOST_LINES_SHOWN = 8


def compile_alone(root: Path, compiler: list[str], header: Path) -> Finding | None:
    name = header.relative_to(root)
    name = Path(*name.parts[1:])  # as included: below src/ or include/
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "alone.c"
        source.write_text(f'#include "{name}"\n')
        options = ["-fsyntax-only", f"-I{root}/include", f"-I{root}/src"]
        options.append(f"-I{root}/src/platform/native")  # where backend.h is
        options.append(f"-I{root}/src/bench/workloads/direct")  # and excluding.h
        done = subprocess.run(
            [*compiler, *options, str(source)], capture_output=True, text=True
        )
    if done.returncode == 0 and not done.stderr:
        return None
    shown = "\n".join(done.stderr.splitlines()[:MOST_LINES_SHOWN])
    return Finding(header, 1, f"does not compile alone:\n{shown}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=ROOT)
    parser.add_argument("compiler", nargs="+", help="after --: the compiler's command")
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    headers = [
        path
        for path in files(root, ["include", "src"], (".h",))
        if not path.relative_to(root).match("src/platform/*/*.h")
    ]
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(
            lambda header: compile_alone(root, arguments.compiler, header), headers
        )
        status = report(root, [finding for finding in found if finding])
    print(f"{len(headers)} headers")
    return status


if __name__ == "__main__":
    sys.exit(main())
