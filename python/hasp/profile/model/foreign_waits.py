# SPDX-License-Identifier: MIT
"""Read the samples of threads blocked in foreign futexes from a trace."""

from __future__ import annotations

from collections import Counter

import numpy as np

from hasp.profile.model.foreign import ForeignWaits
from hasp.profile.model.holder_states import NO_CALLS, OLD, waits_in_hasp
from hasp.profile.model.naming import is_library
from hasp.profile.model.sites import Stacks
from hasp.profile.symbols.frame import Stack
from hasp.profile.trace.format import ChunkKind, Unread
from hasp.profile.trace.reader import Trace


def foreign_absent(header: np.void) -> str | None:
    """Return why there are no such samples; None if there are."""
    if int(header["version"]) < 2:
        return OLD
    if int(header["unread"]) & Unread.NO_CALLS:
        return NO_CALLS
    if not header["tasks_inspected"]:
        return "the run was too short for the sampler"
    return None


def foreign_waits(trace: Trace, stacks: Stacks) -> ForeignWaits | None:
    """Return the samples; None if there are none."""
    if foreign_absent(trace.header):
        return None
    blocked = brief = 0
    modules: Counter[str] = Counter()
    for record in trace.all(ChunkKind.FOREIGN_WAITS):
        stack, samples = stacks[int(record["stack"])], int(record["samples"])
        if waits_in_hasp(stack):
            continue
        blocked += samples
        brief += int(record["brief"])
        modules[_module(stack)] += samples
    return ForeignWaits(
        samples=int(trace.header["tasks_inspected"]),
        blocked=blocked,
        brief=brief,
        modules={name: number / blocked for name, number in modules.most_common()},
    )


def _module(stack: Stack) -> str:
    """Return the file that blocks: the innermost outside the C and C++ libraries."""
    own = (frame.module for frame in stack if not is_library(frame))
    return next(own, stack[0].module if stack else "")
