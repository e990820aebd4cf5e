# SPDX-License-Identifier: MIT
"""Record the programs of a study's campaign with few threads each."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hasp.base.document import Document
from hasp.base.errors import HaspError
from hasp.launch.ready import parse_ready
from hasp.launch.server import ended, refuse_if_occupied
from hasp.locks import native

TIME_LIMIT = 120.0  # seconds for a recording
READY_LIMIT = 30.0  # seconds until a server accepts connections
POLL = 0.05


@dataclass(frozen=True)
class Program:
    """A program of the campaign; commands contain `{threads}`."""

    name: str
    command: str
    server: str | None
    ready: str | None


def program_of(table: Mapping[str, Any]) -> Program:
    """Return the program that a table of a campaign describes."""
    return Program(
        table["name"], table["command"], table.get("server"), table.get("ready")
    )


def programs_of(plan: Path) -> tuple[list[Program], str]:
    """Return the programs of a campaign, and the command that prepares them.

    Raises HaspError if the file is not a campaign.
    """
    document = Document.read(plan)
    tables: Any = document.get(("program",))
    if not isinstance(tables, list):
        raise HaspError(f"{plan} names no programs", "give the file of a campaign")
    programs = [program_of(one) for one in tables]
    prepare: Any = document.get(("defaults", "prepare"))
    return programs, prepare or ""


def record(program: Program, trace: Path, threads: int = 1) -> None:
    """Record the program, or its server, with few threads. Raises HaspError.

    A program that uses hardly any lock leaves no trace.
    """
    recorded, environment = split(program.server or program.command, threads)
    if shutil.which(recorded[0]) is None:
        raise HaspError(
            f"{program.name}: there is no program {recorded[0]}",
            "install its package; the campaign names the packages",
        )
    words = [sys.executable, "-m", "hasp", "profile", "-o", str(trace), "--", *recorded]
    settings: dict[str, Any] = {
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
        "env": {**os.environ, **environment},
    }
    if program.server is None:
        status = subprocess.run(words, timeout=TIME_LIMIT, **settings).returncode
        # hasp profile refuses to write a trace if nothing was recorded.
        if status and trace.exists():
            raise HaspError(
                f"{program.name}: {ended(status)}", f"the command was {words}"
            )
        return
    ready = parse_ready(program.ready or "delay:1")
    refuse_if_occupied(ready)
    with subprocess.Popen(words, **settings) as server:
        try:
            _wait_for(ready.host, ready.port, server)
            client, own = split(program.command, threads)
            settings["env"] = {**os.environ, **own}
            subprocess.run(client, timeout=TIME_LIMIT, check=True, **settings)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(timeout=TIME_LIMIT)


def split(command: str, threads: int = 1) -> tuple[Sequence[str], dict[str, str]]:
    """Return the words, and the environment that `env` would set.

    Programs of Hasp's build are found there.
    """
    words = shlex.split(command.replace("{threads}", str(threads)))
    if words[0].startswith("hasp-"):
        words[0] = str(native.program(words[0]))
    environment = {}
    if words[:1] == ["env"]:
        words = words[1:]
        while "=" in words[0]:
            name, _, value = words.pop(0).partition("=")
            environment[name] = value
    return words, environment


def _wait_for(host: str, port: int, server: subprocess.Popen[Any]) -> None:
    deadline = time.monotonic() + READY_LIMIT
    while True:
        try:
            with socket.create_connection((host, port), timeout=1.0):
                return
        except OSError:
            if server.poll() is not None or time.monotonic() > deadline:
                raise HaspError(
                    f"the server at port {port} did not become ready",
                    "run its command by itself",
                ) from None
            time.sleep(POLL)
