# SPDX-License-Identifier: MIT
"""Runs `hasp` in forks of a process that has imported it already.

To start Python and to import numpy, scipy and Hasp takes longer than what most tests of
the command line have it do. So each worker of pytest has one server, which forks a
process for each command line: with the environment, the folder and the streams that it
would have if it were started anew. Where a new process would itself differ (other
settings of Python or of the language, a preloaded library), it is started anew.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

# A process whose settings of these differ must be started anew.
DIFFERS = ("PYTHON", "LC_", "LANG", "LD_", "OPENBLAS_", "GLIBC_")
MODULES = ("scipy.special", "scipy.stats", "matplotlib.figure", "rich.table", "numpy")


class Server:
    """The server of this process, started when it is first needed."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.path = str(Path(self.folder.name) / "socket")
        self.environment = settings(os.environ)
        ready, told = os.pipe()
        self.process = subprocess.Popen(
            [sys.executable, __file__, self.path, str(told)],
            stdin=subprocess.PIPE,
            pass_fds=[told],
        )
        os.close(told)
        with os.fdopen(ready) as pipe:
            self.works = pipe.read() == "ready"

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()
        self.folder.cleanup()


_server: Server | None = None
_starting = threading.Lock()


def server() -> Server:
    global _server
    with _starting:
        if _server is None:
            _server = Server()
        return _server


def close() -> None:
    """End the server, and wait for it: its processes count as the tests' own."""
    global _server
    if _server is not None:
        _server.close()
        _server = None


def settings(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value for name, value in environment.items() if name.startswith(DIFFERS)
    }


def run(
    words: Sequence[str],
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    timeout: float = 50,
) -> subprocess.CompletedProcess[str] | None:
    """Run `hasp` without input and capture its output; None: start it anew instead."""
    environment = dict(os.environ if env is None else env)
    found = server()
    if not found.works or settings(environment) != found.environment:
        return None
    request = {"words": list(words), "env": environment, "cwd": os.fspath(cwd or ".")}
    request["cwd"] = str(Path(str(request["cwd"])).resolve())
    with contextlib.ExitStack() as stack:
        connection = stack.enter_context(socket.socket(socket.AF_UNIX))
        connection.connect(found.path)
        null = os.open(os.devnull, os.O_RDONLY)
        out, out_end = os.pipe()
        err, err_end = os.pipe()
        stack.callback(os.close, out)
        stack.callback(os.close, err)
        try:
            text = json.dumps(request).encode()
            socket.send_fds(connection, [b"%10d" % len(text)], [null, out_end, err_end])
            connection.sendall(text)
        finally:
            for descriptor in (null, out_end, err_end):
                os.close(descriptor)
        said = read_all([out, err], time.monotonic() + timeout)
        if said is None:  # the server kills it when the connection ends
            raise subprocess.TimeoutExpired(["hasp", *words], timeout)
        status = int(connection.recv(10))
    outputs = [text.decode() for text in said]
    return subprocess.CompletedProcess(["hasp", *words], status, *outputs)


def read_all(descriptors: list[int], until: float) -> list[bytes] | None:
    """Return all that is written to the pipes; None if that takes too long."""
    said = dict.fromkeys(descriptors, b"")
    with selectors.DefaultSelector() as selector:
        for descriptor in descriptors:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(max(0, until - time.monotonic()))
            if not ready:
                return None
            for key, _ in ready:
                piece = os.read(key.fd, 1 << 16)
                said[key.fd] += piece
                if not piece:
                    selector.unregister(key.fd)
    return list(said.values())


def serve(path: str) -> NoReturn:
    """Fork a process for each connection, until standard input ends."""
    with (
        socket.socket(socket.AF_UNIX) as listening,
        selectors.DefaultSelector() as ready,
    ):
        listening.bind(path)
        listening.listen()
        os.write(int(sys.argv[2]), b"ready")
        os.close(int(sys.argv[2]))
        gc.freeze()
        ready.register(listening, selectors.EVENT_READ)
        ready.register(0, selectors.EVENT_READ)
        while True:
            events = [key.fd for key, _ in ready.select(0.5)]
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            if 0 in events:
                os._exit(0)
            if events:
                connection, _ = listening.accept()
                if os.fork() == 0:
                    listening.close()
                    ready.close()
                    answer(connection)
                connection.close()


def answer(connection: socket.socket) -> NoReturn:
    """Run one command line, and tell its status; kill it if nobody waits for it."""
    length, descriptors, _, _ = socket.recv_fds(connection, 10, 3)
    text = b""
    while len(text) < int(length):
        text += connection.recv(int(length) - len(text))
    child = os.fork()
    if child == 0:
        connection.close()
        become_hasp(json.loads(text), descriptors)
    for descriptor in descriptors:
        os.close(descriptor)
    with selectors.DefaultSelector() as selector:
        selector.register(os.pidfd_open(child), selectors.EVENT_READ)
        selector.register(connection, selectors.EVENT_READ)
        events = [key.fileobj for key, _ in selector.select()]
        if events == [connection]:
            os.kill(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with contextlib.suppress(OSError):
        connection.sendall(b"%10d" % status)
    os._exit(0)


def become_hasp(request: dict[str, object], descriptors: Sequence[int]) -> NoReturn:
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(str(request["cwd"]))
    os.environ.clear()
    os.environ.update(request["env"])  # type: ignore[call-overload]
    if hasattr(time, "tzset"):
        time.tzset()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = ["-c", *request["words"]]  # type: ignore[misc]
    through = bool(os.environ.get("PYTHONUNBUFFERED"))
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout.reconfigure(write_through=through)  # type: ignore[attr-defined]
    sys.stderr = open(2, "w", 1, "utf-8", "backslashreplace", closefd=False)  # noqa: SIM115
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]
    status: object = 1
    try:
        from hasp.cli.main import main

        status = main()
    except SystemExit as ended:
        status = ended.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
    if isinstance(status, str):
        print(status, file=sys.stderr)
        status = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(int(status or 0))  # type: ignore[call-overload]


def import_all() -> None:
    """Import what some command line would."""
    import importlib

    from hasp.cli.main import VERBS, load

    for verb in VERBS:
        load(verb)
    for name in MODULES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


if __name__ == "__main__":
    sys.path.pop(0)  # this file's folder, in which no module of Hasp is looked for
    import_all()
    serve(sys.argv[1])
