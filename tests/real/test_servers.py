# SPDX-License-Identifier: MIT
"""Servers start, answer requests and end under every lock."""

from __future__ import annotations

import http.server
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from real.programs import Launcher, Lock, fetch, listens, need, quick_locks

PAGE = b"a page behind a cache\n" * 20


def figure(pattern: str, text: str) -> float:
    """Return the single number that `pattern` captures in a load generator's report."""
    match = re.search(pattern, text)
    assert match is not None, f"no {pattern!r} in:\n{text[-3000:]}"
    return float(match.group(1))


@quick_locks()
def test_memcached(launch: Launcher, lock: Lock, port: int) -> None:
    """memcached uses thousands of locks, some by trylock; the load checks its data."""
    memcached = need("memcached", "memcached")
    memcaslap = need("memcaslap", "libmemcached-tools")
    threads = lock.threads(4)
    options = ["-u", "root", "-l", "127.0.0.1", "-p", port, "-t", threads, "-m", 64]
    server = launch.serve(memcached, *options, ready=listens(port))
    load = launch.run(
        memcaslap,
        *("-s", f"127.0.0.1:{port}", "-T", 1, "-c", 8, "-x", 10000, "-v", "0.5"),
        interposed=False,
    )
    assert figure(r"TPS: (\d+)", load.stdout) > 0
    for counter in ("get_misses", "verify_misses", "verify_failed"):
        assert figure(rf"{counter}: (\d+)", load.stdout) == 0
    assert "error" not in load.text.lower()
    server.stop()


class Backend(http.server.BaseHTTPRequestHandler):
    """The back end of varnish, which returns the same page for every path."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def backend() -> Iterator[int]:
    """Return the port of an HTTP server in this process."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Backend)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


@quick_locks("glibc", "mcs", "clh-park", "malthusian-park", "futex")
def test_varnish(launch: Launcher, port: int, backend: int) -> None:
    """varnish uses error-checking mutexes throughout, forks, and starts gcc."""
    varnishd = need("varnishd", "varnish")
    need("gcc", "gcc")
    configuration = launch.folder / "cache.vcl"
    configuration.write_text(
        f'vcl 4.1; backend page {{ .host = "127.0.0.1"; .port = "{backend}"; }}'
    )
    server = launch.serve(
        varnishd,
        *("-F", "-a", f"127.0.0.1:{port}", "-n", launch.folder / "varnish"),
        *("-f", configuration, "-s", "malloc,32M", "-j", "none", "-T", "none"),
        *("-p", "thread_pool_min=10", "-p", "thread_pools=2"),
        ready=listens(port),
        limit=40,
    )
    url = f"http://127.0.0.1:{port}/"
    with ThreadPoolExecutor(8) as pool:
        pages = list(pool.map(lambda n: fetch(f"{url}{n % 10}"), range(200)))
    assert pages == [PAGE] * 200
    if (wrk := shutil.which("wrk")) is not None:
        load = launch.run(
            wrk, "-t1", "-c16", "-d1s", "--timeout", "10s", url, interposed=False
        )
        assert figure(r"Requests/sec: +([\d.]+)", load.stdout) > 0
        assert "Non-2xx" not in load.stdout
        assert "Socket errors" not in load.stdout
    server.stop()


def mariadb_client(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs the command-line client, without Hasp, against the server of the test."""
    return subprocess.run(
        ["mariadb", f"--socket={folder / 'socket'}", "-u", "root", *words],
        capture_output=True,
        text=True,
        timeout=20,
    )


@quick_locks("glibc", "mcs-park", "futex")
@pytest.mark.timeout(180)
def test_mariadb(launch: Launcher, lock: Lock, port: int) -> None:
    """Installs a database under the lock, starts it, queries it from many threads."""
    mariadbd = need("mariadbd", "mariadb-server")
    install = need("mariadb-install-db", "mariadb-server")
    sysbench = need("sysbench", "sysbench")
    need("mariadb", "mariadb-client")
    folder = launch.folder
    data = folder / "data"
    small = ["--innodb-buffer-pool-size=32M", "--innodb-log-file-size=8M"]
    # Each server removes all temporary tables in tmpdir, even those of other servers.
    small += ["--user=root", f"--datadir={data}", f"--tmpdir={folder}"]
    launch.run(
        install,
        "--no-defaults",
        *small,
        "--auth-root-authentication-method=normal",
        "--skip-test-db",
        limit=100,
    )
    server = launch.serve(
        mariadbd,
        "--no-defaults",
        *small,
        *(f"--socket={folder / 'socket'}", f"--port={port}"),
        *("--bind-address=127.0.0.1", "--innodb-flush-log-at-trx-commit=0"),
        ready=lambda: mariadb_client(folder, "-e", "SELECT 1").returncode == 0,
        limit=60,
    )
    setup = "CREATE DATABASE sb; CREATE USER sb@'127.0.0.1' IDENTIFIED BY 'sb'; "
    created = mariadb_client(
        folder, "-e", setup + "GRANT ALL ON sb.* TO sb@'127.0.0.1'"
    )
    assert created.returncode == 0, created.stderr
    query = [sysbench, "oltp_point_select", "--mysql-host=127.0.0.1"]
    query += [f"--mysql-port={port}", "--mysql-user=sb", "--mysql-password=sb"]
    query += ["--mysql-db=sb", "--tables=1", "--table-size=1000"]
    launch.run(*query, "prepare", interposed=False)
    threads = lock.threads(16)
    load = launch.run(
        *query, f"--threads={threads}", "--time=2", "run", interposed=False, limit=60
    )
    assert figure(r"transactions: +(\d+)", load.stdout) > 0
    assert figure(r"ignored errors: +(\d+)", load.stdout) == 0
    rows = mariadb_client(folder, "-N", "-e", "SELECT COUNT(*) FROM sb.sbtest1")
    assert rows.stdout.strip() == "1000", rows.stderr
    server.stop(limit=60)


DIRECTORY = """\
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
threads {threads}
pidfile {folder}/slapd.pid
database mdb
suffix "dc=ex,dc=com"
directory {folder}/directory
maxsize 16777216
index objectClass,uid eq
"""
PERSON = """\
dn: uid=u{number},dc=ex,dc=com
objectClass: inetOrgPerson
uid: u{number}
cn: person {number}
sn: {number}

"""
PERSONS, CLIENTS = 200, 8


@pytest.mark.real_slow
def test_slapd(launch: Launcher, lock: Lock, port: int) -> None:
    """OpenLDAP has a thread pool with a mutex and condition variables."""
    slapd = need("slapd", "slapd")
    slapadd = need("slapadd", "slapd")
    ldapsearch = need("ldapsearch", "ldap-utils")
    folder = launch.folder
    (folder / "directory").mkdir()
    configuration = folder / "slapd.conf"
    configuration.write_text(DIRECTORY.format(threads=lock.threads(8), folder=folder))
    persons = "".join(PERSON.format(number=number) for number in range(PERSONS))
    root = "dn: dc=ex,dc=com\nobjectClass: dcObject\nobjectClass: organization\n"
    entries, names = folder / "entries.ldif", folder / "names"
    entries.write_text(f"{root}o: ex\ndc: ex\n\n{persons}")
    names.write_text("".join(f"u{number}\n" for number in range(PERSONS)))
    launch.run(slapadd, "-f", configuration, "-l", entries, interposed=False)
    url = f"ldap://127.0.0.1:{port}"
    server = launch.serve(
        *(slapd, "-d", 0, "-f", configuration, "-h", url), ready=listens(port)
    )
    search = '"$0" -LLL -x -H "$1" -b dc=ex,dc=com -f "$2" "(uid=%s)" cn >"$2.$i" &'
    clients = " ".join(map(str, range(CLIENTS)))
    launch.run(
        *("sh", "-c", f"for i in {clients}; do {search} done; wait"),
        *(ldapsearch, url, names),
        interposed=False,
        limit=80,
    )
    for client in range(CLIENTS):
        answers = Path(f"{names}.{client}").read_text()
        assert answers.count("\ncn: person ") == PERSONS
    server.stop()
