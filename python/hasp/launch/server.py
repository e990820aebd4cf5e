# SPDX-License-Identifier: MIT
"""Waits until a server is ready, and checks that no other server is running."""

from __future__ import annotations

import errno
import signal
import socket
import struct
import time
from pathlib import Path
from typing import Any

from hasp.base.errors import HaspError
from hasp.base.output import quoted
from hasp.launch.children import Child
from hasp.launch.ready import Ready

POLL_INTERVAL = 0.02  # seconds
RELEASE_TIME = 5.0  # seconds that a port may stay in use after its server ended
RESET = struct.pack("ii", 1, 0)  # struct linger: close() leaves no TIME_WAIT behind


def _answers(ready: Ready) -> bool:
    try:
        with socket.create_connection((ready.host, ready.port), timeout=1.0) as probe:
            # The kernel may choose the server's port as the local one. Then TCP
            # connects the socket to itself although no server listens.
            if probe.getsockname()[1] != ready.port:
                return True
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            return False
    except OSError:
        return False


def _occupied(ready: Ready) -> bool:
    """True if a process listens on the port, even if it does not accept connections.

    A listening socket prevents others from binding its address, even with SO_REUSEADDR,
    while closed connections in TIME_WAIT do not.
    """
    family, kind, protocol, address = _address(ready)
    try:
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
        return False
    except OSError as problem:
        # With any other error this process may not bind the address, so try to connect.
        return problem.errno == errno.EADDRINUSE or _answers(ready)


def _address(ready: Ready) -> tuple[int, int, int, Any]:
    """Return family, type, protocol and address; raise HaspError for unknown hosts."""
    try:
        found = socket.getaddrinfo(ready.host, ready.port, type=socket.SOCK_STREAM)
    except socket.gaierror as problem:
        raise HaspError(
            f"--ready: the host {quoted(ready.host)} is unknown: {problem.strerror}",
            "correct its name, or write tcp:PORT for this host",
        ) from None
    family, kind, protocol, _, address = found[0]
    return family, kind, protocol, address


def refuse_if_occupied(ready: Ready) -> None:
    """Check that the condition is not already true because of another server."""
    if ready.kind == "tcp":
        deadline = time.monotonic() + RELEASE_TIME
        while _occupied(ready):
            if time.monotonic() > deadline:
                raise HaspError(
                    f"port {ready.port} of {ready.host} is in use before the server "
                    "is started",
                    "stop the process (`ss -ltnp` shows it), or use another "
                    "port in --server, --ready and the command",
                )
            time.sleep(POLL_INTERVAL)
    elif ready.kind == "file" and Path(ready.path).exists():
        raise HaspError(
            f"{ready.path} exists before the server is started",
            f"remove it; --prepare 'rm -f {ready.path}' does so before each run",
        )


def wait_until_ready(server: Child, ready: Ready, timeout: float) -> str:
    """Wait until the server is ready; return "" or the reason why it is not."""
    deadline = time.monotonic() + timeout
    if ready.kind == "delay":
        deadline = time.monotonic() + ready.seconds
    while True:
        usage = server.wait(POLL_INTERVAL)
        if usage is not None:
            how = ended(usage.exit_code)
            hint = "; start it in the foreground" if usage.exit_code == 0 else ""
            return f"the server ended before it was ready ({how}{hint})"
        if ready.kind == "tcp" and _answers(ready):
            return ""
        if ready.kind == "file" and Path(ready.path).exists():
            return ""
        if time.monotonic() >= deadline:
            if ready.kind == "delay":
                return ""
            return f"the server was not ready within {timeout:g} s"


def ended(exit_code: int) -> str:
    """Describe how a program ended."""
    if exit_code >= 0:
        return f"exit status {exit_code}"
    try:
        return f"killed by {signal.Signals(-exit_code).name}"
    except ValueError:
        return f"killed by signal {-exit_code}"
