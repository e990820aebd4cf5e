# SPDX-License-Identifier: MIT
"""The matrix of test programs and locks, and functions that run a case under a lock."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from lock_list import BUILD, records, slow_if_not_representative

PROGRAMS = BUILD / "tests" / "programs"

# Time limit for one case, in seconds; on a quiet machine, each takes less than a tenth.
TIME_LIMIT = float(os.environ.get("CHECK_TIME_LIMIT", "20"))

# Divisor for the rounds of contended loops under locks that only spin: with more
# threads than CPUs, such a lock may be handed over only once per time slice.
SPINNING_DIVISOR = 25

SKIPPED = 77

# The statuses that fail a test; NOT_PASSED where no case may be skipped.
FAILED = ("failed", "hung")
NOT_PASSED = (*FAILED, "skipped")

# Maximum number of characters shown of a hung case's backtraces.
MAX_BACKTRACE = 6000

# Programs that other tests run, with arguments or an environment of their own.
RUN_ELSEWHERE = frozenset(
    (Path(__file__).parents[1] / "programs" / "run_elsewhere.txt").read_text().split()
)

# Programs that test the interposer independently of the algorithm: which symbols it
# hooks, which calls it passes through, how it starts. See lock_list.py.
ANY_LOCK_WILL_DO = frozenset(
    {
        "ancient_condvars",
        "close_descriptors",
        "constructors",
        "cxx_sync",
        "cxx_static",
        "deepbind",
        "dlopen",
        "fork_variants",
        "kinds",
        "neighbours",
        "old_symbols",
        "priority",
        "pshared",
        "pshared_partner",
        "robust",
        "seccomp",
        "sites",
    }
)

# Slow programs: `make test` runs them under some locks of each family (lock_list.py),
# `make test-all` under all locks.
LONG = frozenset(
    {
        *("allocator", "c11", "cancel_cond", "cancel_lock", "cond_lifetime"),
        *("cond_timed", "fork_cond", "fork_mutex", "fork_storm", "memory"),
        *("ownership", "signals", "threads"),
    }
)


@dataclass(frozen=True)
class Lock:
    """The properties of a lock that the runner needs; `name` None: without Hasp."""

    name: str | None
    fifo: bool = False
    parks: bool = True

    @property
    def label(self) -> str:
        return self.name or "native"


@dataclass(frozen=True)
class Outcome:
    """The status of one case (passed, skipped, failed or hung) and its output."""

    case: str
    status: str
    text: str

    def __str__(self) -> str:
        return f"{self.case}: {self.status}\n{self.text.rstrip()}"


NATIVE = Lock(None)
PASS_THROUGH = Lock("glibc")  # Hasp is preloaded, mutexes stay glibc's


def library() -> Path:
    return BUILD / "src" / "preload" / "libhasp.so"


@cache
def locks() -> tuple[Lock, ...]:
    """Return a run without Hasp, then every lock of the list except the pass-through.

    The last one is a lock wrapped for concurrency restriction. A wrapped lock has its
    own code for waiting and shares everything else with the plain lock.
    """
    return (
        NATIVE,
        *(
            Lock(record["name"], fifo=record["fifo"], parks=record["parks"])
            for record in records()
            if record["name"] != "glibc"
        ),
        Lock("gcr+mcs"),
    )


def lock_parameters(*, native: bool = True, every: bool = False) -> list[Any]:
    """Return the parameters of a test under every lock; `every`: in `make test` too."""
    chosen = locks() if native else locks()[1:]
    return [
        pytest.param(
            lock,
            id=lock.label,
            marks=[] if every else slow_if_not_representative(lock.name),
        )
        for lock in chosen
    ]


@cache
def programs() -> tuple[str, ...]:
    """Return the names of the programs that Meson has built."""
    return tuple(
        sorted(
            path.name
            for path in PROGRAMS.iterdir()
            if path.is_file()
            and not path.suffix
            and os.access(path, os.X_OK)
            and path.name not in RUN_ELSEWHERE
        )
    )


@cache
def cases(program: str) -> tuple[str, ...]:
    output = subprocess.run(
        [PROGRAMS / program, "--list"], check=True, capture_output=True, text=True
    )
    return tuple(output.stdout.split())


def environment(
    lock: Lock,
    extra: Mapping[str, str] | None = None,
    interposer: Path | None = None,
) -> dict[str, str]:
    """The environment of a case; LD_PRELOAD in `extra` follows Hasp's library."""
    result = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("HASP_", "CHECK_", "LD_PRELOAD"))
    }
    result.update(extra or {})
    if lock.name is not None:
        preloads = [str(interposer or library()), result.get("LD_PRELOAD", "")]
        result["LD_PRELOAD"] = ":".join(filter(None, preloads))
        result["HASP_LOCK"] = lock.name
        if not lock.parks:
            result.setdefault("CHECK_ROUNDS_DIVISOR", str(SPINNING_DIVISOR))
        if lock.fifo:
            result["CHECK_FIFO"] = "1"
    return result


def group_members(leader: int) -> list[int]:
    """Return the ids of all processes of a group; any of them may be hanging."""
    members = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            if int(fields[2]) == leader:
                members.append(int(path.parent.name))
    return sorted(members)


def backtraces(leader: int) -> str:
    """Return the backtraces of a hung case's threads, or "" without gdb."""
    if shutil.which("gdb") is None:
        return ""
    text = ""
    for member in group_members(leader)[:4]:
        command = ["gdb", "-batch", "-p", str(member), "-ex", "thread apply all bt 8"]
        try:
            output = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=15,
                stdin=subprocess.DEVNULL,
            ).stdout
        except subprocess.TimeoutExpired:
            output = "(gdb did not answer)"
        text += f"process {member}\n" + output[output.find("\nThread ") + 1 :]
    return text[:MAX_BACKTRACE]


def ended(process: subprocess.Popen[str], limit: float) -> bool:
    """Return whether the process ends within the limit, without reaping it."""
    descriptor = os.pidfd_open(process.pid)
    try:
        return bool(select.select([descriptor], [], [], limit)[0])
    finally:
        os.close(descriptor)


def run_command(
    command: list[str | Path], env: dict[str, str], limit: float = TIME_LIMIT
) -> tuple[int | None, str]:
    """Return the exit status (None if killed after `limit` seconds) and all output.

    The process leads a session, so that its children can be killed with it. They are
    killed before it is reaped, because programs with thousands of threads use up
    process ids, so a reaped id may soon belong to another process.
    """
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = subprocess.Popen(
            command,
            env=env,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        in_time = ended(process, limit)
        where = "" if in_time else backtraces(process.pid)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        status = process.wait()
        output.seek(0)
        return (status if in_time else None), where + output.read()


def run_case(
    program: str,
    case: str,
    lock: Lock,
    extra: Mapping[str, str] | None = None,
    limit: float = TIME_LIMIT,
    interposer: Path | None = None,
) -> Outcome:
    """Run one case; `interposer` replaces the usual build of the library."""
    env = environment(lock, extra, interposer)
    status, text = run_command([PROGRAMS / program, case], env, limit)
    if status is None:
        return Outcome(case, "hung", f"stopped after {limit:g} s\n{text}")
    if status == 0:
        return Outcome(case, "passed", text)
    if status == SKIPPED:
        return Outcome(case, "skipped", text)
    ending = f"signal {-status}" if status < 0 else f"exit status {status}"
    return Outcome(case, "failed", f"{ending}\n{text}")


def run_recorded(program: str, case: str, extra: Mapping[str, str]) -> Outcome:
    """Run one case under the recorder, with mutexes passed through to glibc."""
    recorder = library().parent / "profile" / "libhasp-profile.so"
    preloads = {**extra, "LD_PRELOAD": str(library())}
    return run_case(program, case, PASS_THROUGH, preloads, interposer=recorder)


def run_program(
    program: str, lock: Lock, extra: Mapping[str, str] | None = None
) -> list[Outcome]:
    """Run every case of a program; stop after two cases that hang."""
    outcomes: list[Outcome] = []
    for case in cases(program):
        outcomes.append(run_case(program, case, lock, extra))
        if sum(outcome.status == "hung" for outcome in outcomes) == 2:
            break
    return outcomes


def fail_if_any(
    outcomes: Sequence[Outcome],
    title: str,
    statuses: Collection[str] = FAILED,
) -> None:
    """Fail the test, without a traceback, if a case has one of these statuses."""
    bad = [outcome for outcome in outcomes if outcome.status in statuses]
    if bad:
        pytest.fail(
            f"{title}: {len(bad)} of {len(outcomes)} cases\n"
            + "\n".join(map(str, bad)),
            pytrace=False,
        )
