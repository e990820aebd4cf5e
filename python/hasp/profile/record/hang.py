# SPDX-License-Identifier: MIT
"""Detect hangs of a recorded program, and print which thread waits for which.

There are three signs, each of which must persist unchanged for the whole time: threads
that wait for each other in a cycle; threads that wait for locks while no lock is
acquired in the process; and all threads sleeping in futex calls without a timeout, so
that none can wake another (a lost wake-up, or an idle program that waits for a signal).
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path

from hasp.base.durations import format_duration
from hasp.base.errors import HaspError
from hasp.base.output import note
from hasp.profile.record.files import Trace
from hasp.profile.record.foreground import is_stopped

FUTEX = {"x86_64": 202, "aarch64": 98}.get(platform.machine(), -1)
# the waiting operations: wait, lock_pi, wait_bitset, wait_requeue_pi
FUTEX_WAITS = (0, 6, 9, 11)
SAMPLER = "hasp-sampler"  # the recorder's thread
ASLEEP = "asleep"
Sign = tuple[Hashable, ...]


class HangWatch:
    """Examines traces while they are being written."""

    def __init__(self, traces: Callable[[], Sequence[Trace]]) -> None:
        self._traces = traces
        self._since: dict[Sign, float] = {}  # present signs, and since when
        self._told = False

    def tell(self) -> None:
        """Print the threads that wait and the holders of their locks."""
        running = [trace for trace in self._traces() if trace.running]
        if not running:
            note("waiting threads: no process is being recorded yet")
        for trace in running:
            for line in waiting_threads(trace):
                note(line)

    def hangs(self, seconds: float) -> bool:
        """True if a sign has persisted long enough; each hang is reported once."""
        now = time.monotonic()
        found: set[Sign] = set()
        for trace in self._traces():
            # A process stopped by a debugger or Ctrl-Z is not hanging.
            if trace.running and not is_stopped(trace.pid):
                found.update((trace.pid, *sign) for sign in signs(trace))
        self._since = {sign: self._since.get(sign, now) for sign in found}
        if self._told or min(self._since.values(), default=now) + seconds > now:
            return False
        self._told = True
        note(f"no progress for {format_duration(seconds)}")
        if all(sign[1] == ASLEEP for sign in self._since):
            note(
                "no thread waits for a lock, but all sleep, and none can wake another: "
                "a wake-up was lost, or the program is waiting for a signal"
            )
        self.tell()
        return True


def prepare() -> None:
    """Import in advance the modules that `hangs` needs, so as not to delay it."""
    # Imported here because programs are recorded without numpy otherwise.
    import hasp.profile.model.snapshot
    import hasp.profile.model.waiting  # noqa: F401


def signs(trace: Trace) -> Iterator[Sign]:
    """Return the signs of a hang, with all state that progress would change."""
    # Imported here so that the program starts without numpy loaded.
    from hasp.profile.model.snapshot import ACQUIRING, take
    from hasp.profile.model.waiting import cycles

    try:
        now = take(trace.path)
    except HaspError:
        return
    stuck = {t.number: t for t in now.threads if t.operation in ACQUIRING}
    holders = {lock: thread.number for thread in now.threads for lock in thread.held}
    blockers = {
        number: holders[thread.waiting_for]
        for number, thread in stuck.items()
        if thread.waiting_for in holders
    }
    for ring in cycles(blockers):
        yield ("ring", *sorted((n, stuck[n].waiting_since) for n in ring))
    if stuck:
        acquired = sum(sums.acquisitions for sums in now.sites.values())
        yield ("no progress", acquired)
    asleep = _asleep(trace.pid)
    if asleep:
        yield (ASLEEP, *asleep)


def _asleep(pid: int) -> tuple[tuple[str, str], ...]:
    """Return threads and context switches if all sleep in futexes, else ()."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*"):
        try:
            if (task / "comm").read_text().strip() == SAMPLER:
                continue
            call = (task / "syscall").read_text().split()
            status = (task / "status").read_text()
        except OSError:
            return ()  # it has ended, or the kernel does not permit reading
        if not _sleeps_for_ever(call):
            return ()
        switches = status.partition("\nvoluntary_ctxt_switches:")[2].split()[:1]
        found.append((task.name, *switches))
    return tuple(sorted(found))  # type: ignore[arg-type]


def _sleeps_for_ever(call: Sequence[str]) -> bool:
    """Parse /proc/PID/task/TID/syscall: the number, then the arguments."""
    if len(call) < 5 or call[0] != str(FUTEX):
        return False
    operation, timeout = int(call[2], 16) & 0x7F, int(call[4], 16)
    return operation in FUTEX_WAITS and timeout == 0


def waiting_threads(trace: Trace) -> Iterator[str]:
    """Yield lines about the threads that wait and the holders of their locks."""
    # Imported here so that the program starts without numpy loaded.
    from hasp.profile.model.build import load
    from hasp.profile.model.waiting import waiting
    from hasp.profile.report.findings import findings

    try:
        profile = load(trace.path)
    except HaspError as problem:
        yield problem.message
        return
    command = " ".join(profile.command) or profile.executable
    yield f"waiting threads of process {trace.pid}, {command}:"
    hang = waiting(profile)
    yield from (f"  {line}" for line in hang.lines())
    waited_for = {
        waiter.lock for cycle in (*hang.cycles, hang.waiters) for waiter in cycle
    }
    for finding in findings(profile):
        if finding.event.lock in waited_for:
            yield f"  {finding.words}"
