# SPDX-License-Identifier: MIT
"""What a lock is called: its place in the program, and the program's own words for it.

The place is where the application created the lock or, where no creation was seen,
first took it: the innermost frame that belongs neither to the language's library nor to
a wrapper around pthread's functions, for a wrapper's one line stands for all the locks.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import NamedTuple

from hasp.profile.symbols.frame import Frame, Stack

UNKNOWN_PLACE = "(unknown place)"
MOST_WRAPPERS = 4  # frames that are passed over in search of the place
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
# Methods of a class that is a lock, and C functions that hand a lock on to pthread. The
# nouns are whole words, or a Clock and a BlockCache would be locks.
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
# Calls whose first argument is a lock; declarations of guards; methods of a lock.
CALL = re.compile(
    r"\b(?:pthread_(?:mutex|rwlock|spin|cond|barrier)_\w+|(?:mtx|cnd)_\w+"
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
CONCRETE = re.compile(r"&|->|\.|\[|::")  # more than the name of a parameter
MEMBER = re.compile(r"m_\w+|\w+_")  # as C++ programs spell members
LONGEST_EXPRESSION = 48  # characters


class Name(NamedTuple):
    """A place and the lock in the program's words."""

    place: str
    expression: str | None
    depth: int  # of the place's frame in the stack
    function: str = ""  # where there is neither a line nor an expression

    @property
    def whole(self) -> str:
        """All of it, as reports show it."""
        if self.expression:
            return f"{self.place} {self.expression}"
        return f"{self.place} in {self.function}" if self.function else self.place


class Step(NamedTuple):
    """A frame of the application, and the lock as its source line has it."""

    depth: int
    frame: Frame
    text: str | None


def is_library(frame: Frame) -> bool:
    """Whether a frame belongs to the language rather than to the program."""
    if frame.file and LIBRARY_HEADER.search(frame.file):
        return True
    if LIBRARY_FUNCTION.match(without_arguments(frame.function)):
        return True
    return bool(LIBRARY.match(frame.module))


def is_wrapper(frame: Frame) -> bool:
    """Whether a function only hands a lock on, by its name."""
    function = frame.function.split("(")[0]
    return bool(LOCK_CLASS.search(function) or LOCK_FUNCTION.search(function))


def place_of(frame: Frame) -> str:
    """db.c:88, or server+0x1234 where the line is not known."""
    if frame.file and frame.line:
        return f"{PurePosixPath(frame.file).name}:{frame.line}"
    if frame.module:
        return f"{frame.module}+{frame.offset:#x}"
    return f"{frame.address:#x}"


def name_of(
    stack: Stack, symbol: str | None, home: str, lines: Lines, field: FieldOf
) -> Name:
    """The name of the locks that were created, or first taken, by this stack.

    `symbol` is the global object that they are, if they are one, in module `home`;
    `field` knows types and fields by the return address of a call.
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
    """Whether this frame took the lock as a parameter, so that its caller names it."""
    if caller is None:
        return False
    if is_wrapper(step.frame):
        return True
    if step.text is None or caller.text is None or CONCRETE.search(step.text):
        return False
    return bool(CONCRETE.search(caller.text))


def _in_class(step: Step) -> str | None:
    """A member's name with its class: `mutex_` in Pool::take() is Pool::mutex_."""
    text = step.text
    if text is None or not MEMBER.fullmatch(text.lstrip("&")):
        return text
    scope = without_arguments(step.frame.function).rpartition("::")[0]
    return f"{scope}::{text.lstrip('&')}" if scope else text


def without_arguments(function: str) -> str:
    """A demangled name without its parameters and template arguments."""
    plain, depth = "", 0
    named = function.replace("operator()", "operator")
    named = named.replace("(anonymous namespace)::", "")
    for character in named.split("(")[0]:
        depth += (character == "<") - (character == ">")
        plain += character if depth == 0 and character != ">" else ""
    return plain.split(" ")[-1]  # templates' names begin with what they return


def _text(frame: Frame, lines: Lines) -> str | None:
    if not frame.file or not frame.line:
        return None
    return expression_in("\n".join(lines(frame.file, frame.line)))


def expression_in(source: str) -> str | None:
    """The lock that a call takes, in lines of source that begin with the call."""
    first_line = len(source.split("\n")[0])
    for pattern in (CALL, GUARD):
        found = pattern.search(source)
        if found and found.start() <= first_line:
            text = _first_argument(source[found.end() :])
            if text:
                return text
    called = METHOD.search(source)
    return called[1].strip() if called and called.start() <= first_line else None


def _first_argument(source: str) -> str | None:
    """The text up to the comma or parenthesis that ends an argument."""
    depth = 0
    for place, character in enumerate(source):
        if depth == 0 and character in ",)}":
            text = " ".join(source[:place].split())
            return text if 0 < len(text) <= LONGEST_EXPRESSION else None
        depth += (character in "([{") - (character in ")]}")
    return None
