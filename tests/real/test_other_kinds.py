# SPDX-License-Identifier: MIT
"""Real users of reader-writer locks and barriers print the same under every one."""

from __future__ import annotations

import os
import re
import socket
import struct
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from lock_list import BUILD
from real.programs import Launcher, Lock, every, need

DRIVERS = BUILD / "tests" / "real"

# Of 4 threads with 2,000 hashes and 2 handshakes each, and of 100 steps.
OPENSSL = "checksum: 05142673913f91b5\nhandshakes: 8\n"
HEAT = "checksum: 67a521f7bb76bb14\nnamed: 200\n"


def built(name: str, package: str) -> Path:
    """Return the path of a driver that the build makes if the package is there."""
    path = DRIVERS / name
    if not path.exists():
        pytest.skip(f"{name} was not built: apt-get install {package}")
    return path


@every("rwlock")
def test_openssl(launch: Launcher, lock: Lock) -> None:
    """Threads fetch digests, hash, and perform TLS handshakes in memory."""
    program = built("openssl_threads", "libssl-dev")
    result = launch.run(program, 4, 2000, 2)
    assert result.stdout.startswith(OPENSSL), result.stdout


@every("rwlock")
@pytest.mark.parametrize("program", ["kccachetest", "kcstashtest", "kcprototest"])
def test_kyoto_in_memory(launch: Launcher, lock: Lock, program: str) -> None:
    """Threads read and change a database at random, and check its contents."""
    threads = lock.threads(4)
    path = need(program, "kyotocabinet-utils")
    result = launch.run(path, "wicked", "-th", threads, 5000)
    assert re.search(r"^ok$", result.stdout, re.MULTILINE), result.text[-2000:]


@every("rwlock")
@pytest.mark.parametrize("program", ["kctreetest", "kcforesttest"])
def test_kyoto_on_disk(launch: Launcher, lock: Lock, program: str) -> None:
    """The same for databases in files, with transactions."""
    threads = lock.threads(4)
    path = need(program, "kyotocabinet-utils")
    for order in ("wicked", "tran"):
        file = launch.folder / f"{order}-{program}"
        result = launch.run(path, order, "-th", threads, file, 1000)
        assert re.search(r"^ok$", result.stdout, re.MULTILINE), result.text[-2000:]


HOSTS, RESOLVER_THREADS, CLIENTS = 200, 4, 4
RESOLVER = """\
server:
  num-threads: {threads}
  interface: 127.0.0.1@{port}
  do-daemonize: no
  use-syslog: no
  username: ""
  chroot: ""
  directory: "{folder}"
  pidfile: ""
  so-reuseport: no
  local-zone: "example." static
{records}
remote-control:
  control-enable: no
"""


def address_of(port: int, name: str) -> str | None:
    """Return the IPv4 address that a resolver has for a name; None if it is silent."""
    question = b"".join(
        bytes([len(part)]) + part.encode() for part in name.split(".")
    ) + struct.pack("!BHH", 0, 1, 1)
    query = struct.pack("!6H", 0x4853, 0x0100, 1, 0, 0, 0) + question
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(2)
        client.connect(("127.0.0.1", port))
        for _ in range(5):
            try:
                client.send(query)
                answer = client.recv(512)
            except (TimeoutError, ConnectionRefusedError):
                continue
            return socket.inet_ntoa(answer[-4:]) if answer[7] else "no answer"
    return None


@every("rwlock")
def test_unbound(launch: Launcher, lock: Lock, port: int) -> None:
    """A resolver keeps zones and caches under reader-writer locks."""
    hosts = {f"host{n}.example": f"10.1.{n // 100}.{n % 100}" for n in range(HOSTS)}
    records = "\n".join(
        f'  local-data: "{name}. A {address}"' for name, address in hosts.items()
    )
    configuration = launch.folder / "unbound.conf"
    configuration.write_text(
        RESOLVER.format(
            threads=lock.threads(RESOLVER_THREADS),
            port=port,
            folder=launch.folder,
            records=records,
        )
    )
    server = launch.serve(
        *(need("unbound", "unbound"), "-d", "-c", configuration),
        ready=lambda: address_of(port, "host0.example") is not None,
    )
    names = list(hosts) * 3
    with ThreadPoolExecutor(CLIENTS) as pool:
        found = list(pool.map(lambda name: address_of(port, name), names))
    assert found == [hosts[name] for name in names]
    assert address_of(port, "nobody.example") == "no answer"
    server.stop()


@every("barrier")
@pytest.mark.parametrize("threads", [2, 3, 8])
def test_fork_join(launch: Launcher, lock: Lock, threads: int) -> None:
    """Threads solve a grid in steps, and meet at a barrier after each half step."""
    cpus = len(os.sched_getaffinity(0))
    count = threads if lock.parks or lock.is_native else min(threads, cpus)
    result = launch.run(built("heat", "gcc"), count, 100)
    assert result.stdout == HEAT
