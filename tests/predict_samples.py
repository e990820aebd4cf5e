# SPDX-License-Identifier: MIT
"""Loads of programs for tests of `hasp predict`: as traces, and without a recording."""

from __future__ import annotations

from trace_samples import BEGIN, SECOND, Synthetic

from hasp.predict.load import CONSTANT, Load, LoadSite, Role, Shape
from hasp.profile.trace import format
from hasp.profile.trace.format import ChunkKind

BASE = 0x400000
GAP, OUTER, INNER = 9000, 800, 200  # ns
EACH = SECOND // (GAP + OUTER + INNER)  # sections of each thread
WORKERS = 3

# A machine of two CPUs.
SMALL = """
schema = 1
title = "two cores"
sources = { MINE = "a test" }
clock = { source = "MINE", mhz = 2000 }
topology = { source = "MINE", sockets = 1, dies = 1, cores = 2 }
latency = { source = "MINE", same_die = 60 }
local = { source = "MINE", l1 = 4, l2 = 12, llc = 40, ram = 250 }
"""


def synthetic(workers: int = WORKERS, cpu: int = SECOND) -> Synthetic:
    """Return a program: workers hold one lock, and inside it, sometimes, a second.

    Half of the outer sections contain an inner one of 400 ns. The main thread waits for
    the workers.
    """
    trace = Synthetic()
    trace.add(
        *(ChunkKind.MODULES,),
        begin=BASE,
        end=BASE + 0x10000,
        bias=BASE,
        path=b"/nowhere/server",
    )
    stacks = [trace.stack(BASE + at, BASE + 0x900) for at in (0x100, 0x200)]
    trace.thread(tid=1, name=b"server", cpu_ns=1000)
    sums = (EACH * workers, EACH * workers // 2)
    for number, (stack, count) in enumerate(zip(stacks, sums, strict=True), 1):
        hold = (OUTER + INNER, 2 * INNER)[number - 1]
        trace.lock(
            address=number * 64, created_stack=stack, site=stack, acquisitions=count
        )
        trace.add(
            ChunkKind.LOCK_COUNTS,
            lock=number,
            site=stack,
            acquisitions=count,
            hold_ticks=count * hold,
        )
    for index in range(workers):
        thread = trace.thread(
            tid=2 + index,
            name=f"worker-{index}".encode(),
            cpu_ns=cpu,
            voluntary=0,
            involuntary=50 * (cpu < SECOND),
        )
        uses = ((OUTER + INNER, EACH, 0), (2 * INNER, EACH // 2, EACH // 2))
        for stack, (hold, count, nested) in zip(stacks, uses, strict=True):
            trace.use(
                {"hold": [hold] * 50},
                site=stack,
                thread=thread,
                acquisitions=count,
                hold_ticks=count * hold,
                hold_most=hold,
                timed=50,
                nested=nested,
            )
    trace.add(
        ChunkKind.LOCK_ORDER,
        outer=1,
        inner=2,
        stack=stacks[1],
        thread=2,
        count=EACH * workers // 2,
        modes=format.OrderMode.BOTH_ALONE,
    )
    assert trace.header["begin"]["ticks"] == BEGIN
    return trace


def pool(waiting: int) -> Synthetic:
    """Return a main thread and one of a pool, which use their locks equally.

    The one of the pool waits for work on a condition variable, for that time in all.
    """
    made = synthetic(workers=2)
    made.header["pid"] = 2
    *_, main, worker = made.records[ChunkKind.THREADS]
    main["name"] = worker["name"] = b"server"
    worker["idle_ticks"], worker["cpu_ns"] = waiting, SECOND - waiting
    stack = made.stack(BASE + 0x300, BASE + 0x900)
    made.lock(address=640, site=stack, kind=format.LockKind.CONDITION)
    made.use(
        site=stack,
        thread=3,
        operation=format.Operation.WAIT,
        lock_kind=format.LockKind.CONDITION,
        acquisitions=50,
        wait_ticks=waiting,
    )
    return made


def site(number: int = 1, *, shape: Shape = CONSTANT, **fields: object) -> LoadSite:
    """Return a site with one mutex whose sections write one cache line."""
    known = {
        "number": number,
        "name": f"log.c:{number} &mu",
        "rwlock": False,
        "locks": 1,
        "weights": (1,),
        "tail": 0,
        "shape": shape,
        "hold_ns": 1000.0,
        "misses": 1.0,
    }
    return LoadSite(**{**known, **fields})  # type: ignore[arg-type]


def closed(gap_ns: float, hold_ns: float, shape: Shape = CONSTANT) -> Load:
    """Return threads that alternate between work and one lock."""
    only = site(shape=shape, hold_ns=hold_ns)
    rate = 1 / (gap_ns + hold_ns)
    role = Role("w", 1, True, gap_ns, ((0, 1.0),), (hold_ns,), (0.0,), rate)
    return Load((only,), (role,))
