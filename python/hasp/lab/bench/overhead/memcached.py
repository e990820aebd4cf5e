# SPDX-License-Identifier: MIT
"""Measures a memcached server: requests per second, and CPU time per request."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import psutil

SERVER_THREADS = 4
CLIENTS = 32
WARM_UP_SECONDS = 3.0
START_LIMIT = 10.0  # seconds until it listens
END_LIMIT = 20.0
LOAD_MARGIN = 30.0  # added to the expected duration of the load
RATE = re.compile(r"TPS: (\d+)")
OPERATIONS = re.compile(r"Ops: (\d+)")


class ServerFailed(Exception):
    """The server or its load failed; the message gives the reason."""


@dataclass(frozen=True)
class Load:
    """The result of one load."""

    requests_per_second: float
    cpu_us: float  # of the server, per request


def command(port: int) -> list[str]:
    """Return the command line of the server, which locks often and uses trylock."""
    user = ["-u", "root"] if os.geteuid() == 0 else []
    where = ["-l", "127.0.0.1", "-p", str(port), "-U", "0"]
    return ["memcached", *user, *where, "-t", str(SERVER_THREADS), "-m", "64"]


def measure(environment: Mapping[str, str], seconds: float) -> Load:
    """Start a server in this environment, load it for `seconds`, and end it.

    A warm-up load is not counted: it fills the cache and uses every lock for the first
    time, which does not matter to a server that runs for days.
    """
    port = _free_port()
    with _server(port, environment) as server:
        _load(port, WARM_UP_SECONDS)
        before = _cpu_seconds(server)
        rate, operations = _load(port, seconds)
        cpu = _cpu_seconds(server) - before
    return Load(rate, cpu * 1e6 / operations)


def _load(port: int, seconds: float) -> tuple[float, int]:
    """Return requests per second and the number of requests."""
    asked = ["-T", "1", "-c", str(CLIENTS), "-t", f"{max(1, round(seconds))}s"]
    try:
        load = subprocess.run(
            ["memcaslap", "-s", f"127.0.0.1:{port}", *asked],
            capture_output=True,
            text=True,
            timeout=seconds + LOAD_MARGIN,
        )
    except subprocess.TimeoutExpired:
        raise ServerFailed("memcaslap did not end") from None
    rate, operations = RATE.search(load.stdout), OPERATIONS.search(load.stdout)
    if load.returncode or not rate or not operations or not int(operations[1]):
        raise ServerFailed(f"memcaslap ended with {load.returncode} and no rate")
    return float(rate[1]), int(operations[1])


@contextlib.contextmanager
def _server(
    port: int, environment: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        command(port),
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        _wait_until_it_listens(process, port)
        yield process
        process.terminate()
        try:
            process.wait(END_LIMIT)
        except subprocess.TimeoutExpired:
            raise ServerFailed("memcached did not end") from None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _wait_until_it_listens(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + START_LIMIT
    while True:
        if process.poll() is not None:
            raise ServerFailed(f"memcached ended with {process.returncode}")
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        if time.monotonic() > deadline:
            raise ServerFailed(f"memcached did not listen within {START_LIMIT:g} s")
        time.sleep(0.02)


def _cpu_seconds(process: subprocess.Popen[bytes]) -> float:
    try:
        times = psutil.Process(process.pid).cpu_times()
    except psutil.Error as problem:
        raise ServerFailed(f"memcached is gone ({problem})") from None
    return float(times.user + times.system)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
