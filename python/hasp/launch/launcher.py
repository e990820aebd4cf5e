# SPDX-License-Identifier: MIT
"""Starts programs for `hasp compare` from a small process; a script, never imported.

The peak memory that the kernel reports for a program includes the memory of its process
before exec. If a process with numpy loaded started the programs, each would appear to
need 100 MB. So this process imports only modules that every Python process loads
anyway; it forks and waits. Its own size is the smallest peak that it can measure.

It reads requests from stdin and writes replies to stdout, each as four bytes of length
and the `marshal` format. It runs one child at a time: {"argv", "path", "environment",
"stdin", "stdout", "stderr", "cpus"}, whose texts are bytes, is answered by {"pid"} or
{"error"}, and when the child ends by {"wait_status", "wall_s", "user_s", "system_s",
"peak_kib", "switches", "preemptions"}. The first message, before any request, is
{"floor_kib"}.
"""

from __future__ import annotations

import marshal
import os
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing typing would cost memory
    from typing import Any

# The parent handles Ctrl-C and stops the children.
IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
PYTHON_IGNORES = (signal.SIGPIPE, signal.SIGXFSZ)


def send(message: dict[str, object]) -> None:
    data = marshal.dumps(message)
    sys.stdout.buffer.write(len(data).to_bytes(4, "little") + data)
    sys.stdout.buffer.flush()


def receive() -> dict[str, Any]:
    size = sys.stdin.buffer.read(4)
    if len(size) < 4:
        sys.exit(0)  # the parent has ended
    request: dict[str, Any] = marshal.loads(
        sys.stdin.buffer.read(int.from_bytes(size, "little"))
    )
    return request


def become(request: dict[str, Any], failure: int) -> None:
    """In the child: execute the program, or write the errno to `failure`."""
    try:
        os.setsid()
        writing = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        os.dup2(os.open(request["stdin"], os.O_RDONLY), 0)
        os.dup2(os.open(request["stdout"], writing, 0o600), 1)
        os.dup2(os.open(request["stderr"], writing, 0o600), 2)
        if request["cpus"]:
            os.sched_setaffinity(0, request["cpus"])
        for number in IGNORED + PYTHON_IGNORES:
            signal.signal(number, signal.SIG_DFL)
        os.execve(request["path"], request["argv"], request["environment"])
    except OSError as problem:
        os.write(failure, (problem.errno or 1).to_bytes(4, "little"))
    finally:
        os._exit(127)


def start(request: dict[str, Any]) -> int | None:
    """Fork the program; on failure reply with the error and return None."""
    reader, writer = os.pipe()  # both are closed by a successful exec
    child = os.fork()
    if child == 0:
        become(request, writer)
    os.close(writer)
    failure = os.read(reader, 4)
    os.close(reader)
    if failure:
        os.waitpid(child, 0)
        send({"error": os.strerror(int.from_bytes(failure, "little"))})
        return None
    send({"pid": child})
    return child


def floor_kib() -> int:
    """Return the peak memory of a child that does nothing."""
    child = os.fork()
    if child == 0:
        os.execve("/bin/sh", ["sh", "-c", ":"], {})
    return os.wait4(child, 0)[2].ru_maxrss


def main() -> None:
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    send({"floor_kib": floor_kib()})
    while True:
        request = receive()
        begun = time.perf_counter_ns()
        child = start(request)
        if child is None:
            continue
        _, wait_status, usage = os.wait4(child, 0)
        ended = time.perf_counter_ns()
        send(
            {
                "wait_status": wait_status,
                "wall_s": (ended - begun) / 1e9,
                "user_s": usage.ru_utime,
                "system_s": usage.ru_stime,
                "peak_kib": usage.ru_maxrss,
                "switches": usage.ru_nvcsw,
                "preemptions": usage.ru_nivcsw,
            }
        )


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        pass  # the parent has ended
    finally:
        # A parent that ends normally kills this process first and cleans up itself.
        import shutil  # costs memory, which no longer matters

        shutil.rmtree(sys.argv[1], ignore_errors=True)
