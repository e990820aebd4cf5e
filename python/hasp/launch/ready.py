# SPDX-License-Identifier: MIT
"""The --ready option: the condition that shows that a server is ready."""

from __future__ import annotations

from dataclasses import dataclass

from hasp.base.durations import parse_duration
from hasp.base.errors import HaspError


@dataclass(frozen=True)
class Ready:
    """A condition: an open port, a file that exists, or a delay."""

    kind: str  # tcp, file or delay
    host: str = ""
    port: int = 0
    path: str = ""
    seconds: float = 0.0


def parse_ready(text: str) -> Ready:
    """Parse --ready: tcp:PORT, tcp:HOST:PORT, file:PATH or a duration."""
    kind, _, rest = text.partition(":")
    if kind == "tcp":
        host, _, port = rest.rpartition(":")
        if port.isdecimal() and 0 < int(port) < 65536:
            return Ready("tcp", host=host.strip("[]") or "127.0.0.1", port=int(port))
    elif kind == "file" and rest:
        return Ready("file", path=rest)
    elif not rest:
        try:
            return Ready("delay", seconds=parse_duration(text))
        except ValueError:
            pass
    raise HaspError(
        f"--ready {text!r} is invalid",
        "write tcp:PORT, tcp:HOST:PORT, file:PATH or a time such as 2s",
    )
