# SPDX-License-Identifier: MIT
"""The sums in records of delegates and servers, which keep their numbers."""

from __future__ import annotations

import numpy as np

from hasp.profile.trace.format import ChunkKind, Records

SUMS: dict[ChunkKind, tuple[str, ...]] = {
    ChunkKind.DELEGATES: (
        *("sections", "held_sections", "holds", "contexts", "context_bytes"),
        *("wait_ticks", "service_ticks"),
    ),
    ChunkKind.SERVERS: ("sections", "rounds", "lines", "serialised", "replaced"),
}
TIMES = ("wait", "service")


def subtract(kind: ChunkKind, records: Records, before: Records) -> None:
    """Subtract the sums and histograms of earlier records, in place.

    Both begin with the same record; later ones may have been added since `before`.
    """
    mine = records[: len(before)]
    known = before[: len(mine)]
    for name in SUMS[kind]:
        mine[name] -= np.minimum(known[name], mine[name])
    for times in TIMES:
        if times in (mine.dtype.names or ()):
            counts = mine[times]["bucket"]
            counts -= np.minimum(counts, known[times]["bucket"])
