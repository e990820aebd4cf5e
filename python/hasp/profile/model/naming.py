# SPDX-License-Identifier: MIT
"""Name a lock by its source location and its expression in the source.

The location is where the application created the lock or, if no creation was recorded,
first acquired it. It is the innermost frame outside the language's library and outside
wrappers around pthread functions: a wrapper's single line would be the location of all
locks.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import NamedTuple

from hasp.profile.symbols.frame import Frame, Stack

UNKNOWN_PLACE = "(unknown place)"
MOST_WRAPPERS = 4  # frames that may be skipped in search of the location
Lines = Callable[[str, int], list[str]]
FieldOf = Callable[[int], str | None]

LIBRARY = re.compile(
    r"libhasp|libc\.so|libc-|libpthread|libstdc\+\+|libc\+\+|libgcc_s|ld-linux|\[vdso\]"
)
LIBRARY_HEADER = re.compile(
    r"/include/(c\+\+|[\w-]+-linux-gnu/c\+\+)/|/c\+\+/v1/|/bits/|/lib/gcc/|/rustlib/"
)
LIBRARY_FUNCTION = re.compile(
    r"(?:std|__gnu_cxx|__cxxabiv1)::|__gthread_|_start$|_GLOBAL__sub_I_"
    r"|__static_initialization_and_destruction"
)
# Methods of lock classes, and C functions that pass a lock on to pthread. The nouns
# must be whole words: Clock and BlockCache are not locks.
LOCK_CLASS = re.compile(
    r"(?:(?:^|::|_|(?<=[a-z0-9]))(?:RW)?(?:Mutex|Lock|Guard|Latch|CondVar|Condition|Semaphore)"
    r"|(?:^|::|_)(?:mutex|lock|guard|latch|cond_?var|semaphore))"
    r"(?:Base|Impl|_base|_impl|_t)?(?:<.*>)?::~?\w+$"
)
LOCK_FUNCTION = re.compile(
    r"(?:mutex|rw_?lock|spin_?lock|(?:^|_)mtx|(?:^|_)cond(?:_?var)?|crit(?:ical)?_?sec\w*)"
    r"_?(?:\w+_)?(?:init|create|new|alloc|make|lock|acquire|enter|take|get|wait)\w*$",
    re.IGNORECASE,
)
# Calls whose first argument is a lock, declarations of guards, and methods of a lock.
CALL = re.compile(
    r"\b(?:pthread_(?:mutex|rwlock|spin|cond|barrier)_\w+|(?:mtx|cnd)_\w+"
    r"|hasp_delegate_\w*init"
    r"|(?:\w*_)?(?:try|rd|wr|rw|spin)?(?:lock|mutex|mtx|cond|enter|acquire)(?:_\w+)?"
    r"|(?:\w*_)?(?:TRY|RD|WR|RW|SPIN)?(?:LOCK|MUTEX|MTX|COND|ENTER|ACQUIRE)(?:_\w+)?"
    r"|\w*(?:Lock|Mutex|Enter|Acquire)\w*)\s*\(",
)
GUARD = re.compile(
    r"\b\w*(?:lock|guard)\w*\s*(?:<[^;()]*>)?\s+\w+\s*[({]", re.IGNORECASE
)
METHOD = re.compile(
    r"([A-Za-z_][\w.\[\]]*(?:(?:->|\.|::)[\w\[\]]+)*?)\s*(?:\.|->)\s*"
    r"(?:try_?)?(?:lock|wait|acquire|enter|rd_?lock|wr_?lock)\w*\s*\(",
    re.IGNORECASE,
)
CONCRETE = re.compile(r"&|->|\.|\[|::")  # more specific than the name of a parameter
MEMBER = re.compile(r"m_\w+|\w+_")  # C++ naming conventions for members
LONGEST_EXPRESSION = 48  # characters


class Name(NamedTuple):
    """A location, and the lock as an expression of the program's source."""

    place: str
    expression: str | None
    depth: int  # index of the location's frame in the stack
    function: str = ""  # set if there is neither a line nor an expression

    @property
    def whole(self) -> str:
        """The full name, as reports print it."""
        if self.expression:
            return f"{self.place} {self.expression}"
        return f"{self.place} in {self.function}" if self.function else self.place


class Step(NamedTuple):
    """A frame of the application, and the lock in its source line."""

    depth: int
    frame: Frame
    text: str | None


def is_library(frame: Frame) -> bool:
    """Return true if a frame belongs to the language's library."""
    if frame.file and LIBRARY_HEADER.search(frame.file):
        return True
    if LIBRARY_FUNCTION.match(without_arguments(frame.function)):
        return True
    return bool(LIBRARY.match(frame.module))


def is_wrapper(frame: Frame) -> bool:
    """Return true if the function's name suggests that it only passes a lock on."""
    function = frame.function.split("(")[0]
    return bool(LOCK_CLASS.search(function) or LOCK_FUNCTION.search(function))


def place_of(frame: Frame) -> str:
    """Return db.c:88, or server+0x1234 if the line is not known."""
    if frame.file and frame.line:
        return f"{PurePosixPath(frame.file).name}:{frame.line}"
    if frame.module:
        return f"{frame.module}+{frame.offset:#x}"
    return f"{frame.address:#x}"


def name_of(
    stack: Stack, symbol: str | None, home: str, lines: Lines, field: FieldOf
) -> Name:
    """Return the name of the locks that this stack created or first acquired.

    `symbol` is the global object that contains them, if any, in module `home`. `field`
    returns type and field for the return address of a call.
    """
    own = [depth for depth, frame in enumerate(stack) if not is_library(frame)]
    if not own and symbol:
        return Name(home, symbol, 0)
    if not own:
        return Name(place_of(stack[0]) if stack else UNKNOWN_PLACE, None, 0)
    steps = [
        Step(depth, stack[depth], _text(stack[depth], lines))
        for depth in own[: MOST_WRAPPERS + 1]
    ]
    callers: list[Step | None] = [*steps[1:], None]
    pairs = zip(steps, callers, strict=True)
    chosen = next(step for step, caller in pairs if not _hands_on(step, caller))
    expression = _in_class(chosen)
    if symbol and not (
        expression and re.search(rf"\b{re.escape(symbol)}\b", expression)
    ):
        expression = symbol
    expression = expression or field(chosen.frame.address)
    function = "" if chosen.frame.line else without_arguments(chosen.frame.function)
    return Name(place_of(chosen.frame), expression, chosen.depth, function)


def _hands_on(step: Step, caller: Step | None) -> bool:
    """Return true if this frame got the lock as a parameter, so its caller names it."""
    if caller is None:
        return False
    if is_wrapper(step.frame):
        return True
    if step.text is None or caller.text is None or CONCRETE.search(step.text):
        return False
    return bool(CONCRETE.search(caller.text))


def _in_class(step: Step) -> str | None:
    """Qualify a member with its class: `mutex_` in Pool::take() is Pool::mutex_."""
    text = step.text
    if text is None or not MEMBER.fullmatch(text.lstrip("&")):
        return text
    scope = without_arguments(step.frame.function).rpartition("::")[0]
    return f"{scope}::{text.lstrip('&')}" if scope else text


def without_arguments(function: str) -> str:
    """Return a demangled name without parameters and template arguments."""
    plain, depth = "", 0
    named = function.replace("operator()", "operator")
    named = named.replace("(anonymous namespace)::", "")
    for character in named.split("(")[0]:
        depth += (character == "<") - (character == ">")
        plain += character if depth == 0 and character != ">" else ""
    return plain.split(" ")[-1]  # template functions start with the return type


def _text(frame: Frame, lines: Lines) -> str | None:
    if not frame.file or not frame.line:
        return None
    return expression_in("\n".join(lines(frame.file, frame.line)))


def expression_in(source: str) -> str | None:
    """Return the lock argument of the call that the source lines begin with."""
    first_line = len(source.split("\n")[0])
    calls = [found for pattern in (CALL, GUARD) if (found := pattern.search(source))]
    # The outer call comes first: in `guard(mutex_of(row))` the lock is `mutex_of(row)`.
    for found in sorted(calls, key=re.Match.start):
        if found.start() <= first_line:
            text = _first_argument(source[found.end() :])
            if text:
                return text
    called = METHOD.search(source)
    return called[1].strip() if called and called.start() <= first_line else None


def _first_argument(source: str) -> str | None:
    """Return the text up to the comma or parenthesis that ends an argument."""
    depth = 0
    for index, character in enumerate(source):
        if depth == 0 and character in ",)}":
            text = " ".join(source[:index].split())
            return text if 0 < len(text) <= LONGEST_EXPRESSION else None
        depth += (character in "([{") - (character in ")]}")
    return None
