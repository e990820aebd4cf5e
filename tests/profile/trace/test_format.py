# SPDX-License-Identifier: MIT
"""The numpy types of a trace match the layout that the C compiler gives trace.h."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from lock_list import ROOT

from hasp.profile.record import files
from hasp.profile.trace import format

STRUCTS = {
    "clock": format.CLOCK,
    "header": format.HEADER,
    "chunk": format.CHUNK_HEAD,
    "histogram": format.HISTOGRAM,
    "thread": format.THREAD,
    "lock": format.LOCK,
    "stack": format.STACK,
    "module": format.MODULE,
    "lock_count": format.LOCK_COUNT,
    "elision": format.ELISION,
    "site_stats": format.SITE_STATS,
    "lock_order": format.LOCK_ORDER,
    "waiter_sample": format.WAITER_SAMPLE,
    "process_sample": format.PROCESS_SAMPLE,
    "stack_weight": format.STACK_WEIGHT,
    "event": format.EVENT,
    "hold_state": format.HOLD_STATE,
    "contention": format.CONTENTION,
    "foreign_wait": format.FOREIGN_WAIT,
    "executed": format.EXECUTED,
    "delegate": format.DELEGATE,
    "server": format.SERVER,
    "between": format.BETWEEN,
}
CONSTANTS = {
    **{f"TRACE_{kind.name}": int(kind) for kind in format.ChunkKind},
    **{
        f"TRACE_{member.name}": int(member)
        for family in (
            *(format.Mode, format.End, format.Operation, format.LockKind),
            *(format.Transactions, format.Unread, format.NoCall),
            *(format.LockFlag, format.EventKind, format.OrderMode, format.Counter),
        )
        for member in family
        if family is not format.LockKind or member.name != "BARRIER"
    },
    "TRACE_VERSION": format.VERSION,
    "TRACE_CHUNK": format.CHUNK,
    "TRACE_FRAMES": format.FRAMES,
    "TRACE_HELD": format.HELD,
    "TRACE_BUCKETS": format.BUCKETS,
    "TRACE_TABLE": format.TABLE,
}
DURATIONS = [0, 31, 32, 39, 40, 63, 64, 1000, 4095, 4096, 1 << 20, 3 << 35, 1 << 60]


def layout() -> Iterator[tuple[str, int]]:
    """Return C expressions with the values that Python expects."""
    for name, dtype in STRUCTS.items():
        yield f"sizeof(struct trace_{name})", dtype.itemsize
        assert dtype.fields is not None
        for field, (kind, offset, *_) in dtype.fields.items():
            yield f"offsetof(struct trace_{name}, {field})", offset
            yield f"sizeof(((struct trace_{name} *)0)->{field})", kind.itemsize
    yield from CONSTANTS.items()
    for ticks in DURATIONS:
        yield f"trace_bucket({ticks}ull)", format.bucket_of(ticks)
    yield "sizeof(TRACE_MAGIC)", len(format.MAGIC)


def test_the_layout_matches_the_compiler(tmp_path: Path) -> None:
    expected = dict(layout())
    lines = "".join(
        f'    printf("%lld\\n", (long long)({expression}));\n'
        for expression in expected
    )
    source = tmp_path / "layout.c"
    source.write_text(
        "#include <stddef.h>\n#include <stdio.h>\n"
        f'#include "profiler/trace.h"\n\nint main(void)\n{{\n{lines}}}\n'
    )
    program = tmp_path / "layout"
    subprocess.run(["cc", f"-I{ROOT / 'src'}", "-o", program, source], check=True)
    said = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    actual = dict(zip(expected, map(int, said.split()), strict=True))
    assert actual == expected


def test_two_modules_have_the_same_version() -> None:
    """The version is written twice, because one of the modules must not load numpy."""
    assert files.VERSION == format.VERSION


def test_structs_have_no_padding() -> None:
    """A field that is added to trace.h outside the reserved space changes the sizes."""
    for name, dtype in STRUCTS.items():
        assert dtype.fields is not None
        named = sum(kind.itemsize for kind, *_ in dtype.fields.values())
        assert dtype.itemsize == named, name


def test_buckets_have_the_specified_bounds() -> None:
    edges = np.array(format.bucket_edges())
    assert len(edges) == format.BUCKETS + 1
    assert (np.diff(edges) > 0).all()
    for ticks in [*DURATIONS[:-1], *edges[:-1]]:
        bucket = format.bucket_of(int(ticks))
        assert edges[bucket] <= ticks < edges[bucket + 1]
    assert format.bucket_of(1 << 60) == format.BUCKETS - 1
