# SPDX-License-Identifier: MIT
"""The layout of a trace: src/profiler/trace.h as numpy types.

The names are those of the header, which documents each field. A test compares every
offset and every constant with the C compiler's values.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag
from typing import Any

import numpy as np
from numpy.typing import NDArray

Records = NDArray[np.void]  # an array of one of the structs below

MAGIC = b"hasptrc\0"
VERSION = 2
CHUNK = 1 << 16
BYTE_ORDER = 0x01020304
FRAMES = 14
HELD = 12
BUCKETS = 128
TABLE = 1 << 12  # bytes


class ChunkKind(IntEnum):
    """enum trace_kind."""

    FREE = 0
    THREADS = 1
    LOCKS = 2
    STACKS = 3
    MODULES = 4
    LOCK_COUNTS = 5
    SITE_STATS = 6
    LOCK_ORDER = 7
    WAITER_SAMPLES = 8
    PROCESS_SAMPLES = 9
    STACK_PROFILE = 10
    EVENTS = 11
    HOLD_STATES = 12
    CONTENTION = 13
    FOREIGN_WAITS = 14
    EXECUTED = 15
    DELEGATES = 16
    SERVERS = 17
    BETWEEN = 18


class Mode(IntEnum):
    """enum trace_mode."""

    FULL = 1
    SAMPLED = 2


class End(IntEnum):
    """enum trace_end."""

    RUNNING = 0
    EXITED = 1
    REPLACED = 2


class Counter(IntEnum):
    """enum trace_counter."""

    CACHE_MISSES = 1
    LAST_LEVEL_MISSES = 2
    PAGE_FAULTS = 3


class Transactions(IntEnum):
    """enum trace_transactions."""

    NO_TRANSACTIONS = 0
    PROCESSOR_TRANSACTIONS = 1
    SCRIPTED_TRANSACTIONS = 2
    UNDONE_TRANSACTIONS = 3


class Unread(IntFlag):
    """enum trace_unread."""

    NO_STATES = 1
    NO_CALLS = 2


class NoCall(IntEnum):
    """enum trace_no_call."""

    CALL_UNKNOWN = -2
    CALL_NONE = -1


class Operation(IntEnum):
    """enum trace_operation."""

    IDLE = 0
    LOCK = 1
    READ = 2
    WRITE = 3
    WAIT = 4
    BARRIER = 5
    RELOCK = 6


class LockKind(IntEnum):
    """enum trace_lock_kind."""

    MUTEX = 1
    RWLOCK = 2
    SPINLOCK = 3
    CONDITION = 4
    BARRIER_OBJECT = 5


class LockFlag(IntFlag):
    """enum trace_lock_flags."""

    RECURSIVE = 1
    ERRORCHECK = 2
    SHARED = 4
    ROBUST = 8
    PRIORITY = 16
    STATIC = 32
    WRITERS_FIRST = 64


class OrderMode(IntFlag):
    """enum trace_order_modes."""

    BOTH_ALONE = 1
    INNER_READ = 2
    OUTER_READ = 4
    BOTH_READ = 8


class EventKind(IntEnum):
    """enum trace_event_kind."""

    SELF_DEADLOCK = 1
    FOREIGN_UNLOCK = 2
    UNLOCK_REFUSED = 3
    DESTROYED_HELD = 4
    INITIALISED_HELD = 5
    EXITED_HOLDING = 6
    HELD_AT_EXIT = 7
    DESTROYED_WAITED = 8
    RELOCK_REFUSED = 9


def _struct(*fields: tuple[Any, str]) -> np.dtype[np.void]:
    """Return a struct's type; a field is (type, names), with names like `name[8]`."""
    listed: list[Any] = []
    for kind, names in fields:
        for name in names.split():
            name, _, length = name.rstrip("]").partition("[")
            listed.append((name, kind, int(length)) if length else (name, kind))
    return np.dtype(listed, align=True)


_16, _32, _64 = np.uint16, np.uint32, np.uint64

CLOCK = _struct((_64, "ticks monotonic_ns wall_ns"))
HEADER = _struct(
    ("S8", "magic"),
    (_32, "version byte_order chunk_bytes chunks"),
    (_64, "bytes_limit session"),
    (_32, "pid parent_pid cpus nodes mode sample_of sampler_hz ended"),
    (CLOCK, "begin latest"),
    (_64, "counted_cost_ps timed_cost_ps stack_cost_ps"),
    (_64, "lost_locks lost_lock_counts lost_site_stats lost_stacks"),
    (_64, "lost_lock_order lost_others"),
    (_64, "locks_created locks_destroyed"),
    (_32, "full stopped_by"),
    (_64, "samples sampler_ns"),
    (_32, "counter counter_error"),
    (_32, "machine unread"),
    (_64, "tasks_inspected"),
    (_32, "executed_error executed_hz"),
    (_64, "windowed skipped_ns"),
    ("S64", "other_locks"),
    ("S64", "lock"),
    ("V4096", "command"),
    ("S1024", "executable"),
    ("S16", "neighbour"),
    (_64, "neighbour_percent"),
    (_64, "transactions pair_cost_ps"),
    ("S128", "processor"),
)
CHUNK_HEAD = _struct(
    (_32, "kind record_bytes first used writer follow"), (_64, "owner reserved[4]")
)
HISTOGRAM = _struct((_32, f"bucket[{BUCKETS}]"))
THREAD = _struct(
    (_32, "tid reused"),
    ("S16", "name"),
    (_64, "began ended"),
    (_32, "waiting_for waiting_to"),
    (_64, "waiting_since"),
    (_32, f"depth held[{HELD}] stack"),
    (_64, "section_ticks wait_ticks idle_ticks counted timed stacks cpu_ns"),
    (_64, "voluntary involuntary minor_faults major_faults migrations"),
    (_64, "preempted_holds long_holds lock_counts earlier_ticks"),
    (_64, "overhead_ticks holding_since"),
    (_32, "holding_timed unseen_for"),
    (_64, "unseen_since inner_since"),
    (_32, "outer_stack inner_stack"),
    (_64, "user_ns system_ns"),
)
LOCK = _struct(
    (_64, "address"),
    (_32, "kind flags created_stack first_stack site creations"),
    (_64, "born died"),
    (_32, "creator bytes"),
    (_64, "acquisitions contended wait_ticks hold_ticks"),
    (_64, "owner_changes node_changes reserved[4]"),
)
STACK = _struct((_32, "depth hash"), (_64, f"frame[{FRAMES}]"))
MODULE = _struct(
    (_64, "begin end bias"),
    (_32, "build_id_bytes"),
    (np.uint8, "build_id[20]"),
    ("S208", "path"),
)
LOCK_COUNT = _struct(
    (_64, "address"),
    (_32, "lock site"),
    (_64, "acquisitions"),
    (_32, "contended timed"),
    (_64, "wait_ticks hold_ticks"),
    (_32, "owner_changes node_changes"),
    (_64, "private"),
)
ELISION = _struct(
    (_64, "begins commits aborts[8] nested_aborts committed_after[8] levels[8]"),
    (_64, "elided skipped guarded busy fallbacks"),
    (_64, "wait_ticks abort_ticks commit_ticks fallback_ticks spent_ticks"),
)
SITE_STATS = _struct(
    (_32, "thread site operation lock_kind"),
    (_64, "acquisitions contended wait_ticks wait_most hold_ticks hold_most timed"),
    (_64, "handovers handover_ticks handover_most"),
    (_64, "trylocks trylock_failures longest_failing_run timeouts"),
    (_64, "signals broadcasts owner_changes node_changes"),
    (_64, "samples_spinning samples_parked nested"),
    (_64, "cache_misses counted_sections unseen_waits unseen_wait_ticks trying_ticks"),
    (_64, "woken_by_signal woken_by_broadcast empty_signals futile_wakes taking_ticks"),
    (HISTOGRAM, "wait hold handover"),
    (ELISION, "elision"),
)
LOCK_ORDER = _struct(
    (_32, "outer inner stack thread"),
    (_64, "count"),
    (_32, "by_try modes gate reserved"),
)
WAITER_SAMPLE = _struct(
    (_64, "ticks"),
    (_32, "lock"),
    (_16, "waiters spinning inspected weight"),
    (_32, "holder"),
    (_16, "holders_on_cpu holders_off_cpu"),
    (_32, "reserved"),
)
PROCESS_SAMPLE = _struct(
    (_64, "ticks"),
    (_32, "threads waiting runnable weight"),
    (_64, "cpu_ns system_ns minor_faults major_faults voluntary involuntary"),
    (_64, "locks_created locks_destroyed idle_ns"),
    (_32, "machine_cpus reserved"),
)
STACK_WEIGHT = _struct((_32, "lock stack"), (_64, "waits wait_ticks holds hold_ticks"))
EVENT = _struct((_64, "ticks"), (_32, "kind thread lock other stack count"))
HOLD_STATE = _struct(
    (_32, "lock state on_cpu"),
    (np.int32, "call"),
    (_32, "awaits stack"),
    (_64, "waited alone"),
)
CONTENTION = _struct(
    (_32, "lock reserved"),
    (_64, "samples reads_for_reads reads_for_writes writes_for_reads"),
    (_64, "writes_for_writes for_unknown overtaken retaken"),
)
FOREIGN_WAIT = _struct((_32, "stack reserved"), (_64, "samples brief"))
EXECUTED = _struct((_64, "address"), (_32, "lock stack"), (_64, "samples"))
DELEGATE = _struct(
    (_64, "address"),
    ("S32", "executor"),
    (_32, "created_stack site server creations"),
    (_64, "born died sections held_sections holds held_most"),
    (_64, "contexts context_bytes context_most"),
    (_64, "wait_ticks wait_most service_ticks service_most"),
    (HISTOGRAM, "wait service"),
)
SERVER = _struct(
    ("S32", "executor"),
    (_32, "number reserved"),
    (_64, "sections rounds lines serialised replaced"),
)
BETWEEN = _struct(
    (_32, "thread reserved"), (_64, "timed between_ticks"), (HISTOGRAM, "between")
)

RECORDS: dict[ChunkKind, np.dtype[np.void]] = {
    ChunkKind.THREADS: THREAD,
    ChunkKind.LOCKS: LOCK,
    ChunkKind.STACKS: STACK,
    ChunkKind.MODULES: MODULE,
    ChunkKind.LOCK_COUNTS: LOCK_COUNT,
    ChunkKind.SITE_STATS: SITE_STATS,
    ChunkKind.WAITER_SAMPLES: WAITER_SAMPLE.fields["holders_on_cpu"][1],  # type: ignore[index, dict-item]
    ChunkKind.LOCK_ORDER: LOCK_ORDER,
    ChunkKind.WAITER_SAMPLES: WAITER_SAMPLE,
    ChunkKind.PROCESS_SAMPLES: PROCESS_SAMPLE,
    ChunkKind.STACK_PROFILE: STACK_WEIGHT,
    ChunkKind.EVENTS: EVENT,
    ChunkKind.HOLD_STATES: HOLD_STATE,
    ChunkKind.CONTENTION: CONTENTION,
    ChunkKind.FOREIGN_WAITS: FOREIGN_WAIT,
    ChunkKind.EXECUTED: EXECUTED,
    ChunkKind.DELEGATES: DELEGATE,
    ChunkKind.SERVERS: SERVER,
    ChunkKind.BETWEEN: BETWEEN,
}
# Sizes in bytes of records that have grown since version 1.
SMALLER = {
    ChunkKind.THREADS: THREAD.fields["outer_stack"][1],  # type: ignore[index]
    ChunkKind.SITE_STATS: SITE_STATS.fields["elision"][1],  # type: ignore[index]
    ChunkKind.LOCK_ORDER: LOCK_ORDER.fields["gate"][1],  # type: ignore[index]
    ChunkKind.WAITER_SAMPLES: WAITER_SAMPLE.fields["holders_on_cpu"][1],  # type: ignore[index]
    ChunkKind.PROCESS_SAMPLES: PROCESS_SAMPLE.fields["idle_ns"][1],  # type: ignore[index]
}


def bucket_edges() -> tuple[int, ...]:
    """Return the edges of a histogram's buckets in ticks, the last upper edge too."""
    octaves = ((1 << (5 + k)) // 4 * (4 + q) for k in range(32) for q in range(4))
    return (0, *octaves)[: BUCKETS + 1]


def bucket_of(ticks: int) -> int:
    """Return the bucket that counts a duration, as trace_bucket() does."""
    if ticks < 32:
        return 0
    octave = ticks.bit_length() - 1
    quarter = ticks >> (octave - 2) & 3
    return min(1 + 4 * (octave - 5) + quarter, BUCKETS - 1)
