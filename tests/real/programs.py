# SPDX-License-Identifier: MIT
"""Starting real programs under a lock, and leaving none of them behind.

Every program gets a session, hence a process group, of its own and dies with the
test: on failure, on time-out and when pytest itself is killed. A program that hangs
is shown with the stacks of its threads, if gdb is there to ask.
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

# Ports below the ephemeral range, so that no outgoing connection takes one first.
FIRST_PORT, PORTS_PER_WORKER = 20000, 1000

Test = TypeVar("Test", bound=Callable[..., None])


@dataclass(frozen=True)
class Lock:
    """A lock of the list, as far as choosing a workload for it goes."""

    name: str
    parks: bool

    @property
    def is_native(self) -> bool:
        """The pass-through lock is the run without Hasp: the reference of each test."""
        return self.name == "glibc"

    def threads(self, usual: int) -> int:
        """`usual`, or at most one a CPU where a waiter never gives its CPU away."""
        if self.parks or self.is_native:
            return usual
        return min(usual, max(2, len(os.sched_getaffinity(0))))


@dataclass(frozen=True)
class Finished:
    """What a program left: its output and how long it took."""

    stdout: str
    stderr: str
    seconds: float

    @property
    def text(self) -> str:
        """Both streams, for programs that choose between them freely."""
        return self.stdout + self.stderr


def _die_with_parent() -> None:
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _stacks(process: subprocess.Popen[bytes]) -> str:
    """The stacks of a hanging program's threads, its children's included."""
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
        """Starts a program, its streams going to files of the folder."""
        self.count += 1
        out = self.folder / f"{self.count}.out"
        err = self.folder / f"{self.count}.err"
        name = self.lock.name if interposed else None
        environment = self.environment(name, HASP_VERBOSE="1")
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
        """Runs a program to its end; a failure, a hang or a missing preload fails."""
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
            assert f"hasp: lock={self.lock.name}" in result.stderr, (
                f"{command[0]} ran without the lock {self.lock.name}:\n"
                f"{result.stderr[-2000:]}"
            )
        return result

    def serve(
        self, *command: object, ready: Callable[[], bool], limit: float = 30
    ) -> Server:
        """Starts a server under the lock and waits until `ready()` says so."""
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
        """Kills whatever still runs."""
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
        """The end of what it wrote so far."""
        written = self.out.read_text(errors="replace")
        return written[-2000:] + self.err.read_text(errors="replace")[-4000:]

    def check_alive(self) -> None:
        """Fails if the server ended by itself."""
        status = self.process.poll()
        assert status is None, (
            f"{self.name} under {self.launcher.lock.name} ended with {status}\n"
            f"{self.log()}"
        )

    def check_interposed(self) -> None:
        """Fails if the server does not have Hasp loaded (or has, and should not)."""
        maps = Path(f"/proc/{self.process.pid}/maps").read_text()
        assert ("libhasp.so" in maps) is not self.launcher.lock.is_native, (
            f"libhasp.so is not as expected in {self.name} for "
            f"{self.launcher.lock.name}:\n{self.log()}"
        )

    def stop(self, limit: float = 20, expected: tuple[int, ...] = (0,)) -> None:
        """Asks the server to end, and checks that it does, cleanly."""
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
    """Ports that nobody listens on, none twice, none another worker's."""
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
    """A check whether something accepts connections on a local port."""

    def check() -> bool:
        with socket.socket() as client:
            client.settimeout(1)
            return client.connect_ex(("127.0.0.1", port)) == 0

    return check


def fetch(url: str, limit: float = 10) -> bytes:
    """The body at a URL; any status but success raises."""
    with urllib.request.urlopen(url, timeout=limit) as response:
        return bytes(response.read())


def need(program: str, package: str) -> str:
    """The path of a program; the test skips without it and names its package."""
    found = shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    if found is None:
        pytest.skip(f"{program} is missing: apt-get install {package}")
    return found


def quick_locks(*names: str) -> Callable[[Test], Test]:
    """Marks a test as `real_slow` under all locks but those named.

    Without names, but for one of each structure (lock_list.py).
    """

    def mark(test: Test) -> Test:
        vars(test)["quick_locks"] = names
        return test

    return mark
