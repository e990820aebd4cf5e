# SPDX-License-Identifier: MIT
"""Damaged traces give a clear error or a profile, with little memory and time.

The damage is random but reproducible. HASP_FUZZ_SEED selects another sequence.
"""

from __future__ import annotations

import os
import random
import time
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pytest
from trace_samples import BEGIN, SECOND, Synthetic

from hasp.base.errors import HaspError
from hasp.profile.model.build import load
from hasp.profile.model.profile import Profile
from hasp.profile.model.thread_shares import owners
from hasp.profile.model.waiting import waiting
from hasp.profile.trace import format
from hasp.profile.trace.format import CHUNK, ChunkKind
from hasp.profile.trace.reader import Chunk

SEED = int(os.environ.get("HASP_FUZZ_SEED", "5"))
LOOKED_AT = 4  # elements of each sequence that are read
BASE = 0x400000
NASTY = (b"\0", b"\xff", b"\x01", b"\x7f", b"\x80")


def add_locks(made: Synthetic, stacks: list[int]) -> None:
    for number in range(200):
        stack = stacks[number % 20]
        kind = number % 5 + 1
        made.lock(address=number * 64, kind=kind, first_stack=stack, site=stack)
        made.add(ChunkKind.LOCK_COUNTS, lock=number + 1, site=stack, acquisitions=5)
        made.add(
            ChunkKind.LOCK_ORDER,
            outer=number % 9 + 1,
            inner=number * 7 % 9 + 1,
            stack=stack,
            count=1,
        )
        made.add(
            ChunkKind.WAITER_SAMPLES,
            ticks=BEGIN + number,
            lock=number + 1,
            waiters=2,
            weight=1,
        )


def add_site_stats(made: Synthetic, stacks: list[int]) -> None:
    for number in range(60):
        made.use(
            {"wait": [100, 1000], "hold": [50], "handover": [70]},
            site=stacks[number % 20],
            thread=number % 6,
            operation=number % 6 + 1,
            lock_kind=number % 5 + 1,
            acquisitions=10,
            contended=2,
            wait_ticks=1100,
            wait_most=1000,
        )


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return a trace with every kind of record, so that everything can be damaged."""
    made = Synthetic()
    for module in range(3):
        begin = BASE + module * 0x10000
        made.add(
            ChunkKind.MODULES,
            begin=begin,
            end=begin + 0x10000,
            bias=begin,
            build_id_bytes=20,
            path=f"/nowhere/module-{module}".encode(),
        )
    stacks = [made.stack(BASE + n * 0x800, BASE + 8) for n in range(20)]
    for number in range(1, 7):
        made.thread(
            tid=number,
            name=f"worker-{number}".encode(),
            ended=0 if number > 3 else BEGIN + SECOND,
            waiting_for=number if number > 3 else 0,
            waiting_to=format.Operation.LOCK,
            waiting_since=BEGIN + number,
            depth=2,
            held=[number % 6 + 1, 7],
            stack=stacks[number],
            section_ticks=1000,
        )
    add_locks(made, stacks)
    add_site_stats(made, stacks)
    made.add_many(ChunkKind.PROCESS_SAMPLES, 50, ticks=np.arange(50) + BEGIN, threads=6)
    made.add_many(ChunkKind.STACK_PROFILE, 50, lock=3, stack=4, waits=1, wait_ticks=9)
    made.add_many(ChunkKind.EVENTS, 8, kind=np.arange(8) + 1, stack=2, count=1)
    path = made.write(tmp_path_factory.mktemp("fuzz") / "good")
    assert len(load(path).sites) == 20
    return path.read_bytes()


def damaged(good: bytes, chance: random.Random) -> bytes:
    """Damage the trace in one of the ways in which files break or are forged."""
    data = bytearray(good)
    way = chance.randrange(5)
    if way == 0:
        return bytes(data[: chance.randrange(len(data))])
    if way == 1:  # damage anywhere
        for _ in range(chance.choice((1, 10, 1000))):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        return bytes(data)
    if way == 2:  # the header's numbers
        begin, length = 0, format.HEADER.itemsize - 4096 - 1024
    elif way == 3:  # the header of a chunk
        begin, length = chance.randrange(1, len(data) // CHUNK) * CHUNK, 24
    else:  # its first records
        begin = chance.randrange(1, len(data) // CHUNK) * CHUNK + 64
        length = 1000
    for _ in range(chance.choice((1, 3, 20))):
        at = begin + chance.randrange(length // 4) * 4
        data[at : at + 4] = b"".join(chance.choices(NASTY, k=4))
    return bytes(data)


def look_at(profile: Profile) -> None:
    """Access some of all the data that a report would access."""
    for site in profile.sites[:LOOKED_AT]:
        list(site.locks[:LOOKED_AT])
        for thread in list(site.threads)[:LOOKED_AT]:
            dict(site.threads[thread])
        for use in (*site.stats.values(), *([site.total] if site.total else [])):
            for part in (use.wait, use.hold, use.handover):
                assert part.quantile(0.5) is None or part.quantile(0.99) is not None
    for sequence in (
        profile.lock_order,
        profile.weights,
        profile.waiters,
        profile.process_samples,
    ):
        list(sequence[:LOOKED_AT])
    for event in profile.events:
        profile.site_of(event.lock)
    assert 0 <= profile.section_share <= 1
    waiting(profile).lines()


def check(data: bytes, path: Path) -> float:
    """Return the CPU seconds that reading took."""
    path.write_bytes(data)
    began = time.process_time()
    try:
        look_at(load(path))
    except HaspError as error:
        assert error.remedy
    return time.process_time() - began


def attack(good: bytes, path: Path, times: int) -> None:
    chance = random.Random(SEED)
    usual = max(check(good, path) for _ in range(3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for number in range(times):
            data = damaged(good, chance)
            try:
                took = check(data, path)
            except Exception as problem:
                kept = path.with_name(f"broken-{number}")
                kept.write_bytes(data)
                raise AssertionError(f"{kept} breaks the reader") from problem
            assert took < 50 * usual + 1, number


def test_damaged_traces(good: bytes, tmp_path: Path) -> None:
    attack(good, tmp_path / "trace", 100)


def test_damaged_traces_cost_little_memory(good: bytes, tmp_path: Path) -> None:
    """Each structure may take a few times its size in the file, but no more."""
    tracemalloc.start()
    try:
        attack(good, tmp_path / "trace", 8)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 40 * len(good)


def test_a_table_of_a_thread_with_an_impossible_number() -> None:
    table = Chunk(0, 0, 0, 1 << 52, np.zeros(3, format.LOCK_COUNT))
    assert owners(table).tolist() == [0, 0, 0]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_very_many_damaged_traces(good: bytes, tmp_path: Path) -> None:
    attack(good, tmp_path / "trace", 20_000)
