# SPDX-License-Identifier: MIT
"""Name the sampled locks, threads and states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from hasp.profile.attach.process import Process
from hasp.profile.attach.sampling import LockSamples, Samples
from hasp.profile.model.system_calls import SystemCalls
from hasp.profile.symbols.frame import Frame, Stack
from hasp.profile.symbols.symbolizer import Symbolizer

CALL = "call "
INTERNAL = ("libc.so", "libc-", "ld-linux", "libpthread")
SHOWN = 3  # stacks of a lock


@dataclass(frozen=True)
class Caller:
    """Approximate stacks of threads that waited or held, the innermost frame first."""

    stack: Stack
    samples: int


@dataclass(frozen=True)
class SeenLock:
    """A lock with names; shares are fractions of 1."""

    name: str
    address: int
    waited: float  # share of all samples in which a thread waited for it
    waiters: float  # mean over all samples
    most: int
    holders: Sequence[tuple[str, float]]  # threads, by share of samples with waiters
    unowned: float  # share of samples with waiters in which it had no owner
    states: Sequence[tuple[str, float]]  # of the holder, by share
    callers: Sequence[Caller]
    holder_callers: Sequence[Caller]
    is_internal: bool  # a lock inside of the C library, such as that of malloc


class Names:
    """Names the locks of a process while its memory is mapped."""

    def __init__(self, process: Process, samples: Samples, began: float) -> None:
        self._symbols = Symbolizer(process.modules(), began)
        self._calls = SystemCalls(process.machine)
        self._samples = samples

    def locks(self) -> list[SeenLock]:
        """Return the locks, those with the most waiting threads first."""
        seen = self._samples.locks.values()
        return [self._lock(one) for one in sorted(seen, key=lambda one: -one.waiters)]

    def call(self, number: int) -> str:
        """Return the name of a system call."""
        return "page fault" if number == -1 else f"{self._calls.name(number)}()"

    def _lock(self, seen: LockSamples) -> SeenLock:
        number = max(self._samples.number, 1)
        callers = self._callers(seen.callers)
        datum = self._symbols.datum(seen.address)
        module = datum.module if datum else self._symbols.modules.find(seen.address)
        return SeenLock(
            name=self._name(seen.address, callers),
            address=seen.address,
            waited=seen.samples / number,
            waiters=seen.waiters / number,
            most=seen.most,
            holders=_shares(
                Counter({self.thread(t): n for t, n in seen.holders.items()}),
                seen.samples,
            ),
            unowned=seen.unowned / seen.samples,
            states=_shares(
                Counter({self._state(s): n for s, n in seen.states.items()}),
                sum(seen.states.values()),
            ),
            callers=callers,
            holder_callers=self._callers(seen.holder_callers),
            is_internal=module is not None and module.name.startswith(INTERNAL),
        )

    def thread(self, tid: int) -> str:
        """Return a thread's name and id."""
        seen = self._samples.threads.get(tid)
        return f"{seen.name} ({tid})" if seen and seen.name else str(tid)

    def _state(self, state: str) -> str:
        if state.startswith(CALL):
            return f"blocked in {self.call(int(state.removeprefix(CALL)))}"
        return state

    def _callers(self, stacks: Counter[tuple[int, ...]]) -> tuple[Caller, ...]:
        return tuple(
            Caller(self._symbols.stack(list(stack)), number)
            for stack, number in stacks.most_common(SHOWN)
            if stack
        )

    def _name(self, address: int, callers: Sequence[Caller]) -> str:
        datum = self._symbols.datum(address)
        if datum:
            offset = f"+{datum.offset}" if datum.offset else ""
            return f"{datum.module.name} {datum.symbol}{offset}"
        module = self._symbols.modules.find(address)
        where = f"{module.name}+{module.offset(address):#x}" if module else ""
        where = where or f"lock {address:#x}"
        if callers:
            return f"{where}, taken at {place(callers[0].stack[0])}"
        return where


def place(frame: Frame) -> str:
    """Return a frame as "db.c:31 in db_put", or what is known about it."""
    if frame.file and frame.line:
        return f"{frame.file.rpartition('/')[2]}:{frame.line} in {frame.function}"
    where = f"{frame.module}+{frame.offset:#x}"
    return f"{where} in {frame.function}" if frame.function else where


def _shares(counts: Counter[str], whole: int) -> tuple[tuple[str, float], ...]:
    return tuple(
        (name, number / max(whole, 1)) for name, number in counts.most_common()
    )
