# SPDX-License-Identifier: MIT
"""States of holders in synthetic traces."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from trace_samples import Synthetic

from hasp.profile.model.build import load
from hasp.profile.model.holding import HolderState
from hasp.profile.model.profile import Profile, Site
from hasp.profile.trace.format import ChunkKind, LockKind, NoCall, Unread

BASE, LIBRARY, HASP = 0x400000, 0x800000, 0xC00000
X86_64, FUTEX, READ, MMAP, SLEEP, UNKNOWN = 62, 202, 0, 9, 230, 9999


class Program(Synthetic):
    """A program with one lock, the C library and Hasp's locks."""

    def __init__(self) -> None:
        super().__init__()
        self.header["machine"] = X86_64
        self.header["executed_hz"] = 4000
        self.header["sampler_hz"] = 100
        for begin, path in (
            (BASE, b"/nowhere/server"),
            (LIBRARY, b"/nowhere/libc.so.6"),
            (HASP, b"/nowhere/libhasp.so"),
        ):
            end = begin + 0x1000
            self.add(ChunkKind.MODULES, begin=begin, end=end, bias=begin, path=path)
        self.thread(tid=1)
        self.origin = self.stack(BASE + 0x10)
        self.made = self.lock(address=1, site=self.origin, first_stack=self.origin)
        self.use(site=self.origin, acquisitions=10)

    def seen(self, letter: str, number: int, waited: int = 1, **fields: int) -> None:
        self.add(
            ChunkKind.HOLD_STATES,
            lock=self.made,
            state=ord(letter),
            call=number,
            waited=waited,
            **fields,
        )


@pytest.fixture
def program() -> Program:
    return Program()


def read(program: Program, path: Path) -> tuple[Profile, Site]:
    profile = load(program.write(path / "hasp.trace"))
    return profile, profile.sites[0]


CASES = {
    "a system call": ("S", READ, HolderState.IO, "read"),
    "an unknown system call": ("S", UNKNOWN, HolderState.IO, "system call 9999"),
    "sleep": ("S", SLEEP, HolderState.ASLEEP, "clock_nanosleep"),
    "a page fault": ("D", NoCall.CALL_NONE, HolderState.FAULT, None),
    "a memory call": ("D", MMAP, HolderState.FAULT, "mmap"),
    "disk sleep": ("D", NoCall.CALL_UNKNOWN, HolderState.IO, None),
    "a futex": ("S", FUTEX, HolderState.FUTEX, "futex"),
    "ready": ("R", NoCall.CALL_UNKNOWN, HolderState.READY, None),
}


@pytest.mark.parametrize("case", CASES)
def test_states(case: str, program: Program, tmp_path: Path) -> None:
    letter, number, state, call = CASES[case]
    program.seen(letter, number)
    _, site = read(program, tmp_path)
    assert site.holding
    assert [(one.state, one.call) for one in site.holding.states] == [(state, call)]


def test_running(program: Program, tmp_path: Path) -> None:
    program.seen("R", NoCall.CALL_UNKNOWN, waited=3, on_cpu=1)
    program.seen("S", READ)
    _, site = read(program, tmp_path)
    assert site.holding and site.holding.samples == 4
    assert site.holding.share(HolderState.RUNNING) == 0.75
    assert site.long_holding is None


def test_a_holder_that_waits_in_a_lock_of_hasp(
    program: Program, tmp_path: Path
) -> None:
    program.seen("S", FUTEX, stack=program.stack(HASP + 0x20, BASE + 0x30))
    _, site = read(program, tmp_path)
    assert site.holding and site.holding.states[0].state is HolderState.LOCK


def test_a_holder_that_waits_for_a_lock_or_an_event(
    program: Program, tmp_path: Path
) -> None:
    inner = program.lock(address=99, site=program.origin)
    other = program.stack(BASE + 0x70)
    event = program.lock(address=200, kind=LockKind.CONDITION, site=other)
    program.seen("S", FUTEX, waited=2, awaits=inner)
    program.seen("S", FUTEX, awaits=event)
    profile, site = read(program, tmp_path)
    assert site.holding
    states = [(one.state, one.waits_for) for one in site.holding.states]
    condition = profile.site_of(event)
    assert condition
    assert states == [
        (HolderState.LOCK, site.number),
        (HolderState.EVENT, condition.number),
    ]


def test_a_thread_that_was_waking_up_does_not_count(
    program: Program, tmp_path: Path
) -> None:
    program.seen("S", NoCall.CALL_UNKNOWN)
    assert read(program, tmp_path)[1].holding is None


def test_hidden_system_calls(program: Program, tmp_path: Path) -> None:
    program.header["unread"] = Unread.NO_CALLS
    program.seen("S", NoCall.CALL_UNKNOWN)
    profile, site = read(program, tmp_path)
    assert profile.holding_absent and "system calls" in profile.holding_absent
    assert site.holding and site.holding.states[0].state is HolderState.OTHER


def test_a_trace_of_the_first_version(program: Program, tmp_path: Path) -> None:
    program.header["version"] = 1
    profile, site = read(program, tmp_path)
    for reason in (
        profile.holding_absent,
        profile.functions_absent,
        profile.foreign_absent,
    ):
        assert reason and "version" in reason
    assert site.holding is None and site.fairness is None


def test_forbidden_perf_events(program: Program, tmp_path: Path) -> None:
    program.header["executed_error"] = errno.EACCES
    profile, _ = read(program, tmp_path)
    assert profile.functions_absent and "paranoid" in profile.functions_absent
