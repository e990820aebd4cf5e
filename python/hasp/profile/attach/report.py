# SPDX-License-Identifier: MIT
"""The report of a sampled process: text, and the schema hasp.attach/1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hasp.base.output import console
from hasp.profile.attach.naming import Caller, Names, SeenLock, place
from hasp.profile.attach.process import Process
from hasp.profile.attach.sampling import Samples, ThreadSamples
from hasp.profile.report.layout import print_table
from hasp.profile.report.text import say
from hasp.profile.report.words import few, plural, share, time

SCHEMA = "hasp.attach/1"
ROWS = 10
NOTABLE = 0.05  # mean waiting threads, below which no lock is called a bottleneck
FEW = 50  # samples, below which shares are rough
HEADINGS = ("lock", "waited\nfor", "mean\nwaiters", "most", "holder on\nCPU")
LIMITS = (
    "Seen: threads that were blocked in the kernel when sampled. Not seen: uncontended "
    "acquisitions, times of holds and waits, waiting threads that spin, rwlocks. For "
    "these, start the program with `hasp profile -- COMMAND`."
)


def sentence(samples: Samples, locks: Sequence[SeenLock]) -> str:
    """Return the verdict, limited to what was seen."""
    threads = len(samples.threads)
    if not samples.number:
        return "nothing was seen: the process ended at once"
    if not locks or locks[0].waiters < NOTABLE:
        seen = f"{plural(threads, 'thread')}, {plural(samples.number, 'sample')}"
        return f"no mutex with many waiting threads was seen ({seen})"
    first = locks[0]
    waiting = f"on average {few(first.waiters)} of {plural(threads, 'thread')}"
    said = f"{waiting} wait for {first.name}"
    if first.is_internal:
        said += ", a lock inside of the C library, such as that of malloc"
    if first.states:
        state, part = first.states[0]
        said += f"; its holder is {state} in {share(part, ' ')} of the samples"
        if first.holder_callers and state.startswith("blocked"):
            said += f" ({place(first.holder_callers[0].stack[0])})"
    return said


def document(process: Process, samples: Samples, names: Names) -> dict[str, Any]:
    """Return the report as an object of the schema hasp.attach/1."""
    locks = names.locks()
    return {
        "schema": SCHEMA,
        "verdict": sentence(samples, locks),
        "pid": process.pid,
        "command": process.command,
        "samples": samples.number,
        "seconds": samples.seconds,
        "process_ended": samples.ended,
        "locks": [_lock(one) for one in locks],
        "threads": [_thread(one, names) for one in _busiest(samples)],
    }


def _lock(one: SeenLock) -> dict[str, Any]:
    return {
        "name": one.name,
        "address": f"{one.address:#x}",
        "waited_for": one.waited,
        "waiters_mean": one.waiters,
        "waiters_max": one.most,
        "unowned": one.unowned,
        "in_c_library": one.is_internal,
        "holders": [{"thread": name, "share": part} for name, part in one.holders],
        "holder_states": [{"state": name, "share": part} for name, part in one.states],
        "waits_at": [_caller(each) for each in one.callers],
        "blocked_holders_at": [_caller(each) for each in one.holder_callers],
    }


def _caller(one: Caller) -> dict[str, Any]:
    return {"samples": one.samples, "stack": [place(frame) for frame in one.stack]}


def _thread(one: ThreadSamples, names: Names) -> dict[str, Any]:
    return {
        "tid": one.tid,
        "name": one.name,
        "samples": one.samples,
        "running": one.running,
        "waiting_for_mutex": one.waiting,
        "other_futex": one.other_futex,
        "calls": {names.call(n): count for n, count in one.calls.most_common()},
    }


def _busiest(samples: Samples) -> list[ThreadSamples]:
    return sorted(
        samples.threads.values(), key=lambda one: (-one.waiting, -one.running)
    )


def print_report(process: Process, samples: Samples, names: Names) -> None:
    """Print the report to stdout."""
    out = console()
    locks = names.locks()
    say(out, sentence(samples, locks), style="bold")
    command = " ".join(process.command)
    print()
    say(
        out,
        f"{command}: pid {process.pid}, {plural(len(samples.threads), 'thread')}, "
        f"{plural(samples.number, 'sample')} in {time(samples.seconds * 1e9)}"
        f"{', until the process ended' if samples.ended else ''}",
    )
    print()
    if locks:
        print_table(out, HEADINGS, [_row(one) for one in locks[:ROWS]])
        for one in locks[:3]:
            for line in _details(one):
                say(out, line, "- ")
        print()
    print_table(
        out,
        (
            "thread",
            "running",
            "waits for\na mutex",
            "other\nfutex",
            "most often blocked in",
        ),
        [_thread_row(one, names) for one in _busiest(samples)[:ROWS]],
    )
    print()
    say(out, LIMITS)
    if samples.number < FEW:
        taken = "sample was" if samples.number == 1 else "samples were"
        say(out, f"only {samples.number} {taken} taken", "warning: ")


def _row(one: SeenLock) -> tuple[str, ...]:
    states = dict(one.states)
    on_cpu = share(states.get("running", 0.0)) if states else "-"
    return (one.name, share(one.waited), few(one.waiters), str(one.most), on_cpu)


def _details(one: SeenLock) -> list[str]:
    lines = []
    if one.callers:
        ways = [" < ".join(map(place, each.stack[:2])) for each in one.callers[:2]]
        lines.append(f"{one.name}: threads wait at {'; '.join(ways)}")
    if one.states:
        states = [f"{name} {share(part, ' ')}" for name, part in one.states[:3]]
        lines.append(f"{one.name}: its holder is {', '.join(states)}")
    if one.holders:
        held = [f"{name} {share(part, ' ')}" for name, part in one.holders[:3]]
        lines.append(f"{one.name}: held by {', '.join(held)}")
    return lines


def _thread_row(one: ThreadSamples, names: Names) -> tuple[str, ...]:
    whole = max(one.samples, 1)
    blocked = one.calls.most_common(1)
    most = (
        f"{names.call(blocked[0][0])} {share(blocked[0][1] / whole)}" if blocked else ""
    )
    return (
        f"{one.name} ({one.tid})",
        share(one.running / whole),
        share(one.waiting / whole),
        share(one.other_futex / whole),
        most,
    )
