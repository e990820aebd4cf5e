# SPDX-License-Identifier: MIT
"""Names of delegates: where the program initialised them, and what they are."""

from __future__ import annotations

import numpy as np

from hasp.profile.model.naming import name_of
from hasp.profile.model.sites import Stacks

PUBLIC = "hasp_delegate_"  # functions of the header, inlined into the program


def name_of_delegate(record: np.void, stacks: Stacks) -> str:
    """Return the name of a delegate, as those of locks: "db.c:88 &db->mu"."""
    stack = tuple(
        frame
        for frame in stacks[int(record["created_stack"])]
        if not frame.function.startswith(PUBLIC)
    )
    symbolizer = stacks.symbolizer
    datum = symbolizer.datum(int(record["address"]))
    return name_of(
        stack,
        datum.symbol if datum else None,
        datum.module.name if datum else "",
        symbolizer.lines,
        symbolizer.field,
    ).whole
