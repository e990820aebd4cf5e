# SPDX-License-Identifier: MIT
"""Which functions hold the locks of a site, and which wait for them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hasp.profile.model.naming import is_library, is_wrapper, without_arguments
from hasp.profile.model.profile import Profile, Site
from hasp.profile.symbols.frame import Frame, Stack

EXAMINED = 2000  # stacks, those with the most time; a trace may have a million


@dataclass(frozen=True)
class Part:
    """The holds and waits of one function at a site."""

    function: str
    place: str  # "db.c:88" of the acquisition, or ""
    holds: int
    hold_ns: int
    waits: int
    wait_ns: int


def frame_of(stack: Stack) -> Frame | None:
    """Return the innermost frame that is neither a library's nor a lock wrapper's."""
    own = [frame for frame in stack if not is_library(frame)]
    chosen = [frame for frame in own if not is_wrapper(frame)]
    return next(iter(chosen or own), None)


def function_of(stack: Stack) -> str:
    """Return the calling function without arguments; "" if it has no name."""
    frame = frame_of(stack)
    return without_arguments(frame.function) if frame else ""


def parts_of(profile: Profile) -> Mapping[int, tuple[Part, ...]]:
    """Return each site's functions by site number, the longest hold first."""
    sums: dict[int, dict[tuple[str, str], list[int]]] = defaultdict(dict)
    for place in range(min(EXAMINED, len(profile.weights))):
        weight = profile.weights[place]
        site = profile.site_of(weight.lock)
        if site is None:
            continue
        frame = frame_of(weight.stack)
        key = (function_of(weight.stack), _place(frame))
        have = sums[site.number].setdefault(key, [0, 0, 0, 0])
        more = (weight.holds, weight.hold_ns, weight.waits, weight.wait_ns)
        have[:] = [mine + theirs for mine, theirs in zip(have, more, strict=True)]
    return {
        number: tuple(
            sorted(
                (Part(*key, *values) for key, values in found.items()),
                key=lambda part: -part.hold_ns,
            )
        )
        for number, found in sums.items()
    }


def _place(frame: Frame | None) -> str:
    if frame is None or not frame.file or not frame.line:
        return ""
    return f"{frame.file.rpartition('/')[2]}:{frame.line}"


def holder_of(site: Site, parts: Sequence[Part]) -> str:
    """Return the function with the longest holds, or the first that acquired."""
    if site.holders:
        return site.holders[0].function
    named = (part.function for part in parts if part.function)
    return next(named, "") or function_of(site.first)
