#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Print every requirement of pyproject.toml, one a line: build, run time and `dev`.

pip can install a project's own requirements only together with the project; the
Makefile wants them apart, so that an edit of a source file does not resolve them again.
"""

from __future__ import annotations

import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:  # pip carries its own copy
    from pip._vendor import tomli as tomllib


def main() -> int:
    root = Path(__file__).resolve().parent.parent
    project = tomllib.loads((root / "pyproject.toml").read_text())
    requirements = [
        *project["build-system"]["requires"],
        *project["project"]["dependencies"],
        *project["project"]["optional-dependencies"]["dev"],
    ]
    print("\n".join(requirements))
    return 0


if __name__ == "__main__":
    sys.exit(main())
