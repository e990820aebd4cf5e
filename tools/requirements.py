#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Print pip and the requirements of pyproject.toml, one per line.

Those of the extras that are named, and of all of them without a name.

pip installs the requirements of a project only together with the project. The Makefile
installs them separately, because an edit of a source file must not resolve them again.
"""

from __future__ import annotations

import sys
from itertools import chain
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:  # pip bundles a copy
    from pip._vendor import tomli as tomllib

# Older versions keep only the last `--config-settings` of a key (Debian 12 has 23.0),
# and the Makefile passes two options to `meson setup` that way.
INSTALLER = "pip>=23.1"


def main() -> int:
    root = Path(__file__).resolve().parent.parent
    project = tomllib.loads((root / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    wanted = sys.argv[1:] or list(extras)
    requirements = [
        INSTALLER,
        *project["build-system"]["requires"],
        *project["project"]["dependencies"],
        *chain(*(extras[name] for name in wanted)),
    ]
    print("\n".join(one for one in requirements if not one.startswith("hasp[")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
