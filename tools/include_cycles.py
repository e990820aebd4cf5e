# SPDX-License-Identifier: MIT
"""Include cycles among the modules of src/.

A module is a source file and its header (`x.c` and `x.h`). Two or three that include
each other may share one idea; a larger cycle cannot be read in any order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import networkx

from sources import C_SUFFIXES, Finding, files

MOST_MODULES = 3
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def modules(root: Path) -> networkx.DiGraph[Path]:
    """Return the include graph of src/, by paths without suffix."""
    source = root / "src"
    graph: networkx.DiGraph[Path] = networkx.DiGraph()
    for path in files(root, ["src"], C_SUFFIXES):
        module = path.relative_to(source).with_suffix("")
        for target in INCLUDE.findall(path.read_text(encoding="utf-8")):
            if (source / target).is_file():
                graph.add_edge(module, Path(target).with_suffix(""))
    return graph


def include_cycles(root: Path) -> Iterator[Finding]:
    """Yield one finding for each group of too many modules that include each other."""
    for group in networkx.strongly_connected_components(modules(root)):
        if len(group) > MOST_MODULES:
            names = sorted(map(str, group))
            path = min((root / "src").glob(f"{names[0]}.*"))
            yield Finding(
                path,
                1,
                f"{len(names)} modules include each other (at most {MOST_MODULES}):"
                f" {', '.join(names)}",
            )
