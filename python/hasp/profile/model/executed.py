# SPDX-License-Identifier: MIT
"""Read what holders executed, from samples of their instruction pointers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from hasp.profile.model import counter
from hasp.profile.model.holder_functions import function_name
from hasp.profile.model.holder_states import OLD
from hasp.profile.model.holding import (
    HolderFunction,
    HolderState,
    Holding,
    RunningFunction,
)
from hasp.profile.model.naming import is_library, without_arguments
from hasp.profile.model.sites import HASP, Sites, Stacks
from hasp.profile.symbols.frame import Frame, Stack
from hasp.profile.trace.format import ChunkKind
from hasp.profile.trace.reader import Trace

MOST = 20  # functions of a site
ALLOCATOR = re.compile(
    r"(?:__GI_)?_*(?:libc_|int_|je_|mi_|tc_|tbb_)?"
    r"(?:malloc|free|calloc|realloc|memalign|aligned_alloc|posix_memalign|valloc"
    r"|sysmalloc|systrim|malloc_consolidate|unlink_chunk|tcache_\w+|mmap(?:64)?|munmap"
    r"|s?brk|madvise|mremap|reallocarray|cfree)(?:\.\w+)*(?:_\w*(?:chunk|heap|maybe)\w*)?$"
    r"|operator (?:new|delete)|std::allocator"
)

# Functions that an allocating function may end with.
FILLS = re.compile(r"mem(?:set|cpy|move|pcpy)|bzero")


class Sample(NamedTuple):
    """One record: the functions that executed, the innermost first."""

    frames: tuple[Frame, ...]
    samples: int


def functions_absent(header: np.void) -> str | None:
    """Return why instruction pointers were not sampled; None if they were."""
    if int(header["version"]) < 2:
        return OLD
    if error := int(header["executed_error"]):
        return counter.words(error)
    return None if header["executed_hz"] else OLD


def allocates(frame: Frame) -> bool:
    """Return true if a function allocates or frees memory."""
    return bool(
        ALLOCATOR.match(without_arguments(frame.function))
        or ALLOCATOR.match(frame.function)
    )


def _name(frame: Frame) -> str:
    """Return the function as programs call it, without glibc's internal prefix."""
    return function_name(frame).removeprefix("__GI_")


class Executed:
    """The samples of a trace by site."""

    def __init__(self, trace: Trace, sites: Sites, stacks: Stacks) -> None:
        records = trace.all(ChunkKind.EXECUTED)
        self._records = records[records["lock"] < len(sites.of)]
        self._of = sites.of[self._records["lock"]]
        self._stacks = stacks

    def added(
        self, holding: Holding | None, site: int, holders: tuple[HolderFunction, ...]
    ) -> Holding | None:
        """Return the holding with its functions; None stays None."""
        samples = list(self._samples(site, holders))
        total = sum(one.samples for one in samples)
        if holding is None or not total:
            return holding
        found: Counter[tuple[str, str, bool]] = Counter()
        memory = 0
        for one in samples:
            here = {(_name(f), f.module, allocates(f)) for f in one.frames}
            found.update(dict.fromkeys(here, one.samples))
            memory += one.samples * any(which[2] for which in here)
        functions = [
            RunningFunction(name, module, number / total, number, memory_function)
            for (name, module, memory_function), number in found.most_common(MOST)
        ]
        # A preempted thread was stopped in the same code.
        executing = holding.share(HolderState.RUNNING, HolderState.READY)
        share = executing * memory / total + holding.share(HolderState.FAULT)
        return replace(
            holding,
            functions=tuple(functions),
            running_samples=total,
            allocation_share=min(share, 1.0),
        )

    def _samples(
        self, site: int, holders: tuple[HolderFunction, ...]
    ) -> Iterator[Sample]:
        """Yield the samples; their stacks end before the function that holds it."""
        names = {one.function for one in holders}
        symbolizer = self._stacks.symbolizer
        for record in self._records[self._of == site]:
            # The frames of an address are those of the call before it.
            leaf = symbolizer.frames(int(record["address"]) + 1)
            if leaf[0].module.startswith(HASP):
                continue  # the recorder's own work
            callers = self._stacks[int(record["stack"])]
            stack = (*leaf, *self._jumped_from(leaf[-1], callers), *callers)
            own: list[Frame] = []
            for frame in stack:
                if own and function_name(frame) in names:
                    break
                own.append(frame)
            else:
                own = own[: len(leaf) + 1]  # the holder is not among these frames
            yield Sample(tuple(own), int(record["samples"]))

    def _jumped_from(self, leaf: Frame, callers: Stack) -> Stack:
        """Return the allocator's function that jumped to this one, such as calloc()."""
        if not callers or not is_library(leaf) or is_library(callers[0]):
            return ()
        if not FILLS.search(leaf.function):
            return ()
        name = self._stacks.symbolizer.callee(callers[0].address)
        if name is None or not ALLOCATOR.match(name):
            return ()
        return (replace(leaf, function=name, file=None, line=None),)
