# SPDX-License-Identifier: MIT
"""Starts real programs under a lock, and makes sure that all of them end.

Each program runs in its own session and process group, and is killed when the test
fails, times out, or pytest itself is killed. If a program hangs and gdb is installed,
the failure shows the stacks of its threads.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import psutil
import pytest

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)
# The profiler, libhasp-profile.so, leaves the locks alone.
INTERPOSERS = ("/libhasp.so", "/libhasp-delegate.so")

# Ports below the ephemeral range, so that no outgoing connection takes one first.
FIRST_PORT, PORTS_PER_WORKER = 20000, 1000

Test = TypeVar("Test", bound=Callable[..., None])


@dataclass(frozen=True)
class Lock:
    """The properties of a lock that determine its workload."""

    name: str
    parks: bool
    kind: str = "mutex"

    @property
    def settings(self) -> dict[str, str]:
        """Return the environment variables of libhasp.so besides HASP_LOCK."""
        if self.is_native or self.kind == "mutex":
            return {}
        return {f"HASP_{self.kind.upper()}": self.name}

    @property
    def mutexes(self) -> str:
        """Return the algorithm of mutexes: glibc's, preloaded, for other kinds."""
        return self.name if self.is_native or self.kind == "mutex" else "pthread"

    @property
    def announced(self) -> str:
        """Return what libhasp.so says of it."""
        return (
            f"lock={self.name}" if self.kind == "mutex" else f" {self.kind}={self.name}"
        )

    @property
    def is_native(self) -> bool:
        """Return whether the program runs without Hasp, as the reference."""
        return self.name == "glibc"

    def threads(self, usual: int) -> int:
        """Return `usual`, but at most one per CPU if waiters never yield their CPU."""
        if self.parks or self.is_native:
            return usual
        return min(usual, max(2, len(os.sched_getaffinity(0))))


@dataclass(frozen=True)
class Finished:
    """The output and duration of a program that has ended."""

    stdout: str
    stderr: str
    seconds: float

    @property
    def text(self) -> str:
        """Return both streams, for programs that may write their results to either."""
        return self.stdout + self.stderr


def _die_with_parent() -> None:
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _stacks(process: subprocess.Popen[bytes]) -> str:
    """Return the stacks of all threads of a hanging program and its children."""
    if shutil.which("gdb") is None:
        return "(install gdb to see its stacks here)"
    with contextlib.suppress(psutil.Error):
        family = [psutil.Process(process.pid)]
        family += family[0].children(recursive=True)
        texts = []
        for member in family[:4]:
            command = ["gdb", "-p", str(member.pid), "-batch", "-nx"]
            command += ["-ex", "set print thread-events off"]
            command += ["-ex", "thread apply all backtrace 8"]
            with contextlib.suppress(subprocess.TimeoutExpired):
                shown = subprocess.run(
                    command, capture_output=True, text=True, timeout=10
                )
                texts.append(f"-- {member.name()} --\n{shown.stdout[-12000:]}")
        return "\n".join(texts)
    return "(it ended before its stacks could be read)"


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kills a program, its group, and descendants that left the group."""
    descendants: list[psutil.Process] = []
    with contextlib.suppress(psutil.Error):
        descendants = psutil.Process(process.pid).children(recursive=True)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    for descendant in descendants:
        with contextlib.suppress(psutil.Error):
            descendant.kill()
    process.wait()


@dataclass
class Launcher:
    """Runs programs under one lock, in one folder, and ends them all."""

    environment: Callable[..., dict[str, str]]
    lock: Lock
    folder: Path
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)
    count: int = 0

    def start(
        self, *command: object, interposed: bool = True
    ) -> tuple[subprocess.Popen[bytes], Path, Path]:
        """Starts a program that writes its output to files in the folder."""
        self.count += 1
        out = self.folder / f"{self.count}.out"
        err = self.folder / f"{self.count}.err"
        name = self.lock.mutexes if interposed else None
        settings = self.lock.settings if interposed else {}
        environment = self.environment(name, HASP_VERBOSE="1", **settings)
        with out.open("wb") as stdout, err.open("wb") as stderr:
            process = subprocess.Popen(
                [str(word) for word in command],
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                cwd=self.folder,
                env=environment,
                start_new_session=True,
                preexec_fn=_die_with_parent,
            )
        self.running.append(process)
        return process, out, err

    def run(
        self, *command: object, interposed: bool = True, limit: float = 40
    ) -> Finished:
        """Runs a program; fails if it fails, hangs, or did not load Hasp."""
        began = time.monotonic()
        process, out, err = self.start(*command, interposed=interposed)
        try:
            status = process.wait(limit)
        except subprocess.TimeoutExpired:
            stacks = _stacks(process)
            kill_group(process)
            pytest.fail(
                f"{command[0]} under {self.lock.name} did not end within {limit} s\n"
                f"{out.read_text(errors='replace')[-2000:]}\n"
                f"{err.read_text(errors='replace')[-2000:]}\n{stacks}"
            )
        finally:
            kill_group(process)
            self.running.remove(process)
        result = Finished(
            out.read_text(errors="replace"),
            err.read_text(errors="replace"),
            time.monotonic() - began,
        )
        assert status == 0, (
            f"{command[0]} under {self.lock.name} ended with {status}\n"
            f"{result.stdout[-2000:]}\n{result.stderr[-4000:]}"
        )
        if interposed and not self.lock.is_native:
            assert self.lock.announced in result.stderr, (
                f"{command[0]} ran without the lock {self.lock.name}:\n"
                f"{result.stderr[-2000:]}"
            )
        return result

    def serve(
        self, *command: object, ready: Callable[[], bool], limit: float = 30
    ) -> Server:
        """Starts a server under the lock, and waits until `ready()` is true."""
        process, out, err = self.start(*command)
        server = Server(self, process, out, err, str(command[0]))
        deadline = time.monotonic() + limit
        while not ready():
            server.check_alive()
            if time.monotonic() > deadline:
                pytest.fail(
                    f"{command[0]} under {self.lock.name} was not ready within "
                    f"{limit} s\n{server.log()}\n{_stacks(process)}"
                )
            time.sleep(0.02)
        server.check_interposed()
        return server

    def close(self) -> None:
        """Kills all programs that are still running."""
        for process in self.running:
            kill_group(process)
        self.running.clear()


@dataclass
class Server:
    """A server that runs under the lock of its launcher."""

    launcher: Launcher
    process: subprocess.Popen[bytes]
    out: Path
    err: Path
    name: str

    def log(self) -> str:
        """Return the end of the server's output so far."""
        written = self.out.read_text(errors="replace")
        return written[-2000:] + self.err.read_text(errors="replace")[-4000:]

    def check_alive(self) -> None:
        """Fails if the server has already ended."""
        status = self.process.poll()
        assert status is None, (
            f"{self.name} under {self.launcher.lock.name} ended with {status}\n"
            f"{self.log()}"
        )

    def check_interposed(self) -> None:
        """Fails unless the server has loaded Hasp, or has not if it should not."""
        maps = Path(f"/proc/{self.process.pid}/maps").read_text()
        loaded = any(name in maps for name in INTERPOSERS)
        assert loaded is not self.launcher.lock.is_native, (
            f"the interposer is not as expected in {self.name} for "
            f"{self.launcher.lock.name}:\n{self.log()}"
        )

    def stop(self, limit: float = 20, expected: tuple[int, ...] = (0,)) -> None:
        """Sends SIGTERM to the server, and checks that it ends cleanly."""
        self.check_alive()
        self.process.terminate()
        try:
            status = self.process.wait(limit)
        except subprocess.TimeoutExpired:
            pytest.fail(
                f"{self.name} under {self.launcher.lock.name} did not end within "
                f"{limit} s of SIGTERM\n{self.log()}\n{_stacks(self.process)}"
            )
        assert status in expected, f"{self.name} ended with {status}\n{self.log()}"


def free_ports() -> Iterator[int]:
    """Return unused ports; none is returned twice or shared with another worker."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:])
    first = FIRST_PORT + worker * PORTS_PER_WORKER
    offset = os.getpid() % PORTS_PER_WORKER
    for number in range(PORTS_PER_WORKER):
        port = first + (offset + number) % PORTS_PER_WORKER
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        yield port


def listens(port: int) -> Callable[[], bool]:
    """Return a function that checks whether a server accepts connections on a port."""

    def check() -> bool:
        with socket.socket() as client:
            client.settimeout(1)
            return client.connect_ex(("127.0.0.1", port)) == 0

    return check


def fetch(url: str, limit: float = 10) -> bytes:
    """Return the body of a URL's response; any error status raises an exception."""
    with urllib.request.urlopen(url, timeout=limit) as response:
        return bytes(response.read())


def need(program: str, package: str) -> str:
    """Return the path of a program; if it is missing, skip and name its package."""
    found = shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    if found is None:
        pytest.skip(f"{program} is missing: apt-get install {package}")
    return found


def quick_locks(*names: str) -> Callable[[Test], Test]:
    """Marks a test as `real_slow` under all locks except the named ones.

    Without names, the exceptions are one lock of each structure (lock_list.py).
    """

    def mark(test: Test) -> Test:
        vars(test)["quick_locks"] = names
        return test

    return mark


TURNS = 3


def every_third_lock(turn: int) -> Callable[[Test], Test]:
    """Marks a test as `real_slow` except under every third lock, and representatives.

    Tests with different turns, from 0 to 2, take one lock each.
    """

    def mark(test: Test) -> Test:
        vars(test)["turn"] = turn
        return test

    return mark


def every(kind: str) -> Callable[[Test], Test]:
    """Runs a test under every algorithm of a kind other than mutexes.

    It is `real_slow` except under glibc's and the default.
    """

    def mark(test: Test) -> Test:
        vars(test)["kind"] = kind
        return test

    return mark
