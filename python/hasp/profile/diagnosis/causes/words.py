# SPDX-License-Identifier: MIT
"""Words that the sentences of all causes share."""

from __future__ import annotations

import re
from itertools import groupby

from hasp.base.durations import format_duration
from hasp.profile.model.naming import is_library
from hasp.profile.model.sites import HASP
from hasp.profile.symbols.frame import Frame, Stack

LONGEST = 160  # characters of a verdict
LONGEST_FUNCTION = 32  # characters
ADDRESS = re.compile(r"\+0x[0-9a-f]+$")  # a place without a function's name
# The version in a library's name, as in `libdns-9.18.49.so` and `libjemalloc.so.2`.
VERSION = re.compile(r"-\d[^/+]*(?=\.so\b)|(?<=\.so)(?:\.\d+)+(?=\+0x)")
INTERNAL = re.compile(r"^(?:__GI_)?_*(?:libc_)?(?=.)")  # prefixes of glibc's own names
FRAMES = 4  # functions of a stack in a line of evidence
SHORTEST_NAME = 24  # characters of a lock's name that remain in any case
SHORTEST_REST = 12  # characters of a variable's or function's name worth keeping


def time(ns: float | None) -> str:
    """Return a duration with at most two digits: `560 us`, `1.2 ms`."""
    if ns is None:
        return "-"
    rounded = float(f"{ns:.1e}")
    text = format_duration(rounded / 1e9)
    number, _, unit = text.partition(" ")
    if "." in number:
        number = number.rstrip("0").rstrip(".")
    return f"{number} {unit}"


def share(value: float) -> str:
    """Return a share for a sentence: `41 %`, `under 1 %`."""
    if 0 < value < 0.01:
        return "under 1 %"
    return f"{100 * value:.0f} %"


def number(value: float) -> str:
    """Return a count with at most three digits: 940, 12 k, 1.2 M."""
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= size * 0.9995:
            scaled = value / size
            return f"{scaled:.1f}{unit}" if scaled < 9.95 else f"{scaled:.0f}{unit}"
    return f"{value:.0f}"


def call(function: str) -> str:
    """Return a function as a call: `put()`; `the holder` if it is not known."""
    if not function:
        return "the holder"
    if ADDRESS.search(function):
        return f"code at {shorten(function, LONGEST_FUNCTION)}"
    return f"{shorten(function, LONGEST_FUNCTION)}()"


def frames(stack: Stack) -> str:
    """Return the innermost functions, without repetitions: `write < put < main`.

    Frames of Hasp's libraries are left out: without debug information, a stack may
    contain stale ones.
    """
    stack = tuple(frame for frame in stack if not frame.module.startswith(HASP))
    own = [depth for depth, frame in enumerate(stack) if not is_library(frame)]
    called = stack[: own[-1] + 1] if own else stack  # without the runtime's start
    named = (plain(frame) for frame in called if frame.function)
    return " < ".join([name for name, _ in groupby(named)][:FRAMES])


def plain(frame: Frame) -> str:
    """Return a function as programs call it: `recv` for glibc's `__libc_recv`."""
    name = frame.function
    glibc = is_library(frame) or name.startswith(("__libc_", "__GI_"))
    if not glibc or not name.isidentifier() or name.startswith("_Z"):
        return name
    return INTERNAL.sub("", name)


def within(function: str) -> str:
    """Return ` in put()`, or nothing if the function is not known."""
    return f" in {call(function)}" if function else ""


def shorten(name: str, most: int) -> str:
    """Shorten a name: drop its outer scopes, then characters in the middle.

    A place in a library loses the library's version first; the offset stays whole.
    """
    while len(name) > most and "::" in name:
        name = name.split("::", 1)[1]
    offset = ADDRESS.search(name)
    if len(name) > most and offset:
        name = VERSION.sub("", name)
    if len(name) <= most:
        return name
    half = (most - 3) // 2
    if offset and half < len(offset.group()) < most - 8:
        half = len(offset.group())
    return f"{name[: most - 3 - half]}...{name[-half:]}"


def short_site(name: str, most: int) -> str:
    """Shorten a lock's name: its outer scopes go first, the location last."""
    place, _, rest = name.partition(" ")
    if len(name) <= most or not rest:
        return shorten(name, most) if len(name) > most else name
    room = most - len(place) - 1
    rest = rest.removeprefix("in ")
    if len(rest) > room < SHORTEST_REST:
        return shorten(place, most)
    return f"{place} {shorten(rest, room)}"


def capital(text: str) -> str:
    """Return the text with a capital first letter."""
    return text[:1].upper() + text[1:]


def sentence(subject: str, problem: str, advice: tuple[str, ...]) -> str:
    """Return the verdict, at most LONGEST characters.

    Shorter forms of the advice are tried first, then the lock's name is shortened, and
    at last the problem is cut at its last comma.
    """
    for words in advice or ("",):
        whole = _joined(subject, problem, words)
        if len(whole) <= LONGEST:
            return whole
    words = advice[-1] if advice else ""
    over = len(_joined(subject, problem, words)) - LONGEST
    kept = max(min(len(subject), SHORTEST_NAME), len(subject) - over)
    subject = short_site(subject, kept) if subject else subject
    while len(whole := _joined(subject, problem, words)) > LONGEST and "," in problem:
        problem = problem.rpartition(",")[0]
    if len(whole) > LONGEST:
        room = LONGEST - len(_joined(subject, "", words)) - 3
        problem = re.sub(r"\W+$", "", problem[:room].rpartition(" ")[0]) + "..."
        whole = _joined(subject, problem, words)
    return whole


def _joined(subject: str, problem: str, advice: str) -> str:
    said = f"{subject}: {problem}" if subject else capital(problem)
    said = said.removesuffix(".")  # of the dots where the problem was cut
    ending = f". {capital(advice)}." if advice else "."
    return said + ending
