# SPDX-License-Identifier: MIT
"""The catalogue of algorithms for other primitives than mutexes.

Each kind has a page with the table of its list, and a page for each algorithm.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import executor_figures
import goal_table
import lock_header
from lock_data import Data
from lock_pages import (
    GENERATED,
    Lock,
    number,
    overtaken,
    page,
    summary,
    wrapper_page,
)
from page_kinds import EXECUTOR, OTHERS, PageKind, label
from page_markdown import markdown, sentence, table

HEADS = {
    "rwlock": """\
# Reader-writer locks

`hasp run --rwlock NAME` puts one of these in the place of glibc's `pthread_rwlock_t`.
They are stored inside the 56 bytes of that type. Each supports read and write lock,
trylock and timed lock, both kinds of preference, recursive readers, fork and
cancellation, and returns `EDEADLK` to a writer that locks again and to a reader that
wants to write. A lock that is shared between processes stays glibc's. OpenSSL, Kyoto
Cabinet and the resolver unbound are tested under each (`tests/real`).

- **Overtaken**: how often other threads may enter before a waiting writer does.
- **Bytes**: the bytes of state inside `pthread_rwlock_t`, and the bytes outside, from
  the first contention (`rw-ticket`, `phase-fair`: the first wait with a deadline) until
  the lock is destroyed, on one NUMA node. Each thread that reads has a record of 128
  bytes besides.
- **Pair**: time of an uncontended read lock and unlock, and of a write lock and unlock,
  in a process with several threads, relative to glibc's; `-` if it was not measured.

How they scale is [simulated](rwlock-scaling.md), and `hasp bench rwlocks`
[measures](hasp-bench-rwlocks.md) them here. [Kyoto Cabinet](cases/kyoto.md) goes from a
profile to a plan that names one of them.

One published algorithm is left out, the passive lock of Liu, Zhang and Chen (USENIX ATC
2014). Its readers report the version of the lock that they have seen, which is sound
only where stores become visible in order (TSO), and its writers interrupt the CPUs that
do not report. Hasp calls `membarrier` instead, on all machines: one call replaces both
the reports and the interrupts, and the rest of the algorithm, readers that enter
without writing to the lock, is `bravo+LOCK`. One thing is lost: after a write, the
readers of `bravo+LOCK` use LOCK for a while; those of the passive lock do not. With a
write now and then, it may be faster; for such loads, the list has `c-rw-wp`.

`elide+rw-futex` and `elide+rw-ttas` run sections as
[hardware transactions](elision.md#reader-writer-locks).

A lock that was never contended needs no memory outside `pthread_rwlock_t`. Those of
`c-rw-*` and `mutex:LOCK` are one word until then: the first thread that has to wait, or
that meets another one at the word, *inflates* the lock, for good. An inflated `c-rw-*`
has 384 bytes outside, and more on several NUMA nodes; a `mutex:LOCK` has 128 bytes and
those of the mutex. There are a million blocks of 128 bytes: a program with over 349,000
contended locks of `c-rw-*` ends with a message.

The waiters of `mutex:mcs` spin, so thousands of threads on few CPUs need seconds with
it. Those of `mutex:mcs-park` sleep.
""",
    "spinlock": """\
# Spin locks

`hasp run --spinlock NAME` puts one of these in the place of glibc's
`pthread_spin_lock`, for all spin locks of the process: the 4 bytes of a
`pthread_spinlock_t` have no space for an algorithm of its own. Locks that are shared
between processes stay correct also if another process runs without Hasp.

- **Overtaken**: how often later arrivals may acquire the lock before a waiting thread.
- **Pair**: time of an uncontended lock and unlock in a process with several threads,
  relative to glibc's; `-` if it was not measured.

The [goals](rwlocks.md#goals) of spin locks stand with those of reader-writer locks.
""",
    "barrier": """\
# Barriers

`hasp run --barrier NAME` puts one of these in the place of glibc's
`pthread_barrier_t`, which sleeps at every phase. All spin for as long as a sleep and
wake-up would take, then sleep. A barrier may be destroyed or unmapped as soon as one
thread has left its last phase, and any threads may take part in a phase. A barrier that
is shared between processes stays glibc's.

- **Bytes**: the bytes inside `pthread_barrier_t`; and the bytes outside until it is
  destroyed, and for each thread that it waits for.
- **Phase**: time of a phase with two threads and with eight, relative to glibc's; `-`
  if it was not measured.

`hasp bench barriers` [measures](hasp-bench-rwlocks.md) them here. The
[goals](rwlocks.md#goals) of barriers stand with those of reader-writer locks.
""",
    "executor": """\
# Executors

`hasp_delegate_init(&object, NAME)` chooses one of these for an object of
[`hasp/delegate.h`](../include/hasp/delegate.h): it decides which thread executes the
object's sections. `lock:NAME` executes each section in its caller, under a
[lock](locks.md). [Delegation](delegation.md) says which one when.

- **Bytes**: the bytes of an object, and of a request. Requests come from a pool; each
  thread needs one while it calls.
- **Simulated**: throughput with one line, and with five, relative to the best lock's,
  with 48 threads on the 48 cores of an Opteron.
- **Measured**: throughput on two CPUs under contention, with one line, and with five,
  relative to glibc's mutex; `-` if it was not measured.
""",
}
# The cases whose ratios the table shows.
MEASURED = {
    "rwlock": (("read_pair", 2), ("write_pair", 2)),
    "spinlock": (("spin_pair", 2),),
    "barrier": (("barrier", 2), ("barrier", 8)),
}


@dataclass(frozen=True)
class Wrapper:
    """A wrapper of other algorithms: its page, its header, and what the list lacks."""

    name: str
    file: str  # of the page; a colon is not portable
    header: Path
    summary: str
    source: str
    category: str


WRAPPERS = {
    "rwlock": (
        Wrapper(
            "bravo+LOCK",
            "bravo+LOCK.md",
            Path("src/rwlocks/algorithms/bravo.h"),
            "any reader-writer lock, whose readers enter without writing to it",
            "Dice and Kogan, USENIX ATC 2019",
            "reader bias",
        ),
        Wrapper(
            "mutex:LOCK",
            "mutex-LOCK.md",
            Path("src/rwlocks/algorithms/rw_mutex.h"),
            "any mutex, which readers take, too",
            "Guiroux, Lachaize and Quéma, USENIX ATC 2016",
            "mutex",
        ),
    )
}


def pages(root: Path, listed: list[Lock], data: Data) -> dict[Path, str]:
    """Return the text of all pages of each kind whose list exists."""
    found: dict[Path, str] = {}
    for kind in OTHERS:
        if (root / kind.listing).exists():
            locks = [lock for lock in listed if lock.get("kind") == kind.kind]
            index = "\n".join(_index(kind, locks, data))
            if kind.kind == "rwlock":
                index += "\n" + "\n".join(goal_table.goals(data))
            found[kind.index] = index.rstrip("\n") + "\n"
            found |= _pages_of_locks(root, kind, locks, data)
            found |= _pages_of_wrappers(root, kind, data)
    return found


def page_of(lock: Lock, kind: PageKind) -> str:
    """Return the name of the file with the page of a lock, wrapped or not."""
    for wrapper in WRAPPERS.get(kind.kind, ()):
        if lock["name"].startswith(wrapper.name.removesuffix("LOCK")):
            return wrapper.file
    return f"{lock['name']}.md"


def _pages_of_locks(
    root: Path, kind: PageKind, locks: list[Lock], data: Data
) -> dict[Path, str]:
    entries = lock_header.entries_of_list(root, kind.listing, kind.macro)
    names = {lock["name"] for lock in locks}
    found: dict[Path, str] = {}
    for lock in locks:
        entry = entries.get(lock["name"])
        if entry is None and lock["index"]:
            continue  # a wrapped default: the wrapper has a page
        siblings = [
            name
            for name, other in entries.items()
            if entry and other.header == entry.header and name != lock["name"]
        ]
        head = lock_header.parse(root, entry.header) if entry else None
        text = page(lock, entry, head, siblings, data, names)
        found[kind.folder / page_of(lock, kind)] = text
    return found


def _pages_of_wrappers(root: Path, kind: PageKind, data: Data) -> dict[Path, str]:
    found: dict[Path, str] = {}
    for wrapper in WRAPPERS.get(kind.kind, ()):
        if (root / wrapper.header).exists():
            lock = {**vars(wrapper), "kind": kind.kind}
            head = lock_header.parse(root, wrapper.header)
            text = wrapper_page(lock, wrapper.header, head, data)
            found[kind.folder / wrapper.file] = text
    return found


def _index(kind: PageKind, locks: list[Lock], data: Data) -> Iterator[str]:
    yield GENERATED
    yield HEADS[kind.kind]
    if kind is EXECUTOR:
        yield from executor_figures.index(locks, data)
        return
    headings = ["name", "what it is", "family", "waiting"]
    headings += [] if kind.kind == "barrier" else ["overtaken"]
    headings += ["bytes", "phase" if kind.kind == "barrier" else "pair"]
    names = {lock["name"] for lock in locks}
    rows = [_row(kind, lock, data, names) for lock in locks]
    for wrapper in WRAPPERS.get(kind.kind, ()):
        link = f"[`{wrapper.name}`]({kind.folder.name}/{wrapper.file})"
        dashes = ["-"] * (len(headings) - 3)
        rows.append([link, sentence(wrapper.summary), wrapper.category, *dashes])
    yield from table(headings, rows)


def _row(kind: PageKind, lock: Lock, data: Data, names: set[str]) -> list[str]:
    name = f"[`{lock['name']}`]({kind.folder.name}/{page_of(lock, kind)})"
    outside = str(lock["outside_bytes"] + lock["node_bytes"])
    if kind.kind == "barrier":
        outside += f" + {lock['waiter_bytes']} a thread"
    size = (
        str(lock["bytes"])
        if kind.kind == "spinlock"
        else f"{lock['bytes']} + {outside}"
    )
    words = summary(lock, names)
    if lock["caution"]:
        words += " Caution: " + sentence(lock["caution"])
    cells = [
        name + (" (default)" if lock["default"] else ""),
        markdown(words),
        lock["category"],
        lock["waiting"] + (", NUMA" if lock["numa"] else ""),
    ]
    cells += [] if kind.kind == "barrier" else [overtaken(lock)]
    return [*cells, size if lock["index"] else "-", _ratios(kind, lock, data)]


def _ratios(kind: PageKind, lock: Lock, data: Data) -> str:
    ratios = {
        (record["case"], record["threads"]): record.get("ratio_to_glibc")
        for record in data.bench.get(label(lock, lock["name"]), [])
    }
    cells = [number(ratios.get(case)) for case in MEASURED[kind.kind]]
    return "-" if set(cells) == {"-"} else ", ".join(cells)
