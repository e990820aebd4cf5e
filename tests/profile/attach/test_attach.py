# SPDX-License-Identifier: MIT
"""`hasp profile -p PID` samples a running process from outside."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from conftest import RUN_HASP, native_program
from waiting import wait_until

from hasp.base.errors import HaspError
from hasp.profile.attach import process as process_module
from hasp.profile.attach.futexes import Wait, Waits, owner_of, wait_of
from hasp.profile.attach.process import Call, Process
from hasp.profile.attach.sampling import Sampler
from hasp.profile.attach.stack import _follows_x86_call

FUTEX = 202


@pytest.fixture
def started():
    """started(program, *words) returns a process once its threads run."""
    running = []

    def start(threads: int, *words: object) -> subprocess.Popen:
        program = native_program("profile_what_if")
        child = subprocess.Popen(
            [program, str(threads), "60", *map(str, words)], stdout=subprocess.DEVNULL
        )
        running.append(child)
        tasks = Path(f"/proc/{child.pid}/task")
        wait_until(lambda: len(list(tasks.iterdir())) == threads + 1)
        return child

    yield start
    for child in running:
        child.kill()
        child.wait()


def inspected(pid: int) -> Process:
    try:
        return Process(pid)
    except HaspError as problem:
        pytest.skip(str(problem))


def hasp(*words: object) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", RUN_HASP, "profile", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=50,
    )


def test_the_lock_its_waiters_and_its_holder_are_seen(started):
    """Three threads wait while the fourth sleeps with the lock."""
    child = started(4, "0", "s5000")
    inspected(child.pid).close()
    finished = hasp("-p", child.pid, "--duration", "3s", "--json")
    assert finished.returncode == 0, finished.stderr
    found = json.loads(finished.stdout)
    assert found["schema"] == "hasp.attach/1"
    lock = found["locks"][0]
    assert lock["name"] == "profile_what_if stripe"
    assert lock["waiters_mean"] > 2
    assert lock["waiters_max"] == 3
    states = {one["state"]: one["share"] for one in lock["holder_states"]}
    assert states["blocked in clock_nanosleep()"] > 0.5
    assert len(lock["holders"]) >= 3
    places = [place for one in lock["waits_at"] for place in one["stack"]]
    assert any("operate" in place for place in places)
    assert not lock["in_c_library"]
    assert "wait for profile_what_if stripe" in found["verdict"]


class HandedOver:
    """A process whose mutex is handed over while its four threads are inspected.

    Thread 1 is seen waiting, then gets the mutex from thread 4, which waits as well
    when it is inspected. `between`: once more, the mutex is read without an owner.
    """

    pid, futex = 1, FUTEX

    def __init__(self, between: bool) -> None:
        self._owners = [0, 1] if between else [1]
        self._inspected: set[int] = set()

    def threads(self) -> list[int]:
        return [1, 2, 3, 4]

    def inner_id(self, tid: int) -> int:
        return tid

    def name(self, _tid: int) -> str:
        return "worker"

    def state(self, _tid: int) -> str:
        return "S"

    def call(self, tid: int) -> Call:
        again = tid in self._inspected
        self._inspected.add(tid)
        if tid == 1 and again:
            return Call(35, (0, 0, 0, 0, 0, 0), 0x2000)
        return Call(FUTEX, (0x1000, 0x80, 2, 0, 0, 0), 0x2000)

    def read(self, address: int, length: int) -> bytes:
        if address != 0x1000:
            return b""
        owner = self._owners.pop(0) if len(self._owners) > 1 else self._owners[0]
        words = (2, 0, owner, 1, 0, 0)
        return b"".join(word.to_bytes(4, "little") for word in words)[:length]

    def mappings(self) -> list:
        return []


@pytest.mark.parametrize("between", [False, True])
def test_a_thread_that_gets_the_lock_during_a_sample_is_no_waiter(between):
    sampler = Sampler(HandedOver(between))
    assert sampler.take()
    lock = sampler.result.locks[0x1000]
    assert (lock.most, lock.waiters) == (3, 3)
    assert lock.holders == {1: 1}
    assert lock.states == {"call 35": 1}


def test_the_text_names_the_limits(started):
    child = started(4, "0", "s5000")
    inspected(child.pid).close()
    finished = hasp("-p", child.pid, "--duration", "1s")
    assert finished.returncode == 0, finished.stderr
    assert "profile_what_if stripe" in finished.stdout
    assert "Not seen: uncontended" in " ".join(finished.stdout.split())
    assert max(map(len, finished.stdout.splitlines())) <= 80


def test_no_lock_is_blamed_in_a_program_without_contention(started):
    child = started(2, "s5000", "0", "64")
    inspected(child.pid).close()
    finished = hasp("-p", child.pid, "--duration", "1s")
    assert "no mutex with many waiting threads was seen" in finished.stdout


def test_the_process_may_end_meanwhile(started):
    child = started(2, "0", "s5000")
    process = inspected(child.pid)
    sampler = Sampler(process)
    assert sampler.take()
    timer = threading.Timer(0.1, child.kill)
    timer.start()
    found = sampler.run(50, lambda: False)
    timer.join()
    assert found.ended
    assert found.seconds < 40
    process.close()


def has_open(pid: int, path: Path) -> bool:
    """Return whether a process has a file open. Others may be closed meanwhile."""
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            if link.readlink() == path:
                return True
    return False


def test_an_interrupt_ends_sampling_with_a_report(started):
    child = started(2, "0", "s5000")
    inspected(child.pid).close()
    words = [sys.executable, "-c", RUN_HASP, "profile", "-p", child.pid]
    hasp_process = subprocess.Popen(
        [*map(str, words), "--duration", "50s", "--json"], stdout=subprocess.PIPE
    )

    memory = Path(f"/proc/{child.pid}/mem")
    wait_until(lambda: has_open(hasp_process.pid, memory))
    caught = 1 << signal.SIGINT - 1

    def catches() -> bool:
        status = Path(f"/proc/{hasp_process.pid}/status").read_text()
        mask = status.partition("SigCgt:")[2].split()[0]
        return bool(int(mask, 16) & caught)

    wait_until(catches)
    hasp_process.send_signal(signal.SIGINT)
    out, _ = hasp_process.communicate(timeout=30)
    assert hasp_process.returncode == 0
    assert json.loads(out)["seconds"] < 40


def test_a_process_that_does_not_exist():
    child = subprocess.Popen(["true"])
    child.wait()
    finished = hasp("-p", child.pid)
    assert finished.returncode == 2
    assert f"there is no process {child.pid}" in finished.stderr


def test_a_thread_is_not_a_process(started):
    child = started(2, "s5000", "0")
    threads = {int(one.name) for one in Path(f"/proc/{child.pid}/task").iterdir()}
    tid = max(threads - {child.pid})
    with pytest.raises(HaspError) as caught:
        Process(tid)
    assert caught.value.remedy == f"use -p {child.pid}"


def test_a_zombie_has_ended():
    child = subprocess.Popen(["true"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    with pytest.raises(HaspError, match="has ended"):
        Process(child.pid)
    child.wait()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-p", "1", "--", "true"), "-p and a COMMAND"),
        (("-p", "-3"), "not a process id"),
        (("-p", "1", "--hang-after", "3s"), "-p and --hang-after"),
        (("--json", "x", "--", "true"), "--json needs -p"),
    ],
)
def test_wrong_usage(words, message):
    finished = hasp(*words)
    assert finished.returncode == 2
    assert message in finished.stderr


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    """A /proc with one process, 42, that belongs to nobody else."""
    folder = tmp_path / "42"
    (folder / "task/42").mkdir(parents=True)
    (folder / "status").write_text(f"Tgid:\t42\nUid:\t{os.geteuid()}\n")
    (folder / "task/42/stat").write_text("42 (a) b) S 1")
    (folder / "task/42/syscall").write_text("running")
    (folder / "exe").write_bytes(b"\x7fELF\x02")
    return tmp_path


def test_a_32_bit_program_is_refused(proc):
    (proc / "42/exe").write_bytes(b"\x7fELF\x01")
    with pytest.raises(HaspError, match="32-bit"):
        Process(42, proc)


def test_a_thread_of_the_kernel_is_refused(proc):
    (proc / "42/exe").unlink()
    with pytest.raises(HaspError, match="thread of the kernel"):
        Process(42, proc)


def refusal(proc, monkeypatch, *, user: int, owner: int, scope: int) -> HaspError:
    def refuse(*_arguments, **_options):
        raise PermissionError(1, "Operation not permitted")

    status = proc / "42/status"
    status.write_text(f"Tgid:\t42\nUid:\t{owner}\n")
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(process_module, "_ptrace_scope", lambda: scope)
    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(HaspError) as caught:
        Process(42, proc)
    return caught.value


@pytest.mark.parametrize(
    ("user", "owner", "scope", "remedy"),
    [
        (1000, 1001, 0, "use sudo"),
        (1000, 1000, 1, "ptrace_scope=0"),
        (1000, 1000, 2, "ptrace_scope is 2: use sudo"),
        (1000, 1000, 3, "until the next boot"),
        (1000, 1000, 0, "setuid"),
        (0, 1000, 0, "--cap-add SYS_PTRACE"),
    ],
)
def test_a_refusal_names_the_setting(proc, monkeypatch, user, owner, scope, remedy):
    problem = refusal(proc, monkeypatch, user=user, owner=owner, scope=scope)
    assert "process 42 may not be inspected" in problem.message
    assert remedy in problem.remedy


@pytest.mark.parametrize(
    ("operation", "value", "waits"),
    [
        (0x80, 2, Waits.MUTEX),  # private
        (0x00, 2, Waits.MUTEX),  # shared between processes
        (0x89, 2, Waits.MUTEX),  # with a time limit
        (0x89, 0, Waits.OTHER),  # a condition variable
        (0x86, 0, Waits.MUTEX),  # with priority inheritance
    ],
)
def test_futex_calls_that_wait(operation, value, waits):
    call = Call(FUTEX, (0x1000, operation, value, 0, 0, 0), 0x2000)
    assert wait_of(call, FUTEX) == Wait(0x1000, waits)


def test_other_calls_do_not_wait():
    wake = Call(FUTEX, (0x1000, 0x81, 2, 0, 0, 0), 0x2000)
    assert wait_of(wake, FUTEX) is None
    assert wait_of(Call(1, (0x1000, 0x80, 2, 0, 0, 0), 0x2000), FUTEX) is None


def test_the_owner_is_read_from_mutexes_only():
    def mutex(kind: int) -> bytes:
        words = (2, 0, 4711, 1, kind, 0)
        return b"".join(word.to_bytes(4, "little") for word in words)

    assert owner_of(mutex(0)) == 4711
    assert owner_of(mutex(1)) == 4711  # recursive
    assert owner_of(mutex(0xDEADBEEF)) == 0  # a lock inside of malloc
    assert owner_of(mutex(0)[:20]) == 0  # at the end of readable memory


def test_return_addresses_follow_calls():
    assert _follows_x86_call(bytes.fromhex("9090e811223344"))  # call rel32
    assert _follows_x86_call(bytes.fromhex("9090909090ffd0"))  # call *%rax
    assert _follows_x86_call(bytes.fromhex("90ff1511223344"))  # call *x(%rip)
    assert not _follows_x86_call(bytes.fromhex("90909090909090"))
    assert not _follows_x86_call(bytes.fromhex("9090e911223344"))  # a jump


@pytest.mark.skipif(not shutil.which("memcached"), reason="memcached is not installed")
def test_a_real_server_without_debug_information(tmp_path):
    """Its threads are named, and it serves on while it is sampled."""
    address = tmp_path / "socket"
    server = subprocess.Popen(
        ["memcached", "-u", "root", "-s", str(address), "-t", "2"],
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until(address.exists)
        inspected(server.pid).close()
        finished = hasp("-p", server.pid, "--duration", "1s", "--json")
        found = json.loads(finished.stdout)
        assert found["samples"] > 1
        names = {thread["name"] for thread in found["threads"]}
        assert any("worker" in name for name in names)
        calls = {call for thread in found["threads"] for call in thread["calls"]}
        assert "epoll_wait()" in calls
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(address))
            client.sendall(b"version\r\n")
            assert client.recv(100).startswith(b"VERSION")
    finally:
        server.kill()
        server.wait()


@pytest.mark.parametrize(
    "option",
    [
        *(("--fail-if", "findings"), ("--sample",), ("--report",), ("--why",)),
        ("--output", "waits.trace"),
    ],
)
def test_options_of_the_recorder_are_refused(hasp, option):
    finished = hasp("profile", "-p", str(os.getpid()), *option)
    assert finished.returncode == 2
    assert f"-p and {option[0]} cannot be combined" in finished.stderr
